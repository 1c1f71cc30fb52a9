"""The checks of every request and upgrade before anything else sees it: its origin, its host and its form.

Middleware of HTTP frameworks does not always see WebSockets. This class wraps the whole application.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pro0.web.neighbours import comes_from_us

PAIR = "/pair"
BODY_LIMIT = 4096
"""The largest body of a request, in bytes."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-cache",
}


class PageAddress(NamedTuple):
    """The address of a home's page: the names for browsers to use, and the URL."""

    home: Path
    port: int
    hosts: frozenset[str]
    """Host headers, with ports."""
    origins: frozenset[str]
    url: str
    secure: bool = False
    """True when browsers reach it by https only."""
    local: bool = True
    """True when only programs of this user on this machine may connect."""


class Admission:
    """The outermost ASGI application: nothing behind it sees a refused request."""

    def __init__(self, app: ASGIApp, address: PageAddress) -> None:
        self._app = app
        self._address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if scope["type"] == "http":
            await self._http(scope, receive, send, refusal)
        elif refusal:
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send, refusal: Response | None) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                names = {name for name, _ in extra}
                remaining = [(name, value) for name, value in message["headers"] if name.lower() not in names]
                message = {**message, "headers": [*remaining, *extra]}
            await send(message)

        await (refusal or self._app)(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = _headers(scope)
        if self._address.local and not comes_from_us(scope):
            return Response(status_code=403)
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if len(hosts) != 1 or hosts[0] not in self._address.hosts:
            return refused("this page is not served under this name", 421)
        known_origin = len(origins) == 1 and origins[0] in self._address.origins
        if origins and not known_origin:
            return refused("the request comes from another page")
        if scope["type"] == "websocket":
            return None if known_origin else refused("the request does not say which page sent it")
        return _form_refusal(scope, headers, known_origin=known_origin)


def refused(why: str, status: int = 403) -> Response:
    """Return the answer that refuses a request."""
    return JSONResponse({"error": {"message": why}}, status)


def _form_refusal(scope: Scope, headers: Mapping[str, list[str]], *, known_origin: bool) -> Response | None:
    if "transfer-encoding" in headers and "content-length" in headers:
        return refused("the request has two lengths", 400)
    if scope["method"] in ("GET", "HEAD"):
        return None if scope["path"] != PAIR else refused("only POST is allowed here", 405)
    if scope["method"] != "POST" or scope["path"] != PAIR:
        return refused("only GET is allowed here", 405)
    if not known_origin:
        return refused("the request does not say which page sent it")
    if headers.get("content-type") != ["application/json"]:
        return refused("the body must be application/json", 415)
    length = headers.get("content-length", [""])[0]
    if not (length.isascii() and length.isdigit() and int(length) <= BODY_LIMIT):
        return refused(f"a body has at most {BODY_LIMIT} bytes", 413)
    return None


def _headers(scope: Scope) -> dict[str, list[str]]:
    """Return all values of each header, read as Latin-1; a value with other letters equals no allowed one."""
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return headers
