"""Wake up when a folder changes: watchfiles runs in a thread and makes a descriptor readable."""

import os
import re
import threading
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

from watchfiles import Change, DefaultFilter, watch

_watch = partial(watch, debounce=50, step=25, rust_timeout=1000)
"""Milliseconds: `debounce` gathers changes, `step` looks for more, `rust_timeout` checks for the stop."""


class _Named(DefaultFilter):
    def __init__(self, names: str) -> None:
        super().__init__()
        self._names = re.compile(names)

    def __call__(self, _change: Change, path: str) -> bool:
        name = os.path.basename(path)  # noqa: PTH119 - called for every change, a Path costs ten times as much
        return self._names.fullmatch(name) is not None


class Watch:
    """Report changes below some folders, of files with names matching a pattern; `close` ends its thread."""

    def __init__(self, folders: Iterable[Path], names: str) -> None:
        self._names = names
        self._readable, self._writable = os.pipe()
        for descriptor in (self._readable, self._writable):
            os.set_blocking(descriptor, False)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=([*folders],), daemon=True)
        self._thread.start()

    def fileno(self) -> int:
        """Return the descriptor made readable by a change."""
        return self._readable

    def ringing(self) -> int:
        """Return the descriptor to write to; a signal can wake the reader through it (`signal.set_wakeup_fd`)."""
        return self._writable

    def drain(self) -> bool:
        """Forget the changes so far; return True when there were any."""
        with suppress(BlockingIOError):
            return bool(os.read(self._readable, 65536))
        return False

    def close(self) -> None:
        """End the thread and close the descriptors."""
        self._stop.set()
        self._thread.join()
        os.close(self._readable)
        os.close(self._writable)

    def _run(self, folders: list[Path]) -> None:
        changes = _watch(*folders, watch_filter=_Named(self._names), stop_event=self._stop)
        with suppress(FileNotFoundError):
            for _ in changes:
                with suppress(BlockingIOError):
                    os.write(self._writable, b"x")
