"""The pseudo-terminal that an agent runs on when nobody else has one for it."""

import fcntl
import os
import struct
import termios

READ = 1 << 16
TURN = 1 << 18
"""Bytes that are taken in at most before others have their turn."""
INPUT_LIMIT = 1 << 16
"""Bytes that wait at most for an agent that does not read."""


class Pty:
    """One pseudo-terminal, of which this side never waits for the other.

    The agent's end stays open here too, so that an agent that closes its own can open it again.
    """

    def __init__(self, columns: int, lines: int) -> None:
        self.fileno, self._agents_end = os.openpty()
        os.set_blocking(self.fileno, False)
        self.path = os.ttyname(self._agents_end)
        self.waiting = bytearray()
        """Input that the agent has not taken in."""
        self.resize(columns, lines)

    def resize(self, columns: int, lines: int) -> None:
        """Give it another size, of which the agent is told."""
        fcntl.ioctl(self.fileno, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self) -> bytes:
        """Return what the agent printed, empty for nothing more at the moment."""
        parts, size = [], 0
        try:
            while size < TURN and (part := os.read(self.fileno, READ)):
                parts.append(part)
                size += len(part)
        except OSError:  # nothing there, or, once our copy of the agent's end is closed, nobody
            pass
        return b"".join(parts)

    def put(self, data: bytes) -> bool:
        """Hand input over, or keep it until the agent takes it in; False when too much waits already."""
        if len(self.waiting) + len(data) > INPUT_LIMIT:
            return False
        self.waiting += data
        self.write()
        return True

    def write(self) -> None:
        """Hand over as much of the waiting input as there is room for."""
        try:
            while self.waiting:
                del self.waiting[: os.write(self.fileno, self.waiting)]
        except BlockingIOError:
            pass
        except OSError:  # nobody will read it any more
            self.waiting.clear()

    def let_go(self) -> None:
        """Close the agent's end here: its last holder's end is the end of the terminal."""
        if self._agents_end >= 0:
            os.close(self._agents_end)
            self._agents_end = -1

    def close(self) -> None:
        """Close both ends: whoever is still there is hung up."""
        self.let_go()
        os.close(self.fileno)
