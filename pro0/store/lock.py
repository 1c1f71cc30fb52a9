"""Locks: flock on a file beside the data, taken through an open folder, waited for with a limit, the holder named.

filelock's `lock_descriptor` locks a file that is opened here, relative to its folder and without following links. It is
never held across a subprocess. Who deletes it lets nobody in: the folder is locked as well. Whoever has to wait stands
in line (`queue.py`), and waits as long as the lock goes from hand to hand.
"""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import lock_descriptor, unlock_descriptor

from pro0.errors import StoreError
from pro0.store import atomic, queue
from pro0.store.paths import LOCK

PATIENCE = 10.0
"""Seconds that one holder may take until a waiter gives up and names it."""
ASLEEP = 1.0
"""Seconds after which the first in line, who leaves a free lock alone, is passed over: it was stopped."""
LEFT = 5.0
"""Seconds of one holder after which anyone in line tries: it may have been killed, and the first in line stopped."""
SLOWEST = 0.1
"""Seconds between two looks of somebody far back in a line, at most."""
NOBODY = "an unknown process"
TIMEOUT = "lock_timeout"
"""The code of the error that it raises then."""


@contextmanager
def locked(path: Path, why: str, *, patience: float = PATIENCE) -> Iterator[int]:
    """Hold a folder's lock and yield the open folder; raises FileNotFoundError, or StoreError naming the holder."""
    while True:
        with atomic.folder(path) as folder:
            descriptor = _taken(path, folder, patience)
            try:
                if still_there(path, folder, LOCK, descriptor) and not replaced(folder, LOCK, descriptor):
                    if os.pread(descriptor, 1, 0):  # the last holder never came to take its name off: it was killed
                        tidy(folder)
                    with suppress(OSError):  # a name for those who wait; a full disk is no reason to let nobody in
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
    if not free or lock_descriptor(descriptor, blocking=False):
        return free
    with suppress(OSError):
        unlock_descriptor(folder)  # who has one alone keeps it from whoever comes first
    return False


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


def replaced(folder: int, name: str, descriptor: int) -> bool:
    """Give up a held lock file that has a second name, since it is a person's file too; the next try makes a new one.

    Nothing was written into it, and nothing is.
    """
    if os.fstat(descriptor).st_nlink < 2:
        return False
    os.unlink(name, dir_fd=folder)
    return True


def sign(descriptor: int, why: str) -> None:
    """Write into a held lock file who holds it, for those who wait."""
    text = f"pid {os.getpid()} ({why}, since {time.strftime('%H:%M:%S')})".encode()
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text, 0)


def holder(descriptor: int) -> str:
    """Return what the holder wrote into a lock file."""
    return os.pread(descriptor, 400, 0).decode(errors="replace") or NOBODY


def tidy(folder: int) -> None:
    """Remove what a killed writer left in a folder whose lock is held."""
    for name in os.listdir(folder):
        if name.startswith(atomic.TEMPORARY):
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)


def _taken(path: Path, folder: int, patience: float) -> int:
    """Return the open lock file of an open folder, both locked; raises StoreError when one holder takes too long."""
    descriptor = open_lock(folder, LOCK)
    try:
        if queue.waited_for(folder) or not both_locked(folder, descriptor):
            with queue.Place(folder) as place:
                _wait(path, folder, descriptor, place, patience)
    except BaseException:
        atomic.close(descriptor)
        raise
    return descriptor


def _wait(path: Path, folder: int, descriptor: int, place: queue.Place, patience: float) -> None:
    by, since = holder(descriptor), time.monotonic()
    while True:
        _follow(folder, descriptor)
        before, now = place.before(), time.monotonic()
        if (named := holder(descriptor)) != by:
            by, since = named, now
        passing = before > 0 and now - since > (ASLEEP if by == NOBODY else LEFT)
        if (passing or not before) and both_locked(folder, descriptor):
            if passing:
                place.overtake()
            return
        if now - since > patience:
            raise _held_too_long(path, descriptor, patience)
        pause = (0.001 + time.monotonic_ns() % 4_000_000 / 1e9) * (before + 1)
        time.sleep(min(pause, SLOWEST))


def _follow(folder: int, descriptor: int) -> None:
    """Let a descriptor be that of the lock file that is there now, should somebody have deleted the one that it was."""
    with suppress(FileNotFoundError):
        if os.path.samestat(os.stat(LOCK, dir_fd=folder, follow_symlinks=False), os.fstat(descriptor)):
            return
    new = open_lock(folder, LOCK)
    try:
        os.dup2(new, descriptor, inheritable=False)
    finally:
        atomic.close(new)


def _held_too_long(path: Path, descriptor: int, patience: float) -> StoreError:
    return StoreError(
        f"{path / LOCK} is held by {holder(descriptor)}; gave up after {patience:g} s",
        code=TIMEOUT,
        hint="if that process hangs, end it; nothing was changed",
    )
