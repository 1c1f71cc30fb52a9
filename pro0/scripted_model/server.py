"""A model provider on 127.0.0.1 whose models are scripts: four families of API, every request kept."""

import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from types import ModuleType
from typing import NoReturn
from urllib.parse import urlsplit

from pro0.scripted_model import anthropic, chat, gemini, responses
from pro0.scripted_model.request import Json, ModelRequest
from pro0.scripted_model.tools import named
from pro0.scripted_model.turns import ModelTurn, Script, TurnUsage, say

FAMILIES: dict[str, ModuleType] = {
    r"/v1/messages": anthropic,
    r"/v1/responses": responses,
    r"/v1/chat/completions": chat,
    r"/v1(?:beta|alpha)?/models/[^/:]+:(?:streamG|g)enerateContent": gemini,
}
COUNTS = re.compile(r"(/v1/messages/count_tokens|:countTokens)$")
COUNTED = {"input_tokens": 100, "totalTokens": 100}
MODELS = {"object": "list", "data": [], "models": [], "has_more": False}


@dataclass(frozen=True)
class Exchange:
    """A request and its answer: the script, its turn, and the tokens it reported."""

    marker: str
    request: ModelRequest
    turn: ModelTurn
    usage: TurnUsage


class Provider:
    """Scripted models; a request belongs to the script whose marker is in the instructions or the first prompt.

    An agent that has lost its first prompt gets it again later, so all texts of the user count as well.
    """

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.other: list[str] = []
        """The requests to no model: method and path."""
        self.refused: list[str] = []
        """The other machines, with ports, that agents asked for through the proxy."""
        self.faults: list[str] = []
        """The requests unknown to this provider, and its own errors; they prove nothing about the agent."""
        self.closing = threading.Event()
        self._scripts: dict[str, Script] = {}
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._server = _Server(("127.0.0.1", 0), _Conversation)
        self._server.provider = self

    @property
    def url(self) -> str:
        """The address for the agents' settings, without `/v1`."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def script(self, marker: str, script: Script) -> None:
        """Let a script answer the requests that begin with this marker, from now on."""
        self._scripts[marker] = script

    def of(self, marker: str) -> list[Exchange]:
        """Return the exchanges of one script, in order."""
        return [exchange for exchange in self.exchanges if exchange.marker == marker]

    def results(self, marker: str) -> list[str]:
        """Return the answers to one script's tool calls, in order."""
        return [result for exchange in self.of(marker) for result in exchange.request.results()]

    def spent(self, marker: str) -> TurnUsage:
        """Return the tokens that the answers of one script were said to cost; errors cost nothing."""
        return sum((exchange.usage for exchange in self.of(marker)), TurnUsage())

    def answer(self, request: ModelRequest) -> tuple[int, Exchange]:
        """Ask the script for its turn and keep the exchange; return the exchange and its number, from 1."""
        with self._lock:
            number = next(self._numbers)
            script_names = (one for text in (request.opening, request.heard) for one in self._scripts if one in text)
            marker = next(script_names, "")
            if request.aside or not marker:
                exchange = Exchange("", request, say("A title"), TurnUsage(1, 0, 1))
            else:
                turn = self._scripts[marker](request)
                usage = TurnUsage(1000 + number, 300 + number, 20 + number) if turn.status == 200 else TurnUsage()
                exchange = Exchange(marker, request, turn, usage)
            self.exchanges.append(exchange)
        return number, exchange

    @contextmanager
    def serving(self) -> Iterator["Provider"]:
        """Answer until the end of the block; requests still waiting then get no answer."""
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield self
        finally:
            self.closing.set()
            self._server.shutdown()
            thread.join()
            self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    provider: Provider

    def handle_error(self, *_: object) -> None:
        """Say nothing about an agent that hung up, and keep any other error."""
        error = sys.exception()
        if not isinstance(error, OSError):
            self.provider.faults.append(f"{type(error).__name__}: {error}")


class _Conversation(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_CONNECT(self) -> None:
        """Act as a proxy that leads only to this provider: refuse and note requests for other machines."""
        if self.path.rpartition(":")[2] == str(self.server.server_port) and _is_loopback(self.path):
            self.send_response(200)
            self.end_headers()
        else:
            self._refuse()

    def do_POST(self) -> None:
        """Answer a request of any kind."""
        if self._is_elsewhere():
            self._refuse()
            return
        path = urlsplit(self.path).path
        modules = (module for pattern, module in FAMILIES.items() if re.fullmatch(pattern, path))
        family = next(modules, None) if self.command == "POST" else None
        try:
            sent = self._body()
            request: ModelRequest | None = family.read(json.loads(sent), path) if family else None
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            self._misunderstand(error)
            return
        if family and request:
            self._converse(family, request)
        elif self.command == "POST":
            self._other(COUNTED if COUNTS.search(path) else {})
        else:
            self._other(MODELS if path.endswith("/models") else {})

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_POST  # noqa: N815 - http.server's

    def log_message(self, *_: object) -> None:
        """Log nothing: the lists of the provider are the log."""

    def _body(self) -> bytes:
        """Return the body of a request; raises ValueError when its length is not known."""
        if self.headers.get("Transfer-Encoding", "").strip().lower() == "chunked":
            return b"".join(self._chunks())
        return self._read(int(self.headers.get("Content-Length") or 0))

    def _chunks(self) -> Iterator[bytes]:
        while size := int((self.rfile.readline() or _hung_up()).partition(b";")[0], 16):
            yield self._read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass

    def _read(self, size: int) -> bytes:
        if size < 0:
            raise ValueError(f"a body cannot have the length {size}")
        sent = self.rfile.read(size)
        return sent if len(sent) == size else _hung_up()

    def _misunderstand(self, error: Exception) -> None:
        """Keep a request that cannot be read, and answer with a provider's error."""
        why = f"{self.command} {self.path}: {type(error).__name__}: {error}"
        self.server.provider.faults.append(why)
        self._send(400, {"error": {"type": "invalid_request_error", "message": why}}, {"Connection": "close"})

    def _converse(self, family: ModuleType, request: ModelRequest) -> None:
        number, exchange = self.server.provider.answer(request)
        turn = exchange.turn
        while turn.after and not turn.after.wait(0.05):
            if self.server.provider.closing.is_set():
                return
        if turn.status != 200:
            waits = {} if turn.retry_after is None else {"Retry-After": str(turn.retry_after)}
            self._send(turn.status, family.error(turn.status, turn.text or f"scripted error {turn.status}"), waits)
            return
        calls = [named(call, request.tools) for call in turn.calls]
        if request.stream:
            self._stream(family.stream(turn.text, calls, exchange.usage, number))
        else:
            self._send(200, family.whole(turn.text, calls, exchange.usage, number))

    def _stream(self, events: Iterator[bytes]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for one in events:
            self.wfile.write(one)
            self.wfile.flush()

    def _is_elsewhere(self) -> bool:
        """Return True for a request to a proxy about another machine."""
        return "://" in self.path.split("?")[0] and not _is_loopback(urlsplit(self.path).netloc)

    def _refuse(self) -> None:
        self.server.provider.refused.append(urlsplit(self.path).netloc or self.path)
        with suppress(ValueError):
            self._body()  # an unread body would break the connection
        self.close_connection = True  # no answer at all: after an error an agent may ask again and again

    def _other(self, body: Json) -> None:
        self.server.provider.other.append(f"{self.command} {self.path}")
        self._send(200, body)

    def _send(self, status: int, body: Json, headers: dict[str, str] | None = None) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def _hung_up() -> NoReturn:
    raise ConnectionResetError("the agent hung up")


def _is_loopback(place: str) -> bool:
    return place.rpartition(":")[0] in ("127.0.0.1", "localhost")
