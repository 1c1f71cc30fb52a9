"""PIN and pairing as pure rules: tries are counted first, locks end, codes are used once."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from pro0.errors import BadInput, NotFound, Refused
from pro0.model.caller import Pin
from pro0.model.home import Device, Devices, PairingCode, Rights
from pro0.rules.person import devices, pin
from tests.rules.building import T0

HASH = "0" * 64
CODE = PairingCode(hash=HASH, rights=Rights.ANSWER, until=T0 + devices.LIFETIME)


def device(id: str, name: str = "phone") -> Device:
    return Device(id=id, name=name, rights=Rights.LOOK, cookie=HASH, secret=HASH, paired_at=T0)


@pytest.mark.parametrize("text", ["12345", "1" * 129, "12345\a"])
def test_a_bad_pin_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        pin.checked(text)
    assert pin.checked("123456") == "123456"


def test_five_wrong_pins_lock_for_a_while_and_a_clock_set_back_locks_no_longer() -> None:
    tries = Pin()
    for _ in range(pin.TRIES):
        tries = pin.tried(tries, T0)
    with pytest.raises(Refused, match="none is accepted for 15 minutes"):
        pin.tried(tries, T0)
    assert pin.tried(tries, T0 + pin.LOCKED).wrong == 1
    pin.require_open(tries, T0 - timedelta(days=1))
    assert pin.right(tries) == Pin()


def test_five_wrong_codes_lock_for_a_while() -> None:
    tries = Devices()
    for _ in range(devices.TRIES):
        tries = devices.tried(tries, T0)
    with pytest.raises(Refused, match="no device can be paired for"):
        devices.tried(tries, T0)
    assert devices.tried(tries, T0 + devices.LOCKED).wrong == 1


def test_a_code_admits_one_device_once_until_it_is_too_old() -> None:
    offered = devices.with_code(Devices(), CODE, T0)
    both = devices.paired(replace(offered, wrong=3), CODE, device("a"), T0)
    assert (both.devices, both.codes, both.wrong) == ((device("a"),), (), 0)
    for state, now in ((both, T0), (offered, CODE.until)):
        with pytest.raises(Refused, match="used up, or too old"):
            devices.paired(state, CODE, device("b"), now)
    full = replace(offered, devices=tuple(device(f"d{number}") for number in range(devices.DEVICES)))
    with pytest.raises(Refused, match="devices are paired"):
        devices.paired(full, CODE, device("b"), T0)


def test_a_device_is_found_by_its_id_or_by_a_name_of_its_own() -> None:
    some = Devices(devices=(device("a"), device("b"), device("c", "tablet")))
    assert devices.find(some, "a") == device("a")
    assert devices.find(some, "tablet") == device("c", "tablet")
    with pytest.raises(NotFound):
        devices.find(some, "nobody")
    with pytest.raises(Refused, match="2 devices are called 'phone'"):
        devices.find(some, "phone")
    assert devices.without(some, device("a")).devices == some.devices[1:]


def test_rights_hold_all_that_is_less() -> None:
    held = {right: [needed for needed in Rights if devices.covers(right, needed)] for right in Rights}
    assert held == {right: list(Rights)[: number + 1] for number, right in enumerate(Rights)}
