"""A client of a guard's terminal, for programs able to wait a moment for the answer."""

import os
import select
import socket
from typing import NoReturn

from pro0.terminals import address, protocol

PATIENCE = 5.0
"""Seconds to wait for an answer."""


class Silent(Exception):
    """There is no terminal, or it gives no proper answer."""


class Connection:
    """One connection to a terminal; every failure raises Silent."""

    def __init__(self, path: str, patience: float = PATIENCE) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._inbox = protocol.MessageReader(protocol.FRAME_LIMIT)
        self._arrived: list[tuple[bytes, bytes]] = []
        try:
            self._socket.settimeout(patience)
            with address.reachable(path) as short:
                self._socket.connect(short)
            if address.peer(self._socket) != os.geteuid():
                self._fail(f"{path} belongs to another user")
            self.hello = self.wait(protocol.HELLO)
        except OSError as error:
            self._fail(f"{path}: {error.strerror or error}", error)
        if self.hello.get("version") != protocol.VERSION:
            self._fail(f"{path} speaks version {self.hello.get('version')} of the protocol, not {protocol.VERSION}")

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        """Return the descriptor, for select."""
        return self._socket.fileno()

    def ask(self, kind: bytes, payload: bytes = b"", answer: bytes | None = None) -> dict[str, object]:
        """Ask, and return the answer; it has the same kind unless `answer` names another."""
        self.send(kind, payload)
        return self.wait(answer or kind)

    def send(self, kind: bytes, payload: bytes = b"") -> None:
        """Send a message."""
        try:
            self._socket.sendall(protocol.message(kind, payload))
        except OSError as error:
            self._fail("the terminal is gone", error)

    def wait(self, kind: bytes) -> dict[str, object]:
        """Return the next message of a kind, and skip messages of other kinds."""
        while True:
            while self._arrived:
                arrived_kind, payload = self._arrived.pop(0)
                if arrived_kind == kind:
                    return self._unpacked(payload)
            self._read()

    def take(self) -> list[tuple[bytes, dict[str, object]]]:
        """Return the messages received so far, without waiting."""
        if select.select([self._socket], [], [], 0)[0]:
            self._read()
        arrived, self._arrived = self._arrived, []
        return [(kind, self._unpacked(payload)) for kind, payload in arrived]

    def close(self) -> None:
        """Close the connection; the terminal goes on."""
        self._socket.close()

    def _read(self) -> None:
        try:
            data = self._socket.recv(1 << 18)
            if not data:
                self._fail("the terminal is gone")
            self._arrived += self._inbox.take(data)
        except (OSError, protocol.Broken) as error:
            self._fail(f"the terminal does not answer: {error}", error)

    def _unpacked(self, payload: bytes) -> dict[str, object]:
        try:
            return protocol.unpacked(payload)
        except protocol.Broken as error:
            self._fail(f"the terminal does not answer: {error}", error)

    def _fail(self, message: str, error: Exception | None = None) -> NoReturn:
        self._socket.close()
        raise Silent(message) from error
