"""One connection to a server that speaks WebSocket on a Unix socket, with one time limit for all of it (RFC 6455)."""

import base64
import os
import socket
import struct
import time

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
_UPGRADE = (
    "GET / HTTP/1.1",
    "Host: localhost",
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
)
LARGEST = 64 << 20
"""The longest message to read, in bytes."""


class Closed(OSError):
    """The server ended the connection, or sent what is no message."""


def connect(path: str, patience: float) -> "WebSocket":
    """Return a connection to the server at a path; codex makes that a link to a path short enough for a socket."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(patience)
        connection.connect(os.path.realpath(path))
        return WebSocket(connection, patience)
    except BaseException:
        connection.close()
        raise


class WebSocket:
    """A connection for text messages; whatever goes wrong is an OSError."""

    def __init__(self, connection: socket.socket, patience: float) -> None:
        self._deadline = time.monotonic() + patience
        self._socket = connection
        self._received = b""
        self._agree()

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def send(self, message: bytes) -> None:
        """Send one text message."""
        self._send(TEXT, message)

    def receive(self) -> bytes:
        """Return the next text message."""
        message = b""
        while True:
            last, kind, part = self._frame()
            if kind == PING:
                self._send(PONG, part)
            elif kind == CLOSE:
                raise Closed("the server closed the connection")
            elif kind != PONG:
                message += part
                if len(message) > LARGEST:
                    raise Closed("a message is too long")
                if last:
                    return message

    def _agree(self) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall("\r\n".join((*_UPGRADE, f"Sec-WebSocket-Key: {key}", "", "")).encode())
        while b"\r\n\r\n" not in self._received:
            if len(self._received) > 1 << 16:
                raise Closed("the server does not speak WebSocket")
            self._more()
        answer, _, self._received = self._received.partition(b"\r\n\r\n")
        if b" 101 " not in answer.split(b"\r\n")[0]:
            raise Closed("the server does not speak WebSocket")

    def _send(self, kind: int, data: bytes) -> None:
        size = len(data)
        if size < 126:
            length = struct.pack("!B", 0x80 | size)
        else:
            length = struct.pack("!BH", 0xFE, size) if size < 1 << 16 else struct.pack("!BQ", 0xFF, size)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[n % 4] for n, byte in enumerate(data))
        self._wait()
        self._socket.sendall(struct.pack("!B", 0x80 | kind) + length + mask + masked)

    def _frame(self) -> tuple[bool, int, bytes]:
        """Return the next frame: whether it is the last of its message, its kind, its data."""
        first, second = self._take(2)
        size = second & 0x7F
        if size == 126:
            (size,) = struct.unpack("!H", self._take(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", self._take(8))
        if size > LARGEST or second & 0x80:
            raise Closed("a frame is too long, or masked")
        return bool(first & 0x80), first & 0x0F, self._take(size)

    def _take(self, count: int) -> bytes:
        while len(self._received) < count:
            self._more()
        taken, self._received = self._received[:count], self._received[count:]
        return taken

    def _more(self) -> None:
        self._wait()
        data = self._socket.recv(1 << 16)
        if not data:
            raise Closed("the server ended the connection")
        self._received += data

    def _wait(self) -> None:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        self._socket.settimeout(remaining)
