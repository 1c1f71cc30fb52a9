"""The queue for a lock: each waiter holds a ticket, a locked file in a folder beside the lock.

A ticket's name begins with the time, so sorted names give the order. The queue gives the order, never the lock; a
waiter unable to make a ticket waits without one. An unlocked ticket belongs to a killed waiter, and the next reader
removes it. The folder exists only while somebody waits.
"""

import os
import re
import time
from contextlib import suppress

from pro0.store import atomic
from pro0.store.paths import QUEUE

_TICKET = re.compile(r"[0-9]{20}-[0-9a-f]{8}")
_TRIES = 3
"""Attempts to make a ticket: others may remove the empty folder, or the ticket before it is locked."""


def waited_for(folder: int) -> bool:
    """Return True when somebody waits in line for an open folder's lock."""
    with suppress(OSError), atomic.folder(QUEUE, folder) as line:
        return any(_is_held(line, ticket) for ticket in _tickets(line))
    return False


class QueueTicket:
    """One waiter's place in the queue of an open folder, taken on entering the context."""

    def __init__(self, folder: int) -> None:
        self._folder = folder
        self._ticket = ""
        self._descriptor: int | None = None

    def __enter__(self) -> "QueueTicket":
        self._stand()
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()

    def before(self) -> int:
        """Return the number of waiters ahead; a waiter with a lost ticket goes to the end of the line."""
        with suppress(OSError), atomic.folder(QUEUE, self._folder) as line:
            tickets = _tickets(line)
            while tickets and tickets[0] != self._ticket and not _is_held(line, tickets[0]):
                del tickets[0]
            if self._ticket in tickets:
                return tickets.index(self._ticket)
        self._leave()
        self._stand()
        return 0 if self._descriptor is None else 1

    def overtake(self) -> None:
        """Remove the first ticket if its owner does not move; once awake, that owner goes to the end of the line."""
        with suppress(OSError), atomic.folder(QUEUE, self._folder) as line:
            for ticket in _tickets(line)[:1]:
                if ticket != self._ticket:
                    os.unlink(ticket, dir_fd=line)

    def _stand(self) -> None:
        for _ in range(_TRIES):
            with suppress(OSError):
                with suppress(FileExistsError):
                    os.mkdir(QUEUE, atomic.FOLDER_MODE, dir_fd=self._folder)
                with atomic.folder(QUEUE, self._folder) as line:
                    self._ticket = f"{time.monotonic_ns():020d}-{os.urandom(4).hex()}"
                    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
                    self._descriptor = os.open(self._ticket, flags, atomic.FILE_MODE, dir_fd=line)
                    if atomic.lock(self._descriptor):
                        return
            self._leave()

    def _leave(self) -> None:
        if self._descriptor is None:
            return
        with suppress(OSError):
            with suppress(OSError), atomic.folder(QUEUE, self._folder) as line:
                os.unlink(self._ticket, dir_fd=line)
            os.rmdir(QUEUE, dir_fd=self._folder)  # fails, as it should, while others wait
        atomic.close(self._descriptor)
        self._descriptor = None


def _tickets(line: int) -> list[str]:
    return sorted(name for name in os.listdir(line) if _TICKET.fullmatch(name))


def _is_held(line: int, ticket: str) -> bool:
    """Return True when a ticket's owner lives; remove a ticket without an owner."""
    try:
        descriptor = os.open(ticket, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=line)
    except FileNotFoundError:
        return False
    try:
        if not atomic.lock(descriptor):
            return True
        os.unlink(ticket, dir_fd=line)
        return False
    except FileNotFoundError:
        return False
    finally:
        atomic.close(descriptor)
