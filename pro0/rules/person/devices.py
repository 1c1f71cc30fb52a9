"""Pairing of devices: the lifetime of a code, the limit on wrong codes, and the rights that an act needs."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from pro0.errors import ErrorCode, NotFound, Refused
from pro0.model.home import Device, Devices, PairingCode, Rights

TRIES = 5
LOCKED = timedelta(minutes=15)
LIFETIME = timedelta(minutes=10)
"""How long a code admits a device."""
CODES = 16
"""The most open codes; a newer one replaces the oldest."""
DEVICES = 64
"""Paired devices, at most."""
ORDER = tuple(Rights)


def covers(held: Rights, needed: Rights) -> bool:
    """Return True when the rights `held` include the rights `needed`."""
    return ORDER.index(held) >= ORDER.index(needed)


def with_code(devices: Devices, code: PairingCode, now: datetime) -> Devices:
    """Add a code, and drop the expired ones."""
    return replace(devices, codes=(*_open(devices, now), code)[-CODES:])


def tried(devices: Devices, now: datetime) -> Devices:
    """Count a try before its code is checked; raises Refused during the lock after too many wrong codes."""
    until = devices.locked_until
    if until and now < until <= now + LOCKED:
        minutes = -(-(until - now) // timedelta(minutes=1))
        text = f"{TRIES} codes were wrong: no device can be paired for {minutes} minutes"
        raise Refused(text, code=ErrorCode.PAIRING_LOCKED, hint="if it was not you: check what runs on this machine")
    wrong = 1 if until else devices.wrong + 1
    return replace(devices, wrong=wrong, locked_until=now + LOCKED if wrong >= TRIES else None)


def paired(devices: Devices, code: PairingCode, device: Device, now: datetime) -> Devices:
    """Add the device of a code, and use the code up; raises Refused for an invalid code, or for too many devices."""
    if code not in _open(devices, now):
        raise Refused("this code is used up, or too old", code=ErrorCode.WRONG_CODE, hint="a new one: pro0 web pair")
    if len(devices.devices) >= DEVICES:
        raise Refused(f"{DEVICES} devices are paired", code=ErrorCode.TOO_MANY, hint="pro0 web revoke NAME")
    codes = tuple(other for other in _open(devices, now) if other != code)
    return replace(devices, devices=(*devices.devices, device), codes=codes, wrong=0, locked_until=None)


def find(devices: Devices, name: str) -> Device:
    """Return a device by its id, or by its unique name; raises NotFound, or Refused for several of that name."""
    named = [device for device in devices.devices if name in (device.id, device.name)]
    exact = [device for device in named if device.id == name] or named
    if not exact:
        raise NotFound(f"there is no device {name!r}", hint="pro0 web devices")
    if len(exact) > 1:
        ids = ", ".join(device.id for device in exact)
        raise Refused(
            f"{len(exact)} devices are called {name!r}", code=ErrorCode.CONFLICT, hint=f"name one by id: {ids}"
        )
    return exact[0]


def without(devices: Devices, device: Device) -> Devices:
    """Take a device away."""
    return replace(devices, devices=tuple(other for other in devices.devices if other.id != device.id))


def _open(devices: Devices, now: datetime) -> tuple[PairingCode, ...]:
    return tuple(code for code in devices.codes if now < code.until <= now + LIFETIME)
