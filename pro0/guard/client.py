"""One who looks at a guard's terminal: what it asked, what it was sent, and what waits for it."""

import socket

from pro0.terminals import protocol

READ = 1 << 16
PAUSE = 1 / 60
"""Seconds between two frames for one client."""

Frame = dict[str, object]


class Gone(Exception):
    """The client has left."""


class Client:
    """One connection. While something waits to be sent nothing is read from it, so what waits stays small."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._connection = connection
        self._inbox = protocol.Inbox()
        self._out = bytearray()
        self._rows: list[str] | None = None
        self._rest: Frame = {}
        self.views = False
        """Whether it is a view, which has given the terminal its size."""
        self.watching = False
        self.seen = -1
        """Which state of the terminal it was sent last."""
        self.due = 0.0

    def fileno(self) -> int:
        """Return the descriptor, for select."""
        return self._connection.fileno()

    @property
    def sending(self) -> bool:
        """Return whether something waits to be sent."""
        return bool(self._out)

    def read(self) -> list[tuple[bytes, bytes]]:
        """Return what it asks; raises Gone, or protocol.Broken."""
        try:
            data = self._connection.recv(READ)
        except BlockingIOError:
            return []
        except OSError as error:
            raise Gone from error
        if not data:
            raise Gone
        return self._inbox.take(data)

    def send(self, message: bytes) -> None:
        """Send a message, now or when there is room."""
        self._out += message
        self.flush()

    def flush(self) -> None:
        """Send as much of what waits as there is room for; raises Gone."""
        try:
            while self._out:
                del self._out[: self._connection.send(self._out)]
        except BlockingIOError:
            pass
        except OSError as error:
            raise Gone from error

    def watch(self, *, watching: bool) -> None:
        """Have frames sent or not; the next one will have everything in it."""
        self.watching = watching
        self._rows, self._rest, self.seen, self.due = None, {}, -1, 0.0

    def show(self, state: int, rows: list[str], rest: Frame, now: float) -> None:
        """Send what has changed since its last frame; raises Gone."""
        before = self._rows
        if before is None or len(before) != len(rows):
            changed = dict(enumerate(rows))
        else:
            changed = {index: row for index, row in enumerate(rows) if row != before[index]}
        if changed or rest != self._rest:
            self.send(protocol.packed(protocol.FRAME, {**rest, "rows": changed}))
            self.due = now + PAUSE
        self._rows, self._rest, self.seen = rows, rest, state

    def close(self) -> None:
        """Leave."""
        self._connection.close()

    def farewell(self, patience: float) -> None:
        """Send what waits, for so many seconds at most, and leave."""
        try:
            self._connection.settimeout(patience)
            self._connection.sendall(self._out)
        except OSError:
            pass
        self.close()
