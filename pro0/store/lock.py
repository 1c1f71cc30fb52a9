"""Locks: flock on a file beside the data, taken through an open folder, waited for with a limit, the holder named.

filelock's `lock_descriptor` locks a file that is opened here, relative to its folder and without following links. It is
never unlinked here, and never held across a subprocess. Who deletes it lets nobody in: the folder is locked as well.
"""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import lock_descriptor

from pro0.errors import StoreError
from pro0.store import atomic
from pro0.store.paths import LOCK

PATIENCE = 10.0
"""Seconds until a waiter gives up and names the holder."""
TIMEOUT = "lock_timeout"
"""The code of the error that it raises then."""


@contextmanager
def locked(path: Path, why: str, *, patience: float = PATIENCE) -> Iterator[int]:
    """Hold a folder's lock and yield the open folder; raises FileNotFoundError, or StoreError naming the holder."""
    deadline = time.monotonic() + patience
    while True:
        with atomic.folder(path) as folder:
            descriptor = open_lock(folder, LOCK)
            try:
                if not _wait(folder, descriptor, deadline):
                    raise _held_too_long(path, descriptor, patience)
                if still_there(path, folder, LOCK, descriptor):
                    if os.pread(descriptor, 1, 0):  # the last holder never came to take its name off: it was killed
                        tidy(folder)
                    sign(descriptor, why)
                    try:
                        yield folder
                    finally:
                        with suppress(OSError):
                            os.ftruncate(descriptor, 0)
                    return
            finally:
                atomic.close(descriptor)


def both_locked(folder: int, descriptor: int) -> bool:
    """Lock an open folder and a lock file, unless somebody has one of them; the two stay locked until they are closed.

    NFS locks nothing that is not open for writing; there the file alone has to do.
    """
    try:
        free = lock_descriptor(folder, blocking=False)
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
        free = True
    return free and lock_descriptor(descriptor, blocking=False)


def open_lock(folder: int, name: str) -> int:
    """Open a lock file of an open folder, making it if need be."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    return os.open(name, flags, atomic.FILE_MODE, dir_fd=folder)


def still_there(path: Path, folder: int, name: str, descriptor: int) -> bool:
    """Return whether the path still leads to this folder and lock file; if not, the lock guards nothing."""
    with suppress(FileNotFoundError):
        here = os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(folder))
        return here and os.path.samestat(os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(descriptor))
    return False


def sign(descriptor: int, why: str) -> None:
    """Write into a held lock file who holds it, for those who wait."""
    text = f"pid {os.getpid()} ({why}, since {time.strftime('%H:%M:%S')})".encode()
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text, 0)


def holder(descriptor: int) -> str:
    """Return what the holder wrote into a lock file."""
    return os.pread(descriptor, 400, 0).decode(errors="replace") or "an unknown process"


def tidy(folder: int) -> None:
    """Remove what a killed writer left in a folder whose lock is held."""
    for name in os.listdir(folder):
        if name.startswith(atomic.TEMPORARY):
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)


def _wait(folder: int, descriptor: int, deadline: float) -> bool:
    while not both_locked(folder, descriptor):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001 + time.monotonic_ns() % 4_000_000 / 1e9)
    return True


def _held_too_long(path: Path, descriptor: int, patience: float) -> StoreError:
    return StoreError(
        f"{path / LOCK} is held by {holder(descriptor)}; gave up after {patience:g} s",
        code=TIMEOUT,
        hint="if that process hangs, end it; nothing was changed",
    )
