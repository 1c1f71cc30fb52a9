"""A bridge between stdin, stdout and the socket of a lead: for editors, which start programs and speak to them."""

import os
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

from pro0.errors import BadInput, EnvironmentMissing, NotFound, unread
from pro0.rpc.protocol import RpcConversation, is_notice
from pro0.store.paths import SOCKET
from pro0.store.teams import TeamStore
from pro0.terminals import address
from pro0.wire import LINE_LIMIT, LineSplitter

HEADER = b"Content-Length"
DIGITS = 18
"""Digits of a length, at most: what is longer than a message may be is told so by the lead, and never read whole."""
PIECE = 64 * 1024
_HEADER_LINE = re.compile(rb"[A-Za-z][A-Za-z0-9-]*[ \t]*:")
"""How a header begins, and no value of JSON."""


def bridge(team: TeamStore, source: int, sink: IO[bytes]) -> None:
    """Carry messages both ways until either side ends.

    Raises EnvironmentMissing when the lead goes first, BadInput when the input cannot be read or a message does not say
    how long it is.
    Who speaks at the socket is then this process, which is whoever's its ancestors say.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            with address.reachable(str(team.paths.team / SOCKET)) as short:
                connection.connect(short)
        except OSError as error:
            raise NotFound(f"the lead of {team.name} serves no socket: {error}", hint=_HINT) from None
        carried, answers = _Carried(source), 0
        threading.Thread(target=carried.to, args=(connection,), daemon=True).start()
        for line in _lines(connection):
            sink.write(b"%s: %d\r\n\r\n%s" % (HEADER, len(line), line) if carried.framed else line + b"\n")
            sink.flush()
            answers += not is_notice(line)
        if not carried.ended or answers < carried.owed:
            raise EnvironmentMissing(f"the lead of {team.name} has gone", hint=_HINT)
        if carried.fault:
            raise carried.fault


class _Carried:
    """The messages of a client, each on its way to the socket as one line."""

    def __init__(self, source: int) -> None:
        # Closed by the thread that reads alone: it may wait when this process ends, and closing would wait for it.
        try:
            self._source = os.fdopen(source, "rb")
        except OSError as error:  # it is a folder
            raise unread(error) from None
        self._sent = LineSplitter()
        self._conversation = RpcConversation(self._expect, lambda request: self._conversation.finish(request, "null"))
        self.framed = False
        """True when the client puts a header before each message."""
        self.ended = False
        self.owed = 0
        """How many answers the lead owes in all."""
        self.fault: BadInput | None = None
        """Why no more is read."""

    def to(self, connection: socket.socket) -> None:
        """Send all of them, then end this half of the connection."""
        try:
            for piece in self._messages():
                self._count(piece)
                connection.sendall(piece)
            self._count(b"\n")  # the last line may lack its end
            self.ended = True
        except ConnectionError:
            pass  # the lead has gone, which the other half tells
        except OSError as error:
            self.ended, self.fault = True, unread(error)
        finally:
            self._source.close()
            with suppress(OSError):
                connection.shutdown(socket.SHUT_WR)

    def _count(self, piece: bytes) -> None:
        """Count the answers that the lead will give, by what the messages mean to it too."""
        for line in self._sent.feed(piece):
            self._conversation.receive(line)

    def _expect(self, _answer: str) -> None:
        self.owed += 1

    def _messages(self) -> Iterator[bytes]:
        line = self._source.readline(LINE_LIMIT)
        self.framed = bool(_HEADER_LINE.match(line))
        if self.framed:
            yield from self._bodies(line)
            return
        yield line
        while piece := self._source.readline(PIECE):
            yield piece

    def _bodies(self, line: bytes) -> Iterator[bytes]:
        """Yield the messages behind headers, of which the first line is this one."""
        while line:
            headed, size = False, b""
            while line.strip():
                name, _, value = line.partition(b":")
                if name.strip().lower() == HEADER.lower():
                    size = value.strip()
                headed = True
                line = self._source.readline(PIECE)
            if headed and not (size.isdigit() and len(size) <= DIGITS):
                error_text = f"a message has no {HEADER.decode()} that is a number, so where it ends is not known"
                self.fault = BadInput(error_text, hint="send Content-Length: N, an empty line, N bytes")
                yield HEADER + b"\n"  # no JSON: the lead answers it with a parse error
                return
            yield from self._body(int(size or 0))
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
