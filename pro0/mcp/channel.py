"""The server's own streams, out of reach of `print`, and a look at the client: is it still there?"""

import fcntl
import os
import select
import stat
import sys
import termios
import time
from contextlib import suppress

CHUNK = 65536
PIECE = 4096
"""Bytes that a writable pipe always takes at once, so that a write of no more never blocks."""
FULL = 8 * 1024 * 1024
"""Bytes waiting for a client that does not read; from then on nothing is read from it."""
CROSSING = 0.05
"""Seconds after which written output counts as read, where the system cannot tell."""
LOOK = 1.0
"""Seconds between two looks at the parent where the system cannot tell of its end."""


class Channel:
    """Reads from the client and writes to it without ever blocking. It turns standard output into standard error."""

    def __init__(self) -> None:
        self._in, self._out = _take_streams()
        self._waiting = bytearray()
        self._written_at = 0.0
        self._parent = Parent()
        self._bell, self._rope = os.pipe()
        os.set_blocking(self._bell, False)
        os.set_blocking(self._rope, False)
        self.ended = False
        """True when no more input comes: the client closed its side, or is gone."""
        self.broken = False
        """True when the client takes no more output."""
        self.alone = False
        """True when the parent is gone."""

    @property
    def idle(self) -> bool:
        """Return True when all answers are written."""
        return self.broken or not self._waiting

    @property
    def taken(self) -> bool:
        """Return True when the client has read all answers."""
        if self._waiting:
            return False
        waiting = unread(self._out)
        return time.monotonic() > self._written_at + CROSSING if waiting is None else not waiting

    def send(self, line: str) -> None:
        """Queue a line, to be written when there is room for it."""
        self._waiting += line.encode("ascii") + b"\n"

    def ring(self) -> None:
        """Wake `wait`, from a thread or a signal's handler."""
        with suppress(BlockingIOError):
            os.write(self._rope, b"x")

    def wait(self, seconds: float | None) -> bytes:
        """Wait for input or room for output; write as much as fits, and return the bytes read."""
        reading = not self.ended and len(self._waiting) < FULL
        sources = [self._bell, *([self._in] if reading else []), *self._parent.sources]
        limits = [limit for limit in (seconds, self._parent.look) if limit is not None]
        readable, writable, _ = select.select(
            sources, [] if self.idle else [self._out], [], min(limits) if limits else None
        )
        if self._bell in readable:
            with suppress(BlockingIOError):
                os.read(self._bell, CHUNK)
        if writable:
            self._write()
        data = self._read() if self._in in readable else b""
        if self._parent.gone():
            self.ended = self.alone = True
            self._parent.sources = []
        return data

    def _read(self) -> bytes:
        data = b""
        with suppress(OSError):
            data = os.read(self._in, CHUNK)
        self.ended = self.ended or not data
        return data

    def _write(self) -> None:
        try:
            written = os.write(self._out, self._waiting[:PIECE])
        except OSError:
            self.broken = self.ended = True
        else:
            del self._waiting[:written]
            self._written_at = time.monotonic()


class Parent:
    """The process that started this one. The server ends with it, so servers do not pile up."""

    def __init__(self) -> None:
        self._pid = os.getppid()
        self.sources: list[int] = []
        """A descriptor that is readable once the parent has ended, where the system has that."""
        if sys.platform == "linux":
            with suppress(OSError):
                self.sources = [_open_process(self._pid)]
        self.look = None if self.sources else LOOK

    def gone(self) -> bool:
        """Return True when this process has another parent now."""
        return os.getppid() != self._pid


def _open_process(pid: int) -> int:
    if hasattr(os, "pidfd_open"):
        return os.pidfd_open(pid)
    from pro0.processes import pidfd

    return pidfd.open_process(pid)


def unread(descriptor: int) -> int | None:
    """Return how much is unread in a pipe or a socket, in no fixed unit; None where the system cannot tell."""
    form = os.fstat(descriptor).st_mode
    if sys.platform != "linux" or not (stat.S_ISFIFO(form) or stat.S_ISSOCK(form)):
        return None
    question = termios.FIONREAD if stat.S_ISFIFO(form) else termios.TIOCOUTQ
    with suppress(OSError):  # some containers imitate Linux, and do not know this
        return int.from_bytes(fcntl.ioctl(descriptor, question, bytes(4)), sys.byteorder)
    return None


def _take_streams() -> tuple[int, int]:
    """Return copies of stdin and stdout; replace both, so that nothing else can spoil the protocol."""
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    while nothing <= 2:  # one of the three was closed: now it is not
        os.set_inheritable(nothing, True)
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    incoming, outgoing = os.dup(0), os.dup(1)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return incoming, outgoing
