"""The ears of a server: the socket file of a team's lead, open to our user alone, and a bell for its own threads."""

import os
import socket
import threading
from contextlib import suppress
from pathlib import Path

from pro0.terminals import address

CONNECTIONS = 64
"""Clients at once, at most."""


def listening(path: Path) -> socket.socket:
    """Return a listening socket at this path, open to our user alone; one of an earlier lead is replaced."""
    new = path.with_name(f".{path.name}")
    with suppress(FileNotFoundError):
        new.unlink()
    listener = address.bound(str(new))
    try:
        listener.listen(CONNECTIONS)
        listener.setblocking(False)
        new.replace(path)
    except OSError:
        listener.close()
        raise
    return listener


class Bell:
    """A pipe: any thread may ring it, and one waits at it."""

    def __init__(self) -> None:
        self._readable, self._writable = os.pipe()
        os.set_blocking(self._readable, False)
        os.set_blocking(self._writable, False)
        self._lock = threading.Lock()
        self._closed = False

    def fileno(self) -> int:
        """Return the descriptor to wait for."""
        return self._readable

    def ring(self) -> None:
        """Wake the waiting thread; do nothing once it is closed: its number may be another file's by then."""
        with self._lock, suppress(BlockingIOError):
            if not self._closed:
                os.write(self._writable, b"x")

    def hush(self) -> None:
        """Be ready for the next ring."""
        with suppress(BlockingIOError):
            os.read(self._readable, 4096)

    def close(self) -> None:
        """Let it ring no more."""
        with self._lock:
            self._closed = True
            os.close(self._readable)
            os.close(self._writable)
