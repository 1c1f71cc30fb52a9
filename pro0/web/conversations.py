"""The WebSockets of JSON-RPC: each carries messages between a browser and its team's server in this process.

Leads use the same server (`rpc/server.py`), so the same order, limits and subscriptions apply here.
"""

import asyncio
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

import anyio.to_thread
from starlette.websockets import WebSocket, WebSocketDisconnect

from pro0.errors import NotFound, Pro0Error
from pro0.model.home import Device
from pro0.rpc.client import RpcClient
from pro0.rpc.lists import Lists
from pro0.rpc.server import RpcServer
from pro0.store.teams import Store, TeamStore
from pro0.web.admission import PageAddress
from pro0.web.admitted import Admitted
from pro0.web.client import DeviceClient
from pro0.web.home import starting, teams
from pro0.web.home.client import HomeClient
from pro0.web.home.server import HomeServer
from pro0.web.proof import FORBIDDEN, PROTOCOL, Doorkeeper

NORMAL = 1000
"""The close code after a normal end."""
FULL = 1013
"""The close code while too many WebSockets are open: the browser may try again later."""
PIECE = 64 * 1024
"""Bytes that are buffered here for a slow browser; all others wait at their source."""
HOME_FAMILIES = (teams, starting)
"""The modules whose methods a home has."""


class Conversations:
    """All conversations of one page."""

    def __init__(self, address: PageAddress, doorkeeper: Doorkeeper) -> None:
        self._address = address
        self._doorkeeper = doorkeeper
        self._store = Store(address.home)
        self._servers: dict[tuple[str, str, str], RpcServer] = {}
        """By the name of the team, where its documents are, and its uid."""
        self._held: Counter[RpcServer] = Counter()
        """How many conversations each server has."""
        self.admitted = Admitted(address.home)

    async def home(self, web: WebSocket) -> None:
        """Serve a conversation about the home."""
        await self._admit(web, "", lambda device, lists: HomeClient(self._address.home, device, lists))

    async def team(self, web: WebSocket) -> None:
        """Serve a conversation about one team."""
        try:
            team = self._store.team(web.path_params["team"])
        except Pro0Error:
            await web.close(FORBIDDEN)
            return
        await self._admit(web, team.name, lambda device, lists: DeviceClient(team, device, lists))

    def close(self) -> None:
        """End all servers."""
        for server in self._servers.values():
            server.close()

    async def _admit(self, web: WebSocket, name: str, client: Callable[[Device, Lists], RpcClient]) -> None:
        device = await self._doorkeeper.device_of(web)
        if device is None:
            return
        if name and not self._store.team(name).exists():
            await web.close(FORBIDDEN)
            return
        await web.accept(PROTOCOL)
        if self.admitted.full:  # before it is accepted, a browser learns no close code
            await web.close(FULL)
            return
        ours, theirs = socket.socketpair()
        with self.admitted.holding(device), closing(ours), self._holding(await self._server(name)) as server:
            server.adopt(theirs, lambda lists: client(device, lists))
            code = FORBIDDEN  # the device is revoked, or the server ends
            try:
                await _carry(web, ours)
                code = NORMAL
            except asyncio.CancelledError:
                pass
            with suppress(RuntimeError, WebSocketDisconnect):  # the browser has gone
                await web.close(code)

    @contextmanager
    def _holding(self, server: RpcServer) -> Iterator[RpcServer]:
        """Count a conversation of a server. When one ends, the idle servers of gone teams end too.

        The server of a living team stays: it knows the changes missed by a browser during a cut.
        """
        self._held[server] += 1
        try:
            yield server
        finally:
            self._held[server] -= 1
            if not self._held[server]:
                del self._held[server]
            self._end_those_of_gone_teams()

    def _end_those_of_gone_teams(self) -> None:
        for key, server in list(self._servers.items()):
            name, _, uid = key
            if name and server not in self._held and _uid(self._address, name) not in (uid, None):
                del self._servers[key]
                server.end()

    async def _server(self, name: str) -> RpcServer:
        """Return the server of a team, or of the home; end that of an earlier team of the same name."""
        team = TeamStore(self._address.home, name) if name else None
        # After a copy of its documents, a team is watched at their new place.
        place = str(team.documents.team.path) if team else ""
        uid = await anyio.to_thread.run_sync(_uid, self._address, name) if team else ""
        if uid is None:  # a failed read does not prove another team: the present server stays, for its other browsers
            uid = next((earlier_uid for *where, earlier_uid in self._servers if where == [name, place]), "")
        key = (name, place, uid)
        for other in [other for other in self._servers if other[0] == name and other != key]:
            if server := self._servers.pop(other, None):  # None when another conversation was faster
                await anyio.to_thread.run_sync(server.close)
        if key not in self._servers:
            server = RpcServer(team) if team else HomeServer(self._address.home)
            server.start()  # before it is stored: a server without a thread would answer nobody
            self._servers[key] = server
        return self._servers[key]


def _uid(address: PageAddress, name: str) -> str | None:
    """Return the uid of a team, "" for no team, None while it cannot be read."""
    try:
        return TeamStore(address.home, name).config.read().uid
    except NotFound:
        return ""
    except Pro0Error:
        return None


async def _carry(web: WebSocket, connection: socket.socket) -> None:
    """Carry messages both ways until either side ends."""
    reader, writer = await asyncio.open_connection(sock=connection, limit=PIECE)
    tasks = [asyncio.create_task(_inward(web, writer)), asyncio.create_task(_outward(web, reader))]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        writer.close()


async def _inward(web: WebSocket, writer: asyncio.StreamWriter) -> None:
    async for message in web.iter_text():
        # In JSON, line breaks may only occur between tokens, where a space means the same.
        writer.write(message.replace("\n", " ").replace("\r", " ").encode(errors="replace") + b"\n")
        await writer.drain()


async def _outward(web: WebSocket, reader: asyncio.StreamReader) -> None:
    rest = b""
    while data := await reader.read(PIECE):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            await web.send_text(line.decode())
