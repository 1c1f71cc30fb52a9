"""Wake up when a folder changes: watchfiles runs in a thread and makes a descriptor readable."""

import os
import re
import threading
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

import watchfiles

_watch = partial(watchfiles.watch, watch_filter=None, debounce=50, step=25, rust_timeout=1000)
"""Milliseconds: `debounce` gathers changes, `step` looks for more, `rust_timeout` checks for the stop."""


_lock = threading.Lock()
_running: "dict[object, _Watching]" = {}
"""The threads of this process, by what they watch."""


class Watch:
    """Report changes below some folders, of files with names matching a pattern, until `close`."""

    def __init__(self, folders: Iterable[Path], names: str) -> None:
        self._names = re.compile(names)
        self._readable, self._writable = os.pipe()
        for descriptor in (self._readable, self._writable):
            os.set_blocking(descriptor, False)
        self._watching = _joined(self, tuple(folders))

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

    def tell(self, paths: Iterable[str]) -> None:
        """Make the descriptor readable when one of the names fits."""
        # os.path: called for every change, a Path costs ten times as much
        if any(self._names.fullmatch(os.path.basename(path)) for path in paths):  # noqa: PTH119
            with suppress(BlockingIOError):
                os.write(self._writable, b"x")

    def close(self) -> None:
        """End the report, and the thread when nobody else needs it."""
        self._watching.leave(self)
        os.close(self._readable)
        os.close(self._writable)


class _Watching:
    """One thread for all watches of the same folders: each thread looks for changes forty times a second."""

    def __init__(self, key: object, folders: Iterable[Path]) -> None:
        self._key = key
        self._stop = threading.Event()
        self.watches: list[Watch] = []
        self.thread = threading.Thread(target=self._run, args=([*folders],), daemon=True)
        self.thread.start()

    def leave(self, watch: Watch) -> None:
        """Tell this one no more; the last one ends the thread."""
        with _lock:
            self.watches.remove(watch)
            if self.watches:
                return
            self._end()
        self.thread.join()

    def _run(self, folders: list[Path]) -> None:
        with suppress(FileNotFoundError):
            for changes in _watch(*folders, stop_event=self._stop):
                with _lock:
                    for watch in self.watches:
                        watch.tell([path for _, path in changes])
        with _lock:
            self._end()

    def _end(self) -> None:
        self._stop.set()
        if _running.get(self._key) is self:
            del _running[self._key]


def _joined(watch: Watch, folders: tuple[Path, ...]) -> _Watching:
    """Return the thread for these very folders in this process, with one more watch."""
    key = (os.getpid(), *((folder, _inode(folder)) for folder in folders))
    with _lock:
        watching = _running.get(key) or _running.setdefault(key, _Watching(key, folders))
        watching.watches.append(watch)
        return watching


def _inode(folder: Path) -> int:
    try:
        return folder.stat().st_ino
    except OSError:
        return 0
