"""The sources of a session's screen: its guard's terminal, live, or else repeated looks at the session."""

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import NamedTuple

import anyio.to_thread

from pro0.engine.places import shown_at
from pro0.errors import Pro0Error
from pro0.model.runtime import ENDED, Handle
from pro0.ops.seats import roster
from pro0.sessions import backend_named
from pro0.sessions.backend import Backend
from pro0.store.teams import TeamStore
from pro0.terminals import address, protocol
from pro0.web.screen import BrowserScreen

LIVE = "in-process"
QUICK, SLOW = 0.25, 1.0
"""Seconds between two looks at a screen that changes, and at one that does not."""
LAST = 3.0
"""Seconds after its last change during which a screen is still looked at quickly."""
TAIL = 200
"""Lines to show of a session without a screen."""
PIECE = 1 << 16


class MemberSession(NamedTuple):
    """One session of a member; `over` is True once it has ended."""

    handle: Handle | None
    over: bool
    mode: str

    @property
    def backend(self) -> Backend:
        """Return the backend of the session."""
        return backend_named(self.mode)

    @property
    def live(self) -> bool:
        """Return True when its guard has a terminal to connect to."""
        return bool(self.handle and self.handle.backend == LIVE and not self.over)


def session_of(team: TeamStore, name: str) -> MemberSession:
    """Return the present session of a member; raises NotFound for an unknown name."""
    team_roster = roster(team.require())
    state = team_roster.state(team_roster.find(name).agent_id)
    handle = shown_at(team, state) if state else None
    return MemberSession(handle, state is None or state.state in ENDED, team.config.read().mode)


class GuardTerminal:
    """A connection to a guard's terminal: it receives frames and sends keys. Only `resize` changes the size."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._inbox = protocol.MessageReader(protocol.FRAME_LIMIT)
        self._size = (0, 0)
        self._writer: asyncio.StreamWriter | None = None
        """None until the guard is reached, and once it is gone."""
        self.refused = False
        """True when the agent did not read what was typed."""

    async def frames(self, screen: BrowserScreen) -> AsyncIterator[None]:
        """Apply frames to the screen until the terminal is gone; yield after each frame, and after each refusal."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.setblocking(False)
        try:
            with address.reachable(self._handle.socket) as short:
                await asyncio.get_running_loop().sock_connect(connection, short)
            if address.peer(connection) != os.geteuid():
                raise ConnectionError("the socket belongs to another user")
            reader, writer = await asyncio.open_connection(sock=connection)
        except OSError:
            connection.close()
            return
        self._writer = writer
        try:
            while data := await reader.read(PIECE):
                for kind, payload in self._inbox.take(data):
                    if self._learnt(kind, protocol.unpacked(payload), screen):
                        yield
        except (OSError, protocol.Broken):
            return
        finally:
            self._writer = None
            writer.close()

    def _learnt(self, kind: bytes, values: dict[str, object], screen: BrowserScreen) -> bool:
        if kind == protocol.HELLO:
            if (values.get("version"), values.get("incarnation")) != (protocol.VERSION, self._handle.incarnation):
                raise protocol.Broken("another session's, or of another version")
            self._send(protocol.message(protocol.LOOK))
        if kind == protocol.TAKEN and not values.get("taken"):
            self.refused = True
            return True
        if kind != protocol.FRAME or not screen.take(values):
            return False
        if not any(self._size):  # the first frame has the present size, and a watcher asks for no other
            self.resize(*screen.size, protocol.WATCH)
        self._size = screen.size
        return True

    def resize(self, columns: int, lines: int, kind: bytes = protocol.SIZE) -> None:
        """Give the terminal a size."""
        self._send(protocol.packed(kind, {"columns": columns, "lines": lines}))

    async def type(self, data: bytes) -> bool:
        """Send typed bytes to the agent; return False without a connection. A refusal shows later, in `refused`."""
        return self._send(protocol.message(protocol.INPUT, data))

    def _send(self, message: bytes) -> bool:
        if self._writer:
            self._writer.write(message)
        return self._writer is not None


class Captured:
    """A session without a live terminal: it is looked at four times a second while it changes, else once."""

    def __init__(self, session: MemberSession, over: Callable[[], bool]) -> None:
        self._session = session
        self._over = over

    async def frames(self, screen: BrowserScreen) -> AsyncIterator[None]:
        """Apply looks to the screen until the session is over; yield after each change of the screen."""
        changed_at = time.monotonic()
        while True:
            look = await anyio.to_thread.run_sync(self._look)
            if look and screen.show(*look):  # not in that thread: meanwhile the screen may be sent
                changed_at = time.monotonic()
                yield
            if self._session.over or await anyio.to_thread.run_sync(self._over):
                return
            await asyncio.sleep(QUICK if time.monotonic() < changed_at + LAST else SLOW)

    def resize(self, columns: int, lines: int) -> None:
        """Leave the size as it is: the panes of a window share it."""

    async def type(self, data: bytes) -> bool:
        """Type into the session; return False when it takes no keys."""
        if self._session.over or self._session.handle is None:
            return False
        return await anyio.to_thread.run_sync(self._session.backend.type, self._session.handle, data)

    def _look(self) -> tuple[Sequence[str], int, tuple[int, int] | None] | None:
        """Return the rows of the session, their width and the cursor, None when nothing can be seen now."""
        handle, backend = self._session.handle, self._session.backend
        if handle is None:
            return None
        try:
            looked = {} if self._session.over else backend.look([handle])
            if look := looked.get(handle.incarnation):
                rows = look.styled or look.rows
                return rows, look.columns or max(map(len, look.rows), default=80), look.cursor
            text = backend.peek(handle, TAIL).split("\n")
        except Pro0Error:
            return None
        return text, max(80, *map(len, text)), None
