"""The agent's process as the client sees it: lines come from it, lines go to it, and neither can block."""

import fcntl
import os
import selectors
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import suppress
from subprocess import PIPE

from pro0.errors import EnvironmentMissing
from pro0.wire import LineSplitter

CHUNK = 64 * 1024
LATEST = 2048
"""Bytes kept of what the agent wrote to its stderr."""
UNREAD = 1 << 20
"""Bytes that an agent may leave unread before the client stops reading its output."""
ENDING = 5.0
"""Seconds until TERM for an agent that has closed its output, and then until KILL."""


class Child:
    """Runs the agent's program."""

    def __init__(self, argv: tuple[str, ...]) -> None:
        """Raises EnvironmentMissing when the program cannot be started."""
        try:
            self._process = subprocess.Popen(argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, bufsize=0)
        except OSError as error:
            raise EnvironmentMissing(f"cannot start {argv[0]}: {error.strerror}") from error
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._stdin, self._stdout, self._stderr = (pipe.fileno() for pipe in pipes if pipe)
        for descriptor in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
        self._splitter = LineSplitter()
        self._outgoing = bytearray()
        self._latest = b""
        self._complaining = True
        self.open = True
        """True until the agent closes its output, or is gone."""

    @property
    def alive(self) -> bool:
        """Return True while the agent's process runs; a helper may hold its output open for longer."""
        return self._process.poll() is None

    @property
    def last_output(self) -> str:
        """Return the end of what the agent wrote to its stderr."""
        return self._latest.decode(errors="replace").strip()

    def send(self, line: bytes) -> None:
        """Queue a line for the agent's input."""
        self._outgoing += line

    def register(self, selector: selectors.BaseSelector) -> None:
        """Register the pipes to wait for; with too many unread bytes in the queue, the agent's output is left out."""
        interest = {
            self._stdin: selectors.EVENT_WRITE if self._outgoing else 0,
            self._stdout: selectors.EVENT_READ if len(self._outgoing) < UNREAD else 0,
            self._stderr: selectors.EVENT_READ if self._complaining else 0,
        }
        for descriptor, events in interest.items():
            with suppress(KeyError):
                selector.unregister(descriptor)
            if events:
                selector.register(descriptor, events)

    def lines(self, ready: set[int]) -> Iterator[bytes | None]:
        """Yield the lines written by the agent, None for a line over the limit."""
        alive = self.alive  # checked before reading: all output of a dead agent is readable then
        if self._stderr in ready or not alive:
            complaint = _read(self._stderr)
            self._complaining = complaint is not None
            self._latest = (self._latest + (complaint or b""))[-LATEST:]
        if self._stdout in ready or not alive:
            data = _read(self._stdout) if alive else _rest(self._stdout)
            self.open = data is not None and alive
            yield from self._splitter.feed(data or b"\n")

    def flush(self) -> None:
        """Write as much of the queue as the agent's input takes now."""
        try:
            while self._outgoing:
                del self._outgoing[: os.write(self._stdin, self._outgoing[:CHUNK])]
        except BlockingIOError:
            return
        except OSError:  # the agent has closed its input; the end of its output shows its end
            self._outgoing.clear()

    def end(self) -> None:
        """Ask the agent to end."""
        self._process.terminate()

    def wait(self) -> int:
        """Wait for the agent's end, or bring it about; return its exit code, negative for a signal."""
        if self._process.stdin:
            self._process.stdin.close()
        for act in (self._process.terminate, self._process.kill):
            try:
                return self._process.wait(ENDING)
            except subprocess.TimeoutExpired:
                act()
        return self._process.wait()


def _rest(descriptor: int) -> bytes:
    """Return everything readable at this moment, and the end of its last line, without waiting for a writer."""
    count = fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4))
    return (_read(descriptor, int.from_bytes(count, sys.byteorder)) or b"") + b"\n"


def _read(descriptor: int, limit: int = CHUNK) -> bytes | None:
    """Return what can be read now, None at the end."""
    try:
        return os.read(descriptor, limit) or None
    except BlockingIOError:
        return b""
    except OSError:
        return None
