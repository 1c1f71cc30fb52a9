"""The devices of a home: pair one by a code, recognise one, list them, revoke one."""

import hmac
import secrets
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from pro0.errors import ErrorCode, Refused
from pro0.model.home import Device, Devices, PairingCode, Rights
from pro0.rules.person import devices as rules
from pro0.rules.text import digest, visible
from pro0.store.files import File, make_folder
from pro0.store.paths import DEVICES, web

NAME_LIMIT = 60
_KNOWN = partial(File, name=DEVICES, kind=Devices, absent=Devices)


class Credentials(NamedTuple):
    """The secrets that prove a device's identity; only the device stores them."""

    cookie: str
    secret: str


def known(home: Path) -> Devices:
    """Return the stored devices and codes of a home; raises StoreError."""
    return _file(home).find() or Devices()


def changed_at(home: Path) -> tuple[int, int] | None:
    """Return a value that differs after each change of the devices, None while there are none."""
    try:
        status = _file(home).path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def new_code(home: Path, rights: Rights) -> str:
    """Return a new code that admits one device with these rights. The surface checks the caller."""
    code = secrets.token_hex(16)
    now = datetime.now(UTC)
    with _made(home).change("make a pairing code") as change:
        new = PairingCode(hash=_hash(code), rights=rights, until=now + rules.LIFETIME)
        change.value = rules.with_code(change.value, new, now)
    return code


def pair(home: Path, code: str, name: str) -> tuple[Device, Credentials]:
    """Admit a device by a code; raises Refused for a wrong code, and for every code after too many wrong ones."""
    now = datetime.now(UTC)
    with _made(home).change("try a pairing code") as change:
        change.value = before = rules.tried(change.value, now)
    code_hash = _hash(code)
    right = [known_code for known_code in before.codes if hmac.compare_digest(known_code.hash, code_hash)]
    if not right:
        tries_left = rules.TRIES - before.wrong
        hint = (
            f"tries left: {tries_left}; for a new code: pro0 web pair"
            if tries_left
            else "pairing is locked for a while"
        )
        raise Refused("the code is wrong, expired or already used", code=ErrorCode.WRONG_CODE, hint=hint)
    credentials = Credentials(secrets.token_urlsafe(32), secrets.token_hex(32))
    device = Device(
        id=secrets.token_hex(4),
        name=visible(name.strip())[:NAME_LIMIT] or "a browser",
        rights=right[0].rights,
        cookie=_hash(credentials.cookie),
        secret=_hash(credentials.secret),
        paired_at=now,
    )
    with _made(home).change("pair a device") as change:
        change.value = rules.paired(change.value, right[0], device, now)
    return device, credentials


def recognised(home: Path, cookie: str, secret: str) -> Device | None:
    """Return the device of this cookie and secret, or None; the time of the comparison reveals nothing about them."""
    cookie_hash, secret_hash = _hash(cookie), _hash(secret)
    owner = None
    for device in known(home).devices:
        same_cookie = hmac.compare_digest(device.cookie, cookie_hash)
        if same_cookie & hmac.compare_digest(device.secret, secret_hash):
            owner = device
    return owner


def revoke(home: Path, name: str) -> Device:
    """Forget a device; raises NotFound."""
    device = rules.find(known(home), name)
    with _made(home).change("revoke a device") as change:
        change.value = rules.without(change.value, device)
    return device


def keep_port(home: Path, port: int) -> None:
    """Remember the port of the page, so that paired pages find it again."""
    with _made(home).change("remember the port of the page") as change:
        if change.value.port != port:
            change.value = replace(change.value, port=port)


def _hash(text: str) -> str:
    return digest(text.encode(errors="surrogateescape"))


def _file(home: Path) -> File[Devices]:
    return _KNOWN(web(home))


def _made(home: Path) -> File[Devices]:
    make_folder(web(home))
    return _file(home)
