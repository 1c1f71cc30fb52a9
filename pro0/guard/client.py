"""A client of a guard's terminal: its questions, its last frame, and its waiting messages."""

import socket

from pro0.terminals import protocol

READ = 1 << 16
PAUSE = 1 / 60
"""Seconds between two frames for one client."""

Frame = dict[str, object]


class Gone(Exception):
    """The client has left."""


class Client:
    """One connection. While a message waits to be sent, nothing is read, so the waiting bytes stay few."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._connection = connection
        self._inbox = protocol.MessageReader()
        self._out = bytearray()
        self._rows: list[str] | None = None
        self._rest: Frame = {}
        self.views = False
        """True for a view: it has given the terminal its size."""
        self.watching = False
        self.size: tuple[int, int] | None = None
        """The columns and lines that it asked for, if any."""
        self.seen = -1
        """The number of the terminal's state last sent."""
        self.due = 0.0
        self.cut_until = 0.0
        """The time until which its typed bytes count as part of a refused paste, and are refused too."""

    def fileno(self) -> int:
        """Return the descriptor, for select."""
        return self._connection.fileno()

    @property
    def sending(self) -> bool:
        """Return True when a message waits to be sent."""
        return bool(self._out)

    def read(self) -> list[tuple[bytes, bytes]]:
        """Return the client's messages; raises Gone, or protocol.Broken."""
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
        """Send the waiting bytes as far as there is room; raises Gone."""
        try:
            while self._out:
                del self._out[: self._connection.send(self._out)]
        except BlockingIOError:
            pass
        except OSError as error:
            raise Gone from error

    def watch(self, *, watching: bool) -> None:
        """Turn frames on or off; the next frame will be complete."""
        self.watching = watching
        self._rows, self._rest, self.seen, self.due = None, {}, -1, 0.0

    def show(self, state: int, rows: list[str], rest: Frame, now: float) -> None:
        """Send the changes since the client's last frame; raises Gone."""
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
        """Close the connection."""
        self._connection.close()

    def farewell(self, patience: float) -> None:
        """Send the waiting bytes within `patience` seconds, and close."""
        try:
            self._connection.settimeout(patience)
            self._connection.sendall(self._out)
        except OSError:
            pass
        self.close()


def size_of(clients: list[Client], otherwise: tuple[int, int] | None = None) -> tuple[int, int] | None:
    """Return the size that the latest watching client asked for, or else `otherwise`."""
    return next((client.size for client in reversed(clients) if client.watching and client.size), otherwise)
