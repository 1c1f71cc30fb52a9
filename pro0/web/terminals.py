"""The WebSocket of one member's terminal: its screen goes out, and keys come in once somebody has taken the keyboard.

Frames are binary messages for a terminal of the size sent before: first the whole screen, then changes. All other
messages are JSON texts. A slow browser gets fewer frames, each with all changes so far; nobody waits for it.
"""

import asyncio
import json
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio.to_thread
from starlette.websockets import WebSocket, WebSocketDisconnect

from pro0.errors import Pro0Error
from pro0.model.home import Device, Rights
from pro0.model.ids import HUMAN
from pro0.ops.context import clock
from pro0.store.teams import Store, TeamStore
from pro0.web.admitted import Admitted
from pro0.web.client import require
from pro0.web.proof import FORBIDDEN, PROTOCOL, Doorkeeper
from pro0.web.screen import LARGEST, BrowserScreen
from pro0.web.sources import Captured, GuardTerminal, MemberSession, session_of

BATCH = 0.008
"""Seconds that changes are gathered before they are sent."""
AGAIN = 1.0
"""Seconds until a member whose session is over is looked at again."""
KEYS_LIMIT = 1 << 14
"""The largest message of keys: an agent's terminal takes as much at once."""


class Terminals:
    """All terminals that browsers look at."""

    def __init__(self, home: Path, doorkeeper: Doorkeeper, admitted: Admitted) -> None:
        self._home = home
        self._doorkeeper = doorkeeper
        self._admitted = admitted

    async def show(self, web: WebSocket) -> None:
        """Show one member's terminal."""
        device = await self._doorkeeper.device_of(web)
        if device is None:
            return
        if self._admitted.full:
            await web.close(FORBIDDEN)
            return
        try:
            team = Store(self._home).team(web.path_params["team"])
            session = await anyio.to_thread.run_sync(session_of, team, web.path_params["member"])
        except Pro0Error:
            await web.close(FORBIDDEN)
            return
        await web.accept(PROTOCOL)
        shown = _Shown(web, team, web.path_params["member"], device)
        with self._admitted.holding(device):
            try:
                await shown.run(session)
            except asyncio.CancelledError:
                with suppress(RuntimeError, WebSocketDisconnect):
                    await web.close(FORBIDDEN)  # the device is revoked, or the server ends


class _Shown:
    """One member's terminal in one browser."""

    def __init__(self, web: WebSocket, team: TeamStore, member: str, device: Device) -> None:
        self._web = web
        self._team = team
        self._member = member
        self._device = device
        self._screen = BrowserScreen()
        self._size = (0, 0)
        """The size that the browser wants, once it has the keyboard."""
        self._source: GuardTerminal | Captured | None = None
        self._changed = asyncio.Event()

    async def run(self, session: MemberSession) -> None:
        """Show the terminal until the browser leaves."""
        tasks = [asyncio.create_task(work) for work in (self._hear(), self._follow(session), self._send())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self, session: MemberSession) -> None:
        """Apply the screens of the member's sessions, one session after the other."""
        while True:
            handle = session.handle
            live = GuardTerminal(handle) if handle and session.live else None
            self._source = live or Captured(session, partial(self._is_over, session))
            self._screen.again()
            await self._tell("session", over=session.over, live=session.live)
            async for _ in self._source.frames(self._screen):
                self._changed.set()
                if live and live.refused:
                    live.refused = False
                    await self._tell("refused", message="the agent does not read what is typed; the rest is dropped")
            self._source = None
            before, session = session, await self._present()
            while session == before:
                await asyncio.sleep(AGAIN)
                session = await self._present()
                if not session.over:
                    break

    async def _present(self) -> MemberSession:
        return await anyio.to_thread.run_sync(session_of, self._team, self._member)

    def _is_over(self, session: MemberSession) -> bool:
        return session_of(self._team, self._member) != session

    async def _send(self) -> None:
        """Send changes as fast as the browser takes them."""
        size = (0, 0)
        while True:
            await self._changed.wait()
            await asyncio.sleep(BATCH)
            self._changed.clear()
            if size != self._screen.size:
                size = self._screen.size
                await self._tell("size", columns=size[0], lines=size[1])
            await self._web.send_bytes(self._screen.changes().encode(errors="replace"))

    async def _hear(self) -> None:
        while True:
            message = await self._web.receive()
            if message["type"] != "websocket.receive":
                return
            try:
                wish = json.loads(message.get("text") or "")
                await self._do(wish["type"], wish)
            except (ValueError, KeyError, TypeError, RecursionError):
                await self._tell("refused", message="a message must be an object with a type")
            except Pro0Error as error:
                await self._tell("refused", message=error.message, code=error.code, hint=error.hint)

    async def _do(self, kind: str, wish: dict[str, object]) -> None:
        if kind == "take":
            await anyio.to_thread.run_sync(self._take)
            self._screen.typing = True
            self._changed.set()
            self._fit()
            await self._tell("taken", taken=True)
        elif kind == "leave":
            self._screen.typing = False
            self._changed.set()
            await self._tell("taken", taken=False)
        elif kind == "resize":
            columns, lines = wish["columns"], wish["lines"]
            if not (_is_length(columns) and _is_length(lines)):
                raise ValueError(wish)
            self._size = (int(str(columns)), int(str(lines)))
            self._fit()
        elif kind == "keys" and isinstance(data := wish["data"], str) and len(data) <= KEYS_LIMIT:
            await self._type(data.encode(errors="replace"))
        elif kind == "there":  # sent after a sleep or a change of network
            await self._tell("there")
        else:
            raise ValueError(kind)

    def _take(self) -> None:
        require(self._team.paths.home, self._device, Rights.ALL, "to type")
        self._team.log_event(clock(), HUMAN, "terminal.taken", member=self._member, device=self._device.name)

    def _fit(self) -> None:
        if self._screen.typing and any(self._size) and self._source:
            self._source.resize(*self._size)

    async def _type(self, data: bytes) -> None:
        if not self._screen.typing:
            await self._tell(
                "refused", message="this page has not taken the keyboard", code="not_allowed", hint="take it first"
            )
            return
        taken = False
        if self._source:
            taken = await self._source.type(data)
        if not taken:
            await self._tell("refused", message="the session takes no keys now")

    async def _tell(self, kind: str, **news: object) -> None:
        await self._web.send_text(json.dumps({"type": kind, **news}))


def _is_length(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 2 <= value <= LARGEST
