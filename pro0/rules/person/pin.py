"""The form of a PIN, and the lock after TRIES wrong ones."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from pro0.errors import BadInput, ErrorCode, Refused
from pro0.model.caller import Pin

TRIES = 5
LOCKED = timedelta(minutes=15)
SHORTEST, LONGEST = 6, 128
"""Lengths of a PIN in characters. Any reader of the file could try all shorter PINs."""


def checked(pin: str) -> str:
    """Return a valid new PIN, or raise BadInput for a bad length or for unprintable characters."""
    if not SHORTEST <= len(pin) <= LONGEST or not pin.isprintable():
        raise BadInput(f"a PIN has {SHORTEST} to {LONGEST} characters, and no control characters")
    return pin


def require_open(pin: Pin, now: datetime) -> None:
    """Raise Refused during a lock. A clock set far back makes no lock longer."""
    if pin.locked_until and now < pin.locked_until <= now + LOCKED:
        minutes = -(-(pin.locked_until - now) // timedelta(minutes=1))
        text = f"{TRIES} PINs were wrong: none is accepted for {minutes} minutes"
        raise Refused(text, code=ErrorCode.PIN_LOCKED, hint="if it was not you: check what runs under your user name")


def tried(pin: Pin, now: datetime) -> Pin:
    """Count a try before its check, so that killing the process gives no free try; raise Refused during a lock."""
    require_open(pin, now)
    wrong = 1 if pin.locked_until else pin.wrong + 1
    return replace(pin, wrong=wrong, locked_until=now + LOCKED if wrong >= TRIES else None)


def right(pin: Pin) -> Pin:
    """Reset the wrong tries and the lock after the right PIN."""
    return replace(pin, wrong=0, locked_until=None)
