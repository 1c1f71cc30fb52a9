"""The write path, standard library only: temporary file, write all, fsync, rename, fsync of the folder.

Every call goes through an open folder, never through a path. A renamed folder takes late writes with it, so a write
after a cleanup brings nothing back (behaviour 3.10).

Every guard imports this module before its agent starts. pathlib and contextlib would double its import time.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

TEMPORARY = ".tmp-"
FILE_MODE = 0o600
FOLDER_MODE = 0o700


class folder:  # noqa: N801 - used as a function
    """Open a folder, never through a symbolic link; raises FileNotFoundError when it is missing."""

    def __init__(self, path: Path | str, within: int | None = None) -> None:
        self._path = path
        self._within = within

    def __enter__(self) -> int:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
        self._descriptor = os.open(self._path, flags, dir_fd=self._within)
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        close(self._descriptor)


def close(descriptor: int) -> None:
    """Close a descriptor and ignore an error: no data is at risk, and it would make a done change look undone."""
    try:
        os.close(descriptor)
    except OSError:
        pass


def subfolder(parent: int, name: str) -> folder:
    """Open a sub-folder of an open folder, made durably when missing; the parent is never made again."""
    try:
        os.mkdir(name, FOLDER_MODE, dir_fd=parent)
    except FileExistsError:
        pass
    else:
        os.fsync(parent)  # before anything relies on its content
    return folder(name, parent)


def sync(path: Path) -> None:
    """Make a folder's creations, renames and removals durable."""
    with folder(path) as descriptor:
        os.fsync(descriptor)


def replace(folder: int, name: str, data: bytes, *, durable: bool = True, mode: int = FILE_MODE) -> None:
    """Replace one file whole: afterwards it holds `data`, or, after an error, its old content.

    One error comes after the rename and says so: the file is replaced, but a power failure may undo it.
    """
    temporary = f"{TEMPORARY}{os.urandom(16).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(temporary, flags, FILE_MODE, dir_fd=folder)
    try:
        try:
            if mode != FILE_MODE:
                os.fchmod(descriptor, mode)
            _write_all(descriptor, data)
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        try:
            os.unlink(temporary, dir_fd=folder)
        except OSError:
            pass
        raise
    if durable:
        try:
            os.fsync(folder)
        except OSError as error:
            raise OSError(error.errno, f"{error.strerror}, after the change: a power loss may undo it") from error


def lock(descriptor: int) -> bool:
    """Try to lock an open file or folder for this process alone; return True on success.

    The lock ends when the last descriptor from the same `open` is closed.
    """
    from filelock import lock_descriptor  # late: readers do not need it, and many guards start at once

    return lock_descriptor(descriptor, blocking=False)


def try_room(folder: int, data: bytes) -> None:
    """Raise the OSError that replacing a file of this folder by this data would raise; change nothing."""
    name = f"{TEMPORARY}{os.urandom(16).hex()}"
    replace(folder, name, data)
    os.unlink(name, dir_fd=folder)


def overwrite(folder: int, name: str, data: bytes) -> None:
    """Overwrite a small file in place, without a new disk block: for a last record on a full disk.

    The file never gets shorter: spaces fill it up. A reader at the same moment may see half of the text.
    """
    descriptor = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        if not _is_regular(status.st_mode):
            raise OSError(f"{name} is not a regular file")
        os.pwrite(descriptor, data.ljust(status.st_size), 0)
        os.fsync(descriptor)
    finally:
        close(descriptor)


def read(folder: int, name: str, limit: int) -> bytes:
    """Return a regular file's bytes; raises OSError for a link, a FIFO or more than `limit` bytes."""
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        if not _is_regular(status.st_mode):
            raise OSError(f"{name} is not a regular file")
        if status.st_size > limit:
            raise OSError(f"{name} has {status.st_size} bytes, more than {limit}")
        return _read_all(descriptor, status.st_size)
    finally:
        os.close(descriptor)


def _is_regular(mode: int) -> bool:
    return mode & 0o170000 == 0o100000


def _read_all(descriptor: int, size: int) -> bytes:
    parts = []
    while part := os.read(descriptor, size + 1):
        parts.append(part)
    return b"".join(parts)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
