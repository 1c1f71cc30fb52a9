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
"""The most digits of a length. The lead refuses a message that is too long, which is never read whole."""
PIECE = 64 * 1024
_HEADER_LINE = re.compile(rb"[A-Za-z][A-Za-z0-9-]*[ \t]*:")
"""The beginning of a header, and of no JSON value."""


def bridge(team: TeamStore, source: int, sink: IO[bytes]) -> None:
    """Carry messages both ways until either side ends.

    Raises NotFound when the lead serves no socket, EnvironmentMissing when the lead ends first, and BadInput when the
    input cannot be read or a message lacks its length. The lead sees this process as its client, and its ancestors tell
    whose it is.
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
    """The messages of a client, each sent to the socket as one line."""

    def __init__(self, source: int) -> None:
        # Only the reading thread closes it. That thread may still wait when this process ends, and a close would too.
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
        """Send all messages, then shut down this half of the connection."""
        try:
            for piece in self._messages():
                self._count(piece)
                connection.sendall(piece)
            self._count(b"\n")  # the last line may lack its end
            self.ended = True
        except ConnectionError:
            pass  # the lead has gone, which the other half reports
        except OSError as error:
            self.ended, self.fault = True, unread(error)
        finally:
            self._source.close()
            with suppress(OSError):
                connection.shutdown(socket.SHUT_WR)

    def _count(self, piece: bytes) -> None:
        """Count the answers that the lead will give, by reading the messages as the lead does."""
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
        """Yield the messages that have headers; `line` is the first line of the first header."""
        while line:
            headed, size = False, b""
            while line.strip():
                name, _, value = line.partition(b":")
                if name.strip().lower() == HEADER.lower():
                    size = value.strip()
                headed = True
                line = self._source.readline(PIECE)
            if headed and not (size.isdigit() and len(size) <= DIGITS):
                error_text = f"a message has no numeric {HEADER.decode()}, so its end is not known"
                self.fault = BadInput(error_text, hint="send Content-Length: N, an empty line, N bytes")
                yield HEADER + b"\n"  # no JSON: the lead answers it with a parse error
                return
            yield from self._body(int(size or 0))
            line = self._source.readline(PIECE)

    def _body(self, size: int) -> Iterator[bytes]:
        """Yield one message in pieces, with its line breaks as spaces: JSON has none of them inside a string."""
        while size > 0 and (piece := self._source.read(min(size, PIECE))):
            size -= len(piece)
            yield piece.replace(b"\n", b" ").replace(b"\r", b" ")
        yield b"\n"


def _lines(connection: socket.socket) -> Iterator[bytes]:
    """Yield the lead's messages one by one, until it closes the connection."""
    rest = b""
    with suppress(ConnectionError):
        while data := connection.recv(PIECE):
            *lines, rest = (rest + data).split(b"\n")
            yield from lines


_HINT = "pro0 team resume"
