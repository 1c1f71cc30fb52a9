"""Append-only logs of JSON lines, written by many processes without a lock; a full log goes on in a new file.

A writer past the limit renames the file while holding a lock on that very file. So each file is renamed once, to an
unused name. Other writers may still have it open. Their lines land in the renamed file, and none is lost.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import msgspec

from pro0.store import atomic
from pro0.store.paths import rotated, rotation

LIMIT = 16 * 1024 * 1024
"""Bytes of one log file; the writer past this limit begins a new file (behaviour 3.5)."""

_NO_LOG = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO})
"""Errors of opening a name that no log has: it is missing, a link or a socket."""
_PART = 1024 * 1024
"""Bytes of one read."""


def append(folder: int, name: str, line: object) -> None:
    """Append one line to a log in an open folder; raises OSError when the write fails."""
    descriptor = _open(folder, name)
    try:
        data = msgspec.json.encode(line, enc_hook=str) + b"\n"
        _write(descriptor, b"\n" + data if _is_cut(descriptor) else data)
        with suppress(OSError):  # the line is written; the next writer retries the rotation
            if os.fstat(descriptor).st_size >= LIMIT:
                _rotate(folder, name, descriptor)
    finally:
        atomic.close(descriptor)


def _is_cut(descriptor: int) -> bool:
    """Return True when the last line has no newline: its writer was killed, or another writer is about to end it."""
    size = os.fstat(descriptor).st_size
    return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"


def _write(descriptor: int, line: bytes) -> None:
    """Write one line; when only a part fits on the disk, end that part, so that the next line is whole."""
    written = os.write(descriptor, line)
    if written == len(line):
        return
    end = os.lseek(descriptor, 0, os.SEEK_CUR)  # the end of this write, even while others append
    fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) & ~os.O_APPEND)
    os.pwrite(descriptor, b"\n", end - 1)  # over the last byte written, since there is no room for another
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def check(folder: int, name: str) -> None:
    """Make a log unless it exists; raises OSError when it cannot be written."""
    atomic.close(_open(folder, name))


def _open(folder: int, name: str) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(name, flags, atomic.FILE_MODE, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        atomic.close(descriptor)
        raise OSError(errno.ENXIO, os.strerror(errno.ENXIO), name)
    return descriptor


def _rotate(folder: int, name: str, descriptor: int) -> None:
    if not atomic.lock(descriptor):
        return
    # Another writer may have renamed this file just before.
    if os.path.samestat(os.fstat(descriptor), os.stat(name, dir_fd=folder, follow_symlinks=False)):
        taken = max((rotation(name, file) for file in os.listdir(folder)), default=0)
        os.rename(name, rotated(name, taken + 1), src_dir_fd=folder, dst_dir_fd=folder)


def files_of(name: str, lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Yield a log's files by name, from its lines with the numbers of their files.

    Lines of number 0 belong to the present file, and are split into as many files as their size needs.
    """
    highest = 0
    for number, group in groupby(lines, itemgetter(0)):
        highest = max(highest, number)
        part, size = list[bytes](), 0
        for _, line in group:
            part.append(ended(line))
            size += len(part[-1])
            if not number and size >= LIMIT:
                highest += 1
                yield rotated(name, highest), b"".join(part)
                part, size = [], 0
        if part:
            yield rotated(name, number) if number else name, b"".join(part)


def ended(line: bytes) -> bytes:
    """Return a line with its newline: a killed writer leaves none, and the next line would be joined to it."""
    return line if line.endswith(b"\n") else line + b"\n"


class Journal:
    """One log with all its files; each read continues where the last read ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: dict[int, int] = {}
        self._rest: dict[int, bytes] = {}
        self._certain = False

    def last(self, number: int) -> list[bytes]:
        """Return the last lines, at most `number`, and skip all older ones."""
        newest: list[bytes] = []
        for descriptor in self._files(newest_first=True):
            if len(newest) < number:
                lines = list(self._fresh(descriptor))
                newest = [*lines[len(newest) - number :], *newest]
            else:
                status = os.fstat(descriptor)
                self._read[status.st_ino] = status.st_size
        return newest

    def fresh(self) -> Iterator[bytes]:
        """Yield the lines added since the last read, oldest first."""
        for descriptor in self._files():
            yield from self._fresh(descriptor)

    def certain(self) -> Iterator[bytes]:
        """Yield the same as `fresh`, but raise the error of a file out of reach, which the other methods skip."""
        self._certain = True
        yield from self.fresh()

    def _fresh(self, descriptor: int) -> Iterator[bytes]:
        status = os.fstat(descriptor)
        file, data = status.st_ino, self._rest.pop(status.st_ino, b"")
        start = self._read.get(file, 0)
        if start > status.st_size:
            start, data = 0, b""
        self._read[file] = max(start, status.st_size - 2 * LIMIT)  # our logs are shorter; read a longer one's end
        while part := os.pread(descriptor, _PART, self._read[file]):
            self._read[file] += len(part)
            *lines, data = (data + part).split(b"\n")
            yield from filter(None, lines)
        self._rest[file] = data

    def _files(self, *, newest_first: bool = False) -> Iterator[int]:
        """Yield each file once, open; a file renamed meanwhile was opened before, or is found by its new name."""
        with self._opened(self.path) as now:
            older = [path for number, path in sorted(self._rotated()) if number]
            files_read: set[int] = set()
            for path in (self.path, *reversed(older)) if newest_first else (*older, self.path):
                with nullcontext(now) if path is self.path else self._opened(path) as descriptor:
                    file = os.fstat(descriptor).st_ino if descriptor is not None else 0
                    if descriptor is not None and file not in files_read:
                        files_read.add(file)
                        yield descriptor

    def _rotated(self) -> Iterator[tuple[int, Path]]:
        with self._passed_over():
            for name in os.listdir(self.path.parent):
                yield rotation(self.path.name, name), self.path.with_name(name)

    @contextmanager
    def _opened(self, path: Path) -> Iterator[int | None]:
        """Open a regular file; yield None for a missing or unreadable one."""
        descriptor = None
        with self._passed_over():
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            yield descriptor if descriptor is not None and stat.S_ISREG(os.fstat(descriptor).st_mode) else None
        finally:
            if descriptor is not None:
                atomic.close(descriptor)

    @contextmanager
    def _passed_over(self) -> Iterator[None]:
        """Ignore errors of opening and listing; for `certain`, ignore only those of a name that no log has."""
        try:
            yield
        except OSError as error:
            if self._certain and error.errno not in _NO_LOG:
                raise
