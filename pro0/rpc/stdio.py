"""A bridge between stdin, stdout and the socket of a lead: for editors, which start programs and speak to them."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

from pro0.errors import EnvironmentMissing, NotFound
from pro0.store.paths import SOCKET
from pro0.store.teams import TeamStore
from pro0.terminals import address
from pro0.wire import LINE_LIMIT

HEADER = b"Content-Length"
PIECE = 64 * 1024


def bridge(team: TeamStore, source: int, sink: IO[bytes]) -> None:
    """Carry messages both ways until either side ends; raises EnvironmentMissing when the lead goes first.

    Who speaks at the socket is then this process, which is whoever's its ancestors say.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            with address.reachable(str(team.paths.team / SOCKET)) as short:
                connection.connect(short)
        except OSError as error:
            raise NotFound(f"the lead of {team.name} serves no socket: {error}", hint=_HINT) from None
        carried = _Carried(source)
        threading.Thread(target=carried.to, args=(connection,), daemon=True).start()
        for line in _lines(connection):
            sink.write(b"%s: %d\r\n\r\n%s" % (HEADER, len(line), line) if carried.framed else line + b"\n")
            sink.flush()
        if not carried.ended:
            raise EnvironmentMissing(f"the lead of {team.name} has gone", hint=_HINT)


class _Carried:
    """The messages of a client, each on its way to the socket as one line."""

    def __init__(self, source: int) -> None:
        # Never closed: a thread may wait in it when this process ends, and closing would wait for that thread.
        self._source = os.fdopen(source, "rb")
        self.framed = False
        """True when the client puts a header before each message."""
        self.ended = False

    def to(self, connection: socket.socket) -> None:
        """Send all of them, then end this half of the connection."""
        with suppress(OSError):  # the lead has gone, which the other half tells
            for line in self._messages():
                connection.sendall(line)
        self.ended = True
        with suppress(OSError):
            connection.shutdown(socket.SHUT_WR)

    def _messages(self) -> Iterator[bytes]:
        line = self._source.readline(LINE_LIMIT)
        self.framed = line.lower().startswith(HEADER.lower())
        if not self.framed:
            yield line
            while piece := self._source.readline(PIECE):
                yield piece
            return
        while line:
            size = 0
            while line.strip():
                name, _, value = line.partition(b":")
                if name.strip().lower() == HEADER.lower() and value.strip().isdigit():
                    size = int(value)
                line = self._source.readline(PIECE)
            yield from self._body(size)
            line = self._source.readline(PIECE)

    def _body(self, size: int) -> Iterator[bytes]:
        """Yield one message in pieces: outside of a text, where none may stand, the end of a line is a space."""
        while size > 0 and (piece := self._source.read(min(size, PIECE))):
            size -= len(piece)
            yield piece.replace(b"\n", b" ").replace(b"\r", b" ")
        yield b"\n"


def _lines(connection: socket.socket) -> Iterator[bytes]:
    """Yield what the lead says, message by message, until it has nothing more to say."""
    rest = b""
    with suppress(ConnectionError):
        while data := connection.recv(PIECE):
            *lines, rest = (rest + data).split(b"\n")
            yield from lines


_HINT = "pro0 team resume"
