"""Open WebSockets of devices: one that is revoked is cut off, whatever stands in the way of a look."""

import asyncio
import threading
from pathlib import Path
from typing import NoReturn

import pytest

from pro0.errors import StoreError
from pro0.model.home import Device, Rights
from pro0.ops import devices
from pro0.web import admitted
from pro0.web.admitted import Admitted
from tests.waiting import STUCK


@pytest.mark.parametrize("fault", [StoreError("too many open files"), RuntimeError("can't start new thread")])
def test_a_revoked_device_is_cut_off_though_a_look_failed(
    home: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    """The look that failed is the one that would have told."""
    monkeypatch.setattr(admitted, "LOOK", 0.01)
    revoked, stays = paired(home), paired(home)
    real, failed = devices.known, threading.Event()

    def fail(_home: Path) -> NoReturn:
        monkeypatch.setattr(admitted, "known", real)
        failed.set()
        raise fault

    async def main() -> None:
        open_ones = Admitted(home)

        async def hold(device: Device) -> None:
            with open_ones.holding(device):
                await asyncio.sleep(STUCK)

        cut, kept = (asyncio.create_task(hold(device)) for device in (revoked, stays))
        await asyncio.sleep(10 * admitted.LOOK)
        monkeypatch.setattr(admitted, "known", fail)
        devices.revoke(home, revoked.id)
        done, _ = await asyncio.wait([cut, kept], timeout=STUCK / 2, return_when=asyncio.FIRST_COMPLETED)
        assert failed.is_set()
        assert done == {cut}
        assert cut.cancelled()
        kept.cancel()

    asyncio.run(main())


def test_a_device_that_is_revoked_before_it_is_held_is_cut_off(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """5.10: its proof was good, and a look at the devices fell between the two."""
    monkeypatch.setattr(admitted, "LOOK", 0.01)
    stays, revoked = paired(home), paired(home)

    async def main() -> None:
        open_ones = Admitted(home)

        async def hold(device: Device) -> None:
            with open_ones.holding(device):
                await asyncio.sleep(STUCK)

        kept = asyncio.create_task(hold(stays))
        await asyncio.sleep(10 * admitted.LOOK)
        devices.revoke(home, revoked.id)
        await asyncio.sleep(10 * admitted.LOOK)
        late = asyncio.create_task(hold(revoked))
        await asyncio.wait([late], timeout=STUCK / 2)
        assert (late.cancelled(), kept.done()) == (True, False)
        kept.cancel()

    asyncio.run(main())


def paired(home: Path) -> Device:
    device, _ = devices.pair(home, devices.new_code(home, Rights.ALL), "a browser")
    return device
