"""Wake up when a folder changes: a thread hears of it from the system and makes a descriptor readable."""

import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

if sys.platform == "linux":
    from pro0.inotify import Inotify as _Changes
else:  # macOS
    import watchfiles

    _watch = partial(watchfiles.watch, watch_filter=None, debounce=50, step=25, rust_timeout=1000)
    # Milliseconds: `debounce` gathers changes, `step` looks for more, `rust_timeout` checks for the stop.

    class _Changes:
        def __init__(self, folders: Iterable[str]) -> None:
            self._folders = [*folders]
            self._stop = threading.Event()
            for folder in self._folders:
                os.stat(folder)

        def stop(self) -> None:
            self._stop.set()

        def close(self) -> None:
            pass

        def __iter__(self) -> Iterator[list[str] | None]:
            with suppress(FileNotFoundError):
                for changes in _watch(*self._folders, stop_event=self._stop):
                    # os.path: called for every change, a Path costs ten times as much
                    yield [os.path.basename(path) for _, path in changes]  # noqa: PTH119


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

    def tell(self, names: Iterable[str] | None) -> None:
        """Make the descriptor readable when one of the names fits; None stands for all names."""
        if names is None or any(map(self._names.fullmatch, names)):
            with suppress(BlockingIOError):
                os.write(self._writable, b"x")

    def close(self) -> None:
        """Stop reporting, and end the thread when no other watch needs it."""
        self._watching.leave(self)
        os.close(self._readable)
        os.close(self._writable)


class _Watching:
    """One thread for all watches of the same folders; no thread when a folder is missing or the system has no room.

    Without the thread, the owner of a watch finds changes only by looking at the folders itself.
    """

    def __init__(self, key: object, folders: Iterable[Path]) -> None:
        self._key = key
        self.watches: list[Watch] = []
        self.thread = threading.Thread(target=self._run, daemon=True)
        self._changes: _Changes | None = None
        with suppress(OSError):  # a folder is missing, or no watch is left
            self._changes = _Changes(map(str, folders))
        if self._changes:
            try:
                self.thread.start()
            except RuntimeError:  # no thread is left
                self._changes.close()
                self._changes = None

    def leave(self, watch: Watch) -> None:
        """Stop reporting to this watch; the last watch to leave ends the thread."""
        with _lock:
            self.watches.remove(watch)
            if self.watches:
                return
            del _running[self._key]
        if self._changes:
            self._changes.stop()
            self.thread.join()
            self._changes.close()

    def _run(self) -> None:
        for names in self._changes or ():
            with _lock:
                for watch in self.watches:
                    watch.tell(names)


def _joined(watch: Watch, folders: tuple[Path, ...]) -> _Watching:
    """Return the thread of this process for exactly these folders, with one more watch."""
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
