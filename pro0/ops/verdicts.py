"""A person's verdict: it needs a terminal, and the PIN where one is set (behaviour 5.3, 5.4).

A caller without a session may be a program started outside by an agent: by `tmux run-shell`, a hook, cron. Such a
program has no terminal. The PIN keeps out programs making their own terminal; it is read only from a terminal.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from pro0 import looking
from pro0.errors import ErrorCode, Refused
from pro0.model.caller import Pin
from pro0.ops import trust
from pro0.rules.person import pin as rules
from pro0.rules.words import acts
from pro0.store.files import File, make_folder
from pro0.store.paths import PIN
from pro0.terminals.asking import has_terminal, hidden

Ask = Callable[[str], str]
SCRIPTS = '"verdicts: scripts" in your config.yaml lets every program of yours do it'
_file = partial(File, name=PIN, kind=Pin, absent=Pin)


def on_terminal(home: Path, project: Callable[[], Path], act: str, *, ask: Ask = hidden) -> None:
    """Raise Refused unless the person confirms on a terminal, with the PIN if set, or allows scripts."""
    if (file := _pin_file(home)) and (pin := file.read()).hash:
        rules.require_open(pin, datetime.now(UTC))
        _try(file, _answer(ask, f"PIN for your verdicts, to {acts.act(act)}: "))
    elif not has_terminal() and trust.settings(home, project(), {}).verdicts != "scripts":
        hint = f"do it in a terminal; {SCRIPTS}"
        raise Refused(
            f"only a person may {acts.act(act)}, and this program has no terminal",
            code=ErrorCode.NO_TERMINAL,
            hint=hint,
        )


def by_program(home: Path, project: Callable[[], Path], act: str) -> None:
    """Raise Refused unless the person lets scripts give verdicts, without a PIN; for surfaces of programs."""
    if has_pin(home) or trust.settings(home, project(), {}).verdicts != "scripts":
        hint = f"do it in a terminal; {SCRIPTS}"
        raise Refused(
            f"only a person may {acts.act(act)}, and this is a program", code=ErrorCode.NO_TERMINAL, hint=hint
        )


def by_device(home: Path, _project: Callable[[], Path], act: str, *, pin: str) -> None:
    """Raise Refused unless a paired device gives the PIN, where one is set; it was paired on the person's terminal."""
    if (file := _pin_file(home)) and (pin_record := file.read()).hash:
        rules.require_open(pin_record, datetime.now(UTC))
        if not pin:
            text = f"to {acts.act(act)}, your PIN is needed"
            raise Refused(text, code=ErrorCode.PIN_NEEDED, hint="give it on the page")
        _try(file, pin)


def has_pin(home: Path) -> bool:
    """Return True when verdicts ask for a PIN."""
    file = _pin_file(home)
    return file is not None and bool(file.read().hash)


def set_pin(home: Path, *, ask: Ask = hidden) -> bool:
    """Ask for the old PIN, if set, then twice for the new one; return True when there was an old one."""
    before = _proved(home, ask)
    new = rules.checked(_answer(ask, "new PIN: "))
    if _answer(ask, "new PIN again: ") != new:
        raise Refused("the two new PINs are not the same; nothing was changed", code=ErrorCode.PIN_DIFFERS)
    salt = secrets.token_bytes(16)
    make_folder(home)
    with _file(home).change("set the verdict PIN") as change:
        change.value = replace(rules.right(change.value), salt=salt.hex(), hash=_hashed(new, salt))
    return before


def remove_pin(home: Path, *, ask: Ask = hidden) -> bool:
    """Ask for the PIN and remove it; return True when there was one."""
    if not (before := _proved(home, ask)):
        return before
    with _file(home).change("remove the verdict PIN") as change:
        change.value = replace(rules.right(change.value), salt="", hash="")
    return before


def _proved(home: Path, ask: Ask) -> bool:
    if not has_terminal():
        raise Refused(
            "a PIN is read from a terminal, and there is none", code=ErrorCode.NO_TERMINAL, hint="use a terminal"
        )
    if not has_pin(home):
        return False
    rules.require_open(_file(home).read(), datetime.now(UTC))
    _try(_file(home), _answer(ask, "current PIN: "))
    return True


def _pin_file(home: Path) -> File[Pin] | None:
    return _file(home) if looking.is_folder(home) else None


def _answer(ask: Ask, question: str) -> str:
    try:
        return ask(question)
    except OSError:
        text = "a verdict PIN is set, and there is no terminal to read it from"
        raise Refused(text, code=ErrorCode.NO_TERMINAL, hint="do it in a terminal of yours") from None


def _try(file: File[Pin], answer: str) -> None:
    """Raise Refused for a wrong PIN; each try is recorded before it is checked."""
    with file.change("try the verdict PIN") as change:
        change.value = pin = rules.tried(change.value, datetime.now(UTC))
    if not hmac.compare_digest(_hashed(answer, bytes.fromhex(pin.salt)), pin.hash):
        tries_left = rules.TRIES - pin.wrong
        hint = f"tries left: {tries_left}" if tries_left else "PINs are refused for a while"
        raise Refused("the PIN is wrong", code=ErrorCode.WRONG_PIN, hint=hint)
    with file.change("the verdict PIN was right") as change:
        if change.value.hash == pin.hash:
            change.value = rules.right(change.value)


def _hashed(pin: str, salt: bytes) -> str:
    data = pin.encode(errors="surrogateescape")
    return hashlib.scrypt(data, salt=salt, n=2**15, r=8, p=1, maxmem=64 * 2**20, dklen=32).hex()
