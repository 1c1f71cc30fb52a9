"""The in-process backend: each detached guard has its own terminal; the view shows one at a time."""

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from msgspec.structs import replace

from pro0 import processes
from pro0.errors import BadInput, EnvironmentMissing, ErrorCode, Refused
from pro0.model.runtime import Handle, Process, Terminal
from pro0.model.screen import Screen
from pro0.processes.arguments import arguments
from pro0.rules.screens.escapes import plain
from pro0.sessions.backend import Asked, Key, Place, always, quiet
from pro0.sessions.headless import Headless
from pro0.terminals import address, protocol
from pro0.terminals.connection import Connection, Silent
from pro0.terminals.library import library

PAUSE = 0.3
"""Seconds between the line and its Enter: programs take an immediate Enter for a part of the paste."""
PATIENCE = 2.0
"""Seconds to wait for an answer; a stopped guard is not asked."""

_KEYS: dict[Key, str] = {"Enter": "\r", "Escape": "\x1b"}


class InProcess(Headless):
    """Sessions in terminals made by their guards."""

    name = "in-process"

    def terminal(self, place: Place, incarnation: str) -> Terminal:
        """Return the terminal for the guard to make; raises EnvironmentMissing when it cannot be made."""
        path = _socket(place, incarnation)
        if not address.fits(path):
            message = f"the path {path} is too long for a socket: at most {address.LONGEST} bytes"
            raise EnvironmentMissing(message, hint="choose a shorter PRO0_HOME, or use --mode tmux")
        return Terminal(socket=path, library=str(library()))

    def find(self, place: Place, incarnation: str, guard: Process, log: Path) -> Handle | None:
        """Return the handle of a living guard of this session."""
        started_for = arguments(guard.pid)[-1:] if processes.alive(guard) else []
        if not any(incarnation in word for word in started_for):
            return None
        return self._handle(place, incarnation, guard.pid, guard, log)

    def peek(self, handle: Handle, lines: int) -> str:
        """Return a session's last lines, including scrolled-away ones; after its end, those of its log."""
        try:
            with _connected(handle) as terminal:
                answer = terminal.ask(protocol.TEXT, json.dumps({"lines": lines}).encode())
                return str(answer["text"])
        except (Silent, KeyError):
            return super().peek(handle, lines)

    def look(self, handles: Sequence[Handle]) -> dict[str, Screen]:
        """Return the current screens of sessions; silent sessions are left out."""
        screens: dict[str, Screen] = {}
        for handle in handles:
            try:
                if not processes.stopped(handle.pid):
                    with _connected(handle) as terminal:
                        screens[handle.incarnation] = _screen(terminal.ask(protocol.LOOK, answer=protocol.FRAME))
            except (Silent, Refused):
                continue
        return screens

    def nudge(self, handle: Handle, line: str, may_press: Asked = always, looked: float | None = None) -> bool:
        """Paste one line and press Enter; False while the agent takes no input, or a person types.

        Raises BadInput for anything but one printable line, and Refused when the session is gone.
        """
        if not line.isprintable() or not line.strip():
            raise BadInput("a nudge is one line of printable text")
        if not _put(handle, protocol.PASTE, line, looked):
            return False
        time.sleep(PAUSE)
        looked = time.monotonic()
        return may_press() and self.press(handle, "Enter", looked)

    def press(self, handle: Handle, key: Key, looked: float | None = None) -> bool:
        """Press one key; False while the agent takes no input or a person types, Refused when the session is gone."""
        return _put(handle, protocol.PRESS, _KEYS[key], looked)

    def type(self, handle: Handle, data: bytes) -> bool:
        """Send typed bytes; False while the agent takes no input, Refused when the session is gone."""
        try:
            with _connected(handle) as terminal:
                return bool(terminal.ask(protocol.INPUT, data, protocol.TAKEN).get("taken"))
        except Silent as error:
            raise Refused(f"the session {handle.incarnation} is gone: {error}", code=ErrorCode.BACKEND_STALE) from None

    def focus(self, handle: Handle) -> bool:
        """Make every view of the team show this session; False when nobody watches."""
        try:
            with _connected(handle) as terminal:
                return bool(terminal.ask(protocol.FOCUS)["told"])
        except (Silent, KeyError):
            return False

    def _handle(self, place: Place, incarnation: str, pid: int, identity: Process | None, log: Path) -> Handle:
        return replace(super()._handle(place, incarnation, pid, identity, log), socket=_socket(place, incarnation))


def _socket(place: Place, incarnation: str) -> str:
    return f"{place.terminals}/{incarnation}.sock"


def _connected(handle: Handle) -> Connection:
    """Return a connection to a session's terminal; raises Silent without one, Refused when another process has it."""
    terminal = Connection(handle.socket, PATIENCE)
    if (terminal.hello.get("incarnation"), terminal.hello.get("pid")) != (handle.incarnation, handle.pid):
        terminal.close()
        raise Refused(f"{handle.socket} now belongs to another process", code=ErrorCode.BACKEND_STALE)
    return terminal


def _put(handle: Handle, kind: bytes, text: str, looked: float | None) -> bool:
    try:
        with _connected(handle) as terminal:
            wish = {"text": text, "quiet": min(math.ceil(1000 * quiet(looked)), protocol.LIMIT)}
            return bool(terminal.ask(kind, json.dumps(wish).encode(), protocol.TAKEN).get("taken"))
    except Silent as error:
        raise Refused(f"the session {handle.incarnation} is gone: {error}", code=ErrorCode.BACKEND_STALE) from None


def _screen(frame: dict[str, object]) -> Screen:
    """Return the screen of a whole frame; raises Silent for anything else."""
    rows, cursor = frame.get("rows"), frame.get("cursor")
    if not isinstance(rows, dict) or not isinstance(cursor, list):
        raise Silent("the terminal sent an unexpected answer")
    styled = tuple(cast("dict[str, str]", rows).values())
    texts = tuple(plain(row).rstrip() for row in styled)
    return Screen(rows=texts, title=str(frame.get("title", "")), styled=styled, cursor=(cursor[0], cursor[1]))
