"""The open WebSockets with their devices; a revoked device is cut off within two seconds."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio.to_thread

from pro0.model.home import Device
from pro0.ops.devices import changed_at, known

CONNECTIONS = 64
"""The largest number of WebSockets open at once."""
LOOK = 2.0
"""Seconds between two looks at the devices, while anything is open."""


class Admitted:
    """The open WebSockets of one page."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._open: dict[asyncio.Task[object], str] = {}
        self._watch: asyncio.Task[None] | None = None
        self._has_newcomer = False
        """True after a new WebSocket since the last look: its device may be revoked since its proof was checked."""

    @property
    def full(self) -> bool:
        """Return True when no more are let in."""
        return len(self._open) >= CONNECTIONS

    @contextmanager
    def holding(self, device: Device) -> Iterator[None]:
        """Count the present task as a WebSocket of the device; it is cancelled when the device is revoked."""
        task = asyncio.current_task()
        assert task
        self._open[task] = device.id
        self._has_newcomer = True
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._look())
        try:
            yield
        finally:
            del self._open[task]

    async def _look(self) -> None:
        """Cut revoked devices off; read the devices only after a change of their file or a new WebSocket."""
        seen = None
        while self._open:
            await asyncio.sleep(LOOK)
            if seen == (now := changed_at(self._home)) and not self._has_newcomer:
                continue
            with suppress(Exception):  # an unreadable file revokes nobody; the next look tries again
                devices = await anyio.to_thread.run_sync(known, self._home)
                paired = {device.id for device in devices.devices}
                for task in [task for task, device in self._open.items() if device not in paired]:
                    task.cancel()
                seen, self._has_newcomer = now, False
