"""One connection: its waiting requests and its output; nothing here blocks."""

import selectors
import socket
from collections import deque

from pro0.rpc.client import RpcClient
from pro0.rpc.protocol import RpcConversation, RpcRequest
from pro0.wire import JSON, Fault, LineSplitter

CALL_LIMIT = 64
"""Requests under way at which no more are read."""
OUT_LIMIT = 256 * 1024
"""Bytes that the client has not read at which no more of its requests are read, done or told of."""
PIECE = 64 * 1024


class RpcConnection:
    """One client of a socket."""

    def __init__(self, connection: socket.socket, client: RpcClient) -> None:
        connection.setblocking(False)
        self.socket = connection
        self.client = client
        self.requests: deque[RpcRequest] = deque()
        self.busy = False
        """True while a request of it is done, or its news are gathered."""
        self.due = False
        """True when there may be news for its subscriptions."""
        self._conversation = RpcConversation(self.say, self.requests.append)
        self._lines = LineSplitter()
        self._out = bytearray()
        self._ended = self._broken = False

    def say(self, message: JSON) -> None:
        """Put a message where it waits to be sent."""
        self._out += message.encode() + b"\n"

    def mention(self, message: JSON) -> None:
        """Send an optional message; drop it for a client that does not read."""
        if not self.clogged:
            self.say(message)

    def finish(self, request: RpcRequest, outcome: JSON | Fault) -> None:
        """Answer a request."""
        self._conversation.finish(request, outcome)

    def read(self) -> None:
        """Take in what the client sent; the last line may lack its end."""
        try:
            data = self.socket.recv(PIECE)
        except BlockingIOError:
            return
        except OSError:
            self._broken = True
            return
        self._ended = not data
        for line in self._lines.feed(data or b"\n"):
            self._conversation.receive(line)

    def end(self) -> None:
        """Take nothing more; it is over once all is answered and sent."""
        self._ended = True

    def cut(self) -> None:
        """Be over, with no answer: what was done for it failed in a way that nobody foresaw."""
        self.busy, self._broken = False, True

    def write(self) -> None:
        """Send what the client takes in now."""
        try:
            while self._out:
                del self._out[: self.socket.send(self._out[:PIECE])]
        except BlockingIOError:
            pass
        except OSError:
            self._broken = True

    @property
    def interest(self) -> int:
        """Return for which events this waits; 0 for none but its end."""
        hungry = not self._ended and self._conversation.under_way < CALL_LIMIT and not self.clogged
        return (selectors.EVENT_READ if hungry else 0) | (selectors.EVENT_WRITE if self._out else 0)

    @property
    def clogged(self) -> bool:
        """Return True when the client does not read what it is told."""
        return len(self._out) >= OUT_LIMIT

    @property
    def next(self) -> RpcRequest | None:
        """Return the next request to be done, None for none now."""
        return self.requests.popleft() if self.requests and not self.busy and not self.clogged else None

    @property
    def tellable(self) -> bool:
        """Return True when its news may be gathered now: late ones are fewer, so a slow client costs no memory."""
        idle = not self.busy and not self.requests and not self._out
        subscriptions = self.client.subscriptions
        return idle and (self.due or subscriptions.owing) and bool(subscriptions)

    @property
    def over(self) -> bool:
        """Return True when nothing more comes of it."""
        return self._broken or (self._ended and not self._conversation.under_way and not self._out)
