"""Folder locks: flock on a file beside the data, with a time limit and a named holder.

The folder is opened first. The lock file is then opened relative to it, without following links, and locked by
filelock's `lock_descriptor`. No lock is ever held across a subprocess. The folder is locked as well, so deleting the
lock file admits nobody. Waiters form a queue (`queue.py`). They wait as long as the lock changes hands.
"""

import errno
import os
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pro0.errors import ErrorCode, StoreError
from pro0.store import atomic, queue
from pro0.store.paths import LOCK

PATIENCE = 10.0
"""Seconds with one holder before a waiter gives up and names that holder."""
ASLEEP = 1.0
"""Seconds before waiters pass over the first in line: it does not take a free lock, so it must be stopped."""
LEFT = 5.0
"""Seconds with one holder before every waiter tries: the holder may be dead, and the first in line stopped."""
SLOWEST = 0.1
"""Longest pause in seconds between two tries of a waiter far back in line."""
NOBODY = "an unknown process"
_LOCKLESS = (errno.EBADF, errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
"""Errors of file systems that cannot lock folders, such as network volumes."""
END_IT = "if that process hangs, end it; nothing was changed"
"""The next step for whoever gave up on a holder."""


@contextmanager
def locked(path: Path, why: str, *, patience: float = PATIENCE) -> Iterator[int]:
    """Hold a folder's lock and yield the open folder; raises FileNotFoundError, or StoreError naming the holder."""
    while True:
        with atomic.folder(path) as folder:
            descriptor = _taken(path, folder, patience)
            try:
                # A lock file deleted or replaced meanwhile guards nothing: begin again with the present one.
                if still_there(path, folder, LOCK, descriptor) and not replaced(folder, LOCK, descriptor):
                    if os.pread(descriptor, 1, 0):  # a killed holder could not remove its name
                        tidy(folder)
                    with suppress(OSError):  # the name only informs waiters; a full disk must not refuse the lock
                        sign(descriptor, why)
                    try:
                        yield folder
                    finally:
                        with suppress(OSError):
                            os.ftruncate(descriptor, 0)
                    return
            finally:
                atomic.close(descriptor)


@contextmanager
def folder_locked(path: Path) -> Iterator[int]:
    """Lock one of the person's folders without adding a lock file, and yield the open folder.

    Raises StoreError when another process takes too long. Where folders cannot be locked, nobody is kept out.
    """
    with atomic.folder(path) as folder:
        deadline = time.monotonic() + PATIENCE
        while not _folder_taken(folder, _LOCKLESS):
            if time.monotonic() > deadline:
                text = f"another process is changing {path}; gave up after {PATIENCE:g} s"
                raise StoreError(text, code=ErrorCode.LOCK_TIMEOUT, hint=END_IT)
            time.sleep(0.001 + time.monotonic_ns() % 4_000_000 / 1e9)
        yield folder


def both_locked(folder: int, descriptor: int) -> bool:
    """Try to lock an open folder and a lock file; both stay locked until they are closed.

    Where a folder cannot be locked, the file's lock alone must do.
    """
    free = _folder_taken(folder)
    if not free or atomic.lock(descriptor):
        return free
    from filelock import unlock_descriptor

    with suppress(OSError):
        unlock_descriptor(folder)  # a waiter holding one of the two alone would block the next taker
    return False


def _folder_taken(folder: int, passed_over: Collection[int] = (errno.EBADF,)) -> bool:
    """Try to lock an open folder; return True also where that is impossible, as on NFS without write access."""
    try:
        return atomic.lock(folder)
    except OSError as error:
        if error.errno not in passed_over:
            raise
        return True


def open_lock(folder: int, name: str) -> int:
    """Open a lock file in an open folder; make it when it is missing."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    return os.open(name, flags, atomic.FILE_MODE, dir_fd=folder)


def still_there(path: Path, folder: int, name: str, descriptor: int) -> bool:
    """Return True while the path leads to this folder and lock file; otherwise the lock guards nothing."""
    with suppress(FileNotFoundError):
        in_place = os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(folder))
        return in_place and os.path.samestat(os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(descriptor))
    return False


def replaced(folder: int, name: str, descriptor: int) -> bool:
    """Give up a held lock file with a second hard link, since it is a person's file too; the next try makes a new one.

    The lock has written nothing into that file.
    """
    if os.fstat(descriptor).st_nlink < 2:
        return False
    os.unlink(name, dir_fd=folder)
    return True


def sign(descriptor: int, why: str) -> None:
    """Write the holder's name into a held lock file, for waiters to read."""
    text = f"pid {os.getpid()} ({why}, since {time.strftime('%H:%M:%S')})".encode(errors="replace")
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text, 0)


def holder(descriptor: int) -> str:
    """Return the holder's name from a lock file."""
    return os.pread(descriptor, 400, 0).decode(errors="replace") or NOBODY


def tidy(folder: int) -> None:
    """Remove a killed writer's temporary files from a folder; the caller holds its lock."""
    for name in os.listdir(folder):
        if name.startswith(atomic.TEMPORARY):
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)


def _taken(path: Path, folder: int, patience: float) -> int:
    """Return an open folder's lock file with both locked; raises StoreError when one holder takes too long."""
    descriptor = open_lock(folder, LOCK)
    try:
        if queue.waited_for(folder) or not both_locked(folder, descriptor):
            with queue.QueueTicket(folder) as place:
                _wait(path, folder, descriptor, place, patience)
    except BaseException:
        atomic.close(descriptor)
        raise
    return descriptor


def _wait(path: Path, folder: int, descriptor: int, place: queue.QueueTicket, patience: float) -> None:
    by, since = holder(descriptor), time.monotonic()
    while True:
        _follow(folder, descriptor)
        before, now = place.before(), time.monotonic()
        # Each new holder restarts the clock: patience is for one holder, not for the queue.
        if (current := holder(descriptor)) != by:
            by, since = current, now
        # Waiters take the lock in turn. Others pass over the first in line only when it seems stopped.
        passing = before > 0 and now - since > (ASLEEP if by == NOBODY else LEFT)
        if (passing or not before) and both_locked(folder, descriptor):
            if passing:
                place.overtake()
            return
        if now - since > patience:
            raise _held_too_long(path, descriptor, patience)
        # The clock's last digits spread the tries; a waiter far back tries less often.
        pause = (0.001 + time.monotonic_ns() % 4_000_000 / 1e9) * (before + 1)
        time.sleep(min(pause, SLOWEST))


def _follow(folder: int, descriptor: int) -> None:
    """Point a descriptor at the present lock file, in case somebody deleted the earlier one."""
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
        code=ErrorCode.LOCK_TIMEOUT,
        hint=END_IT,
    )
