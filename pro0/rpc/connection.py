"""One connection: its waiting requests and its output; nothing here blocks."""

import selectors
import socket
from collections import deque

from pro0.rpc.client import RpcClient
from pro0.rpc.protocol import RpcConversation, RpcRequest
from pro0.wire import JSON, Fault, LineSplitter

CALL_LIMIT = 64
"""The number of requests under way at which no more are read."""
OUT_LIMIT = 256 * 1024
"""Unread bytes at which no more of the client's requests are read or performed, and no progress is sent."""
PIECE = 64 * 1024


class RpcConnection:
    """One client of a socket."""

    def __init__(self, connection: socket.socket, client: RpcClient) -> None:
        connection.setblocking(False)
        self.socket = connection
        self.client = client
        self.requests: deque[RpcRequest] = deque()
        self.busy = False
        """True while one of its requests is performed, or its news are gathered."""
        self.due = False
        """True when there may be news for its subscriptions."""
        self._conversation = RpcConversation(self.say, self.requests.append)
        self._lines = LineSplitter()
        self._out = bytearray()
        self._ended = self._broken = False

    def say(self, message: JSON) -> None:
        """Queue a message to be sent."""
        self._out += message.encode() + b"\n"

    def mention(self, message: JSON) -> None:
        """Send an optional message; drop it for a client that does not read."""
        if not self.clogged:
            self.say(message)

    def finish(self, request: RpcRequest, outcome: JSON | Fault) -> None:
        """Answer a request."""
        self._conversation.finish(request, outcome)

    def read(self) -> None:
        """Read what the client sent. Its last line may lack a line break."""
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
        """Read no more. The connection is over once all requests are answered and the answers are sent."""
        self._ended = True

    def cut(self) -> None:
        """End the connection without an answer, after an unforeseen failure of a job for it."""
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
        """Return the events that this connection waits for; 0 for none."""
        hungry = not self._ended and self._conversation.under_way < CALL_LIMIT and not self.clogged
        return (selectors.EVENT_READ if hungry else 0) | (selectors.EVENT_WRITE if self._out else 0)

    @property
    def clogged(self) -> bool:
        """Return True when the client does not read what it is told."""
        return len(self._out) >= OUT_LIMIT

    @property
    def next(self) -> RpcRequest | None:
        """Return the next request to perform, None when there is none now."""
        return self.requests.popleft() if self.requests and not self.busy and not self.clogged else None

    @property
    def tellable(self) -> bool:
        """Return True when its news may be gathered now. Late news are fewer, so a slow client costs no memory."""
        idle = not self.busy and not self.requests and not self._out
        subscriptions = self.client.subscriptions
        return idle and (self.due or subscriptions.owing) and bool(subscriptions)

    @property
    def over(self) -> bool:
        """Return True when nothing more will happen on this connection."""
        return self._broken or (self._ended and not self._conversation.under_way and not self._out)
