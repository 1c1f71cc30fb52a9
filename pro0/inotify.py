"""Watch folders for changes with Linux's inotify: while nothing changes, nothing runs."""

import ctypes
import errno
import os
import select
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress

MODIFIED, MOVED_FROM, MOVED_TO, CREATED, DELETED = 0x02, 0x40, 0x80, 0x100, 0x200
OVERFLOW, WATCH_GONE, ONLY_FOLDERS, IS_FOLDER = 0x4000, 0x8000, 0x01000000, 0x40000000
PAUSE = 0.05
"""Seconds from a change to its report: so a burst costs one wake-up, and a file written in two steps is complete."""
_CHANGE = MODIFIED | MOVED_FROM | MOVED_TO | CREATED | DELETED
_HEAD = struct.Struct("iIII")
_ROOM = 65536


class Inotify:
    """An iterator over changes in some folders and all folders below, new ones included, until it is stopped."""

    def __init__(self, folders: Iterable[str]) -> None:
        """Raises OSError when a folder is missing, or when the system has no watch left."""
        self._system = ctypes.CDLL(None, use_errno=True)
        self._descriptor = _checked(self._system.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        try:
            self._stop, self._stopping = os.pipe()
        except OSError:
            os.close(self._descriptor)
            raise
        self._folders: dict[int, str] = {}
        try:
            for folder in folders:
                self._add(folder)
                self._enter(folder)
        except OSError:
            self.close()
            raise

    def stop(self) -> None:
        """End the iteration; any thread may call it."""
        os.write(self._stopping, b"x")

    def close(self) -> None:
        """Close all descriptors; call this after the iteration."""
        for descriptor in (self._descriptor, self._stop, self._stopping):
            os.close(descriptor)

    def __iter__(self) -> Iterator[list[str] | None]:
        """Yield the names of changed entries, without their folders; None when some changes were lost."""
        looking, stopping = select.poll(), select.poll()
        looking.register(self._descriptor, select.POLLIN)
        for poll in (looking, stopping):
            poll.register(self._stop, select.POLLIN)
        while True:
            if self._stop in dict(looking.poll()) or stopping.poll(PAUSE * 1000):
                return
            yield self._read()

    def _read(self) -> list[str] | None:
        try:
            records = os.read(self._descriptor, _ROOM)
        except BlockingIOError:
            return []
        names: list[str] | None = []
        place = 0
        while place < len(records):
            watch, flags, _, length = _HEAD.unpack_from(records, place)
            start, place = place + _HEAD.size, place + _HEAD.size + length
            name = os.fsdecode(records[start:place].rstrip(b"\0"))
            if flags & OVERFLOW:
                names = None
            elif names is not None:
                names.append(name)
            if flags & WATCH_GONE:
                self._folders.pop(watch, None)
            if flags & IS_FOLDER and flags & (CREATED | MOVED_TO) and watch in self._folders:
                names = self._found(os.path.join(self._folders[watch], name), names)  # noqa: PTH118
        return names

    def _found(self, folder: str, names: list[str] | None) -> list[str] | None:
        """Watch a new folder, and add the names of its present content; None when changes may be lost."""
        try:
            self._add(folder)
            inside = self._enter(folder)
        except FileNotFoundError:
            return names
        except OSError:
            return None
        return None if names is None else [*names, *inside]

    def _enter(self, folder: str) -> list[str]:
        """Watch all folders below this one; return the names of everything in them."""
        inside = []
        with os.scandir(folder) as entries:
            for entry in entries:
                inside.append(entry.name)
                if entry.is_dir(follow_symlinks=False):
                    with suppress(FileNotFoundError):  # removed meanwhile
                        self._add(entry.path)
                        inside += self._enter(entry.path)
        return inside

    def _add(self, folder: str) -> None:
        watch = self._system.inotify_add_watch(self._descriptor, os.fsencode(folder), _CHANGE | ONLY_FOLDERS)
        self._folders[_checked(watch)] = folder


def _checked(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"inotify: {errno.errorcode.get(number, number)}")
    return answer
