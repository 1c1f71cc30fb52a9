"""A browser that is not one: it pairs, keeps its cookie and its secret, and speaks over WebSockets."""

import asyncio
import contextlib
import http.client
import json
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple

from websockets.sync.client import ClientConnection, connect

from tests.waiting import STUCK


class Answer(NamedTuple):
    """What came of one request."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Return the body as JSON."""
        return json.loads(self.body)


class Wire:
    """One WebSocket of JSON-RPC."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self._last = 0
        self.told: list[Any] = []
        """Notifications that came while an answer was waited for."""

    def ask(self, method: str, **params: object) -> Any:
        """Send a request and return its response."""
        self._last += 1
        self.socket.send(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}))
        while (heard := self._hear()).get("id") != self._last or "method" in heard:
            self.told.append(heard)
        return heard

    def result(self, method: str, **params: object) -> Any:
        """Return the result of a request."""
        heard = self.ask(method, **params)
        assert "result" in heard, heard
        return heard["result"]

    def refused(self, method: str, **params: object) -> str:
        """Return the code with which a request is refused."""
        heard = self.ask(method, **params)
        assert "error" in heard, heard
        return str(heard["error"].get("data", {}).get("code", heard["error"]["code"]))

    def next_notice(self) -> Any:
        """Return the next notification."""
        return self.told.pop(0) if self.told else self._hear()

    def _hear(self) -> Any:
        return json.loads(self.socket.recv(STUCK))


class Browser:
    """One browser at the address of a page."""

    def __init__(self, url: str, tls: ssl.SSLContext | None = None) -> None:
        self.tls = tls
        self.base, _, code = url.partition("/#pair=")
        self.base = self.base.rstrip("/")
        self.code = code
        self.cookie = self.secret = self.id = self.rights = ""
        self._open = ExitStack()

    @property
    def host(self) -> str:
        """Return the name and port of the page."""
        return self.base.partition("//")[2]

    def request(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None, **kwargs: Any
    ) -> Answer:
        """Send a request with exactly these headers, beside Host and the length."""
        connection = (
            http.client.HTTPSConnection(self.host, timeout=STUCK, context=self.tls, **kwargs)
            if self.tls
            else http.client.HTTPConnection(self.host, timeout=STUCK, **kwargs)
        )
        try:
            connection.request(method, path, body or None, dict(headers or {}))
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def pair(self, code: str | None = None, name: str = "a test") -> Answer:
        """Exchange the code for a cookie and a secret."""
        body = json.dumps({"code": self.code if code is None else code, "name": name}).encode()
        answer = self.request("POST", "/pair", body, {"Content-Type": "application/json", "Origin": self.base})
        if answer.status == 200:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
            self.secret, self.id, self.rights = (answer.json[name] for name in ("secret", "id", "rights"))
        return answer

    def open(self, path: str, **changes: Any) -> ClientConnection:
        """Open a WebSocket as the page does."""
        plain = {"sock": without_tls(self.host, self.tls)} if self.tls else {}
        settings: dict[str, Any] = {
            "origin": self.base,
            "subprotocols": ["pro0", f"secret.{self.secret}"],
            "additional_headers": {"Cookie": self.cookie} if self.cookie else {},
            "proxy": None,
            "open_timeout": STUCK,
            "max_size": None,
            **plain,
            **changes,
        }
        connection: ClientConnection = connect(f"ws://{self.host}{path}", **settings)
        return self._open.enter_context(connection)

    def rpc(self, team: str = "") -> Wire:
        """Speak about a team, or about the home."""
        return Wire(self.open(f"/rpc/{team}" if team else "/rpc"))

    def close(self) -> None:
        """Close what is open."""
        self._open.close()


def without_tls(host: str, tls: ssl.SSLContext) -> socket.socket:
    """Return a connection to a server with TLS, which one thread speaks.

    The client reads in one thread and writes in another, and until Python 3.13 no connection with TLS bears both: now
    and then a message was lost.
    """
    near, far = socket.socketpair()
    threading.Thread(target=asyncio.run, args=[_carried(far, host, tls)], daemon=True).start()
    return near


async def _carried(far: socket.socket, host: str, tls: ssl.SSLContext) -> None:
    name, _, port = host.rpartition(":")
    reader, writer = await asyncio.open_connection(sock=far)
    page_reader, page_writer = await asyncio.open_connection(name, int(port), ssl=tls)
    await asyncio.gather(pump(reader, page_writer), pump(page_reader, writer))


async def pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Hand every byte on, and then the end."""
    with contextlib.suppress(OSError):
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
    target.close()
