"""What a PIN may be, and how many wrong tries there are before nobody is asked for a while."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from pro0.errors import BadInput, Refused
from pro0.model.caller import Pin

TRIES = 5
LOCKED = timedelta(minutes=15)
SHORTEST, LONGEST = 6, 128
"""Characters: whoever can read the file can try all of what is shorter."""


def checked(said: str) -> str:
    """Return a new PIN; raises BadInput for one that is too short, or that cannot be typed again."""
    if not SHORTEST <= len(said) <= LONGEST or not said.isprintable():
        raise BadInput(f"a PIN has {SHORTEST} to {LONGEST} characters, and no control characters")
    return said


def require_open(pin: Pin, now: datetime) -> None:
    """Raise Refused while no PIN is taken; a clock that was set back far locks nobody out for longer."""
    if pin.locked_until and now < pin.locked_until <= now + LOCKED:
        minutes = -(-(pin.locked_until - now) // timedelta(minutes=1))
        said = f"{TRIES} PINs were wrong: none is taken for {minutes} minutes"
        raise Refused(said, code="pin_locked", hint="if it was not you: look at what runs under your name")


def tried(pin: Pin, now: datetime) -> Pin:
    """Return what is kept before a try is looked at, so that no killed process had a free one; Refused when locked."""
    require_open(pin, now)
    wrong = 1 if pin.locked_until else pin.wrong + 1
    return replace(pin, wrong=wrong, locked_until=now + LOCKED if wrong >= TRIES else None)


def right(pin: Pin) -> Pin:
    """Return what is kept after the right PIN."""
    return replace(pin, wrong=0, locked_until=None)
