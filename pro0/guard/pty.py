"""The pseudo-terminal for an agent without another terminal."""

import fcntl
import os
import struct
import termios

READ = 1 << 16
TURN = 1 << 18
"""Bytes read at most before others have their turn."""
INPUT_LIMIT = 1 << 20
"""Input bytes kept at most for an agent not reading."""


class Pty:
    """One pseudo-terminal; this side never waits for the other.

    The agent's end stays open here too, so an agent can close its own end and open it again.
    """

    def __init__(self, columns: int, lines: int) -> None:
        self.fileno, self._agents_end = os.openpty()
        os.set_blocking(self.fileno, False)
        self.path = os.ttyname(self._agents_end)
        self.waiting = bytearray()
        """Input not yet taken by the agent."""
        self.resize(columns, lines)

    def resize(self, columns: int, lines: int) -> None:
        """Set the terminal's size; the system tells the agent."""
        fcntl.ioctl(self.fileno, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self) -> bytes:
        """Return the agent's output, or nothing when there is no more at the moment."""
        parts, size = [], 0
        try:
            while size < TURN and (part := os.read(self.fileno, READ)):
                parts.append(part)
                size += len(part)
        except OSError:  # no output now, or the terminal has ended after `let_go`
            pass
        return b"".join(parts)

    def put(self, data: bytes) -> bool:
        """Write input, or keep it until the agent takes it; False when too much waits already."""
        if len(self.waiting) + len(data) > INPUT_LIMIT:
            return False
        self.waiting += data
        self.write()
        return True

    def write(self) -> None:
        """Write the waiting input as far as there is room."""
        try:
            while self.waiting:
                del self.waiting[: os.write(self.fileno, self.waiting)]
        except BlockingIOError:
            pass
        except OSError:  # nobody will read it any more
            self.waiting.clear()

    def let_go(self) -> None:
        """Close the agent's end here: the terminal then ends with its last other holder."""
        if self._agents_end >= 0:
            os.close(self._agents_end)
            self._agents_end = -1

    def close(self) -> None:
        """Close both ends: processes still on the terminal get a hang-up."""
        self.let_go()
        os.close(self.fileno)
