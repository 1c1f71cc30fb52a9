"""The application: files of the page, pairing, and one WebSocket for each conversation."""

import json
from collections.abc import Callable
from pathlib import Path

import anyio.to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.types import ASGIApp

from pro0.errors import Pro0Error
from pro0.ops import devices
from pro0.web.admission import BODY_LIMIT, PAIR, Admission, PageAddress, refused
from pro0.web.conversations import Conversations
from pro0.web.files import PageFiles
from pro0.web.proof import Doorkeeper, cookie_name
from pro0.web.terminals import Terminals

PAGE = Path(__file__).with_name("page")
A_YEAR = 365 * 24 * 3600


class Page:
    """Everything that is served for one home."""

    def __init__(self, address: PageAddress, say: Callable[[str], None]) -> None:
        """`say` receives the reason when no browser can be let in."""
        self._address = address
        doorkeeper = Doorkeeper(address, say)
        self.conversations = Conversations(address, doorkeeper)
        terminals = Terminals(address.home, doorkeeper, self.conversations.admitted)
        routes = [
            Route(PAIR, self._pair, methods=["POST"]),
            WebSocketRoute("/rpc", self.conversations.home),
            WebSocketRoute("/rpc/{team}", self.conversations.team),
            WebSocketRoute("/terminal/{team}/{member}", terminals.show),
            Mount("/", PageFiles(PAGE)),
        ]
        self.app: ASGIApp = Admission(Starlette(routes=routes), address)

    def close(self) -> None:
        """End the servers of its conversations."""
        self.conversations.close()

    async def _pair(self, request: Request) -> Response:
        try:
            wish = json.loads(await _body(request))
            code, name = wish["code"], wish.get("name", "")
            if not (isinstance(code, str) and isinstance(name, str)):
                raise TypeError
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return refused('the body is {"code": TEXT, "name": TEXT}', 400)
        try:
            device, credentials = await anyio.to_thread.run_sync(devices.pair, self._address.home, code, name)
        except Pro0Error as error:
            return JSONResponse({"error": {"message": error.message, "code": error.code, "hint": error.hint}}, 403)
        pairing = {"id": device.id, "name": device.name, "rights": device.rights, "secret": credentials.secret}
        response = JSONResponse(pairing)
        response.set_cookie(
            cookie_name(self._address),
            credentials.cookie,
            max_age=A_YEAR,
            httponly=True,
            samesite="strict",
            secure=self._address.secure,
        )
        return response


async def _body(request: Request) -> bytes:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > BODY_LIMIT:
            raise ValueError(body)
    return body
