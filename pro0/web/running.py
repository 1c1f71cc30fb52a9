"""The lock of the process that serves a home's page, held for its life; the lock's file has the address."""

import fcntl
import os
import time
from pathlib import Path

from filelock import lock_descriptor

from pro0.store import atomic
from pro0.store.files import make_folder
from pro0.store.lock import open_lock
from pro0.store.paths import SERVER_LOCK, web

LONGEST = 2048
PATIENCE = 1.0
"""Seconds until the lock counts as held by another server: a process that reads the address holds it briefly too."""
_PAUSE = 0.01


class ServerLock:
    """The right to serve the page of a home; it ends with the process, however the process ends."""

    def __init__(self, home: Path) -> None:
        self._folder = web(home)
        self._held: int | None = None

    def take(self) -> bool:
        """Take the lock; return False when another process has it."""
        make_folder(self._folder)
        with atomic.folder(self._folder) as folder:
            descriptor = open_lock(folder, SERVER_LOCK)
        deadline = time.monotonic() + PATIENCE
        while not lock_descriptor(descriptor, blocking=False):
            if time.monotonic() > deadline:
                atomic.close(descriptor)
                return False
            time.sleep(_PAUSE)
        self._held = descriptor
        return True

    def sign(self, address: str) -> None:
        """Write the address of the page into the lock's file."""
        assert self._held is not None
        os.ftruncate(self._held, 0)
        os.pwrite(self._held, address.encode()[:LONGEST], 0)

    def drop(self) -> None:
        """Release the lock."""
        if self._held is not None:
            os.ftruncate(self._held, 0)
            atomic.close(self._held)
            self._held = None


def served_at(home: Path) -> str:
    """Return the address of the page while a process serves it, "" for none."""
    try:
        with atomic.folder(web(home)) as folder:
            descriptor = open_lock(folder, SERVER_LOCK)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: other readers do not look like a server
        return ""
    except BlockingIOError:
        return os.pread(descriptor, LONGEST, 0).decode(errors="replace")
    finally:
        atomic.close(descriptor)
