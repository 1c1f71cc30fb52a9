"""The tmux backend: one pane for each session, on the team's own server, or in the team's windows of a person's tmux.

A pane is ours when its server, process and owner tag match the handle. The same tmux call checks this and acts.
"""

import os
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from pro0.errors import BadInput, EnvironmentMissing, ErrorCode, Pro0Error, Refused
from pro0.model.runtime import Handle, Process, Terminal
from pro0.model.screen import Screen
from pro0.sessions.backend import Asked, Key, Opening, Place, always
from pro0.sessions.starting import check, elsewhere
from pro0.sessions.tmux import socket as tmux_socket
from pro0.sessions.tmux.captured import capture, screens, spread
from pro0.sessions.tmux.keys import LIST, bindings, releases
from pro0.sessions.tmux.pasting import paste, typed
from pro0.sessions.tmux.persons import persons_prefix, prefix, terminal_type
from pro0.sessions.tmux.ringing import CLIENTS, ring
from pro0.sessions.tmux.script import (
    LOOK,
    STATE,
    Made,
    PaneRow,
    block,
    held,
    line,
    literal,
    made_panes,
    marked,
    ours,
    rows,
)
from pro0.sessions.tmux.windows import arrange, bring_up, given_back

if TYPE_CHECKING:
    from pro0.sessions.tmux.server import TmuxServer

LEAVING = 5.0
"""Seconds for a server to end after its last pane."""
PAUSE = 0.3
"""Seconds between the line and its Enter: programs take an immediate Enter for a part of the paste."""

_OURS = ("display-message", "-p", "ours")
_FOREIGN = ("display-message", "-p", "foreign")
_GONE = ("display-message", "-p", "gone")
_KEYS: dict[Key, str] = {"Enter": "\r", "Escape": "\x1b"}
_ENDED = re.compile("server exited|lost server|no server running|error connecting")
_PAUSES = (0.02, 0.05, 0.1, 0.2, 0.4)
"""Seconds between the tries while a server is about to end."""


class Tmux:
    """Sessions in tmux panes."""

    name = "tmux"
    pace = 0.0

    def open(self, place: Place, openings: Sequence[Opening]) -> tuple[Handle, ...]:
        """Make every pane in one call of tmux, all or none; raises EnvironmentMissing, naming the step."""
        check(place, openings)
        if not openings:
            return ()
        for pause in _PAUSES:
            with suppress(_Ended):
                return _open(place, openings)
            time.sleep(pause)
        return _open(place, openings)

    def terminal(self, place: Place, incarnation: str) -> Terminal | None:  # noqa: ARG002
        """Return None: a pane has its own terminal."""
        return None

    def alive(self, handles: Sequence[Handle]) -> frozenset[str]:
        """Return the incarnations with a pane still present and still ours: one call of tmux for each server."""
        alive: set[str] = set()
        for socket, group in groupby(sorted(handles, key=_socket), key=_socket):
            present = {row.handle() for row in rows(_look(socket)).values() if not row.dead}
            alive |= {handle.incarnation for handle in group if handle in present}
        return frozenset(alive)

    def find(self, place: Place, incarnation: str, guard: Process, log: Path) -> Handle | None:  # noqa: ARG002
        """Return the handle of the pane with this owner tag and this guard."""
        socket = tmux_socket.team_socket(place)
        panes = rows(_look(socket)).values() if tmux_socket.listening(socket) else ()
        return next((row.handle() for row in panes if row.tag and (row.tag, row.pid) == (incarnation, guard.pid)), None)

    def peek(self, handle: Handle, lines: int) -> str:
        """Return a pane's last lines, with scrolled-away ones; raises Refused when it is not ours."""
        captured = _act(handle, line(("capture-pane", "-p", "-J", "-t", handle.pane, "-S", str(-lines))))
        text = [spread(row).rstrip() for row in captured]
        while text and not text[-1]:
            text.pop()
        return "\n".join(text[-lines:])

    def look(self, handles: Sequence[Handle]) -> dict[str, Screen]:
        """Return the screens of all our panes: one call of tmux for each server."""
        screens_by_incarnation: dict[str, Screen] = {}
        for socket, group in groupby(sorted(handles, key=_socket), key=_socket):
            mark = secrets.token_hex(8)
            script = "\n".join(block(ours(handle), handle.pane, capture(handle, mark)) for handle in group)
            screens_by_incarnation |= screens(_server(socket).ask(f"{script}\n"), mark)
        return screens_by_incarnation

    def nudge(self, handle: Handle, line: str, may_press: Asked = always, looked: float | None = None) -> bool:
        """Paste one line into a pane and press Enter; False while a person types, or the pane's mode takes no input.

        Raises BadInput for anything but one printable line, and Refused when the pane is not ours.
        """
        if not line.isprintable() or not line.strip():
            raise BadInput("a nudge is one line of printable text")
        if _act(handle, paste(handle, line, "-p", looked)) != ["sent"]:
            return False
        time.sleep(PAUSE)
        looked = time.monotonic()
        return may_press() and self.press(handle, "Enter", looked)

    def press(self, handle: Handle, key: Key, looked: float | None = None) -> bool:
        """Paste a key's bytes: a sent key would reach every pane of a synchronised window, or copy mode."""
        return _act(handle, paste(handle, _KEYS[key], "-r", looked)) == ["sent"]

    def type(self, handle: Handle, data: bytes) -> bool:
        """Type bytes into a pane, except NUL, which no script can hold; False when no byte is left or taken."""
        text = os.fsdecode(data.replace(b"\0", b""))
        return bool(text) and _act(handle, typed(handle, text)) == ["sent"]

    def label(self, states: Mapping[Handle, str]) -> None:
        """Write states into the borders of our panes: one call of tmux for each server."""
        for socket, group in groupby(sorted(states, key=_socket), key=_socket):
            script = [block(ours(handle), handle.pane, _state(handle, states[handle])) for handle in group]
            _server(socket).ask("\n".join(script) + "\n")

    def mark(self, needed: Mapping[Handle, bool], count: int) -> None:
        """Highlight borders, and append the count to the names of their windows: `pro0-alpha ?2`."""
        for socket, group in groupby(sorted(needed, key=_socket), key=_socket):
            script = [block(ours(handle), handle.pane, marked(handle, needed[handle], count)) for handle in group]
            _server(socket).ask("\n".join(script) + "\n")

    def ring(self, handles: Sequence[Handle], title: str, text: str) -> None:
        """Ring in the first pane that is ours, and show a notice on the terminals of its server's clients."""
        for handle in handles:
            with suppress(Refused):
                tty = _act(handle, line(("display-message", "-p", "-t", handle.pane, "#{pane_tty}")))
                ring(tty[0], _server(handle.socket).ask(f"{line(CLIENTS)}\n"), title, text)
                return

    def focus(self, handle: Handle) -> bool:
        """Select a pane and its window; raises Refused when the pane is not ours."""
        pane = ("-t", handle.pane)
        _act(handle, line(("select-window", *pane), ("select-pane", *pane)))
        return True

    def close(self, handle: Handle) -> None:
        """Kill this pane; leave a missing pane, or one not ours, alone."""
        with suppress(Refused):
            _act(handle, line(("kill-pane", "-t", handle.pane)))

    def attach_command(self, place: Place, handles: Sequence[Handle]) -> tuple[str, ...]:
        """Return the command to show the team in this terminal: attach, or switch when inside that tmux."""
        panes = [handle for handle in handles if handle.backend == self.name]
        if not panes:
            return ()
        return tmux_socket.watch(place, panes[0])

    def dismantle(self, place: Place) -> None:
        """Kill the panes with the team's own programs still in them; the team's own server ends with its last pane.

        A pane respawned by a person is theirs. So is a new server on the team's old socket.
        """
        socket = tmux_socket.team_socket(place)
        panes = rows(_look(socket)).values() if tmux_socket.listening(socket) else ()
        ours = [row for row in panes if row.team and row.team == place.uid]
        _kill(_server(socket), ours, place.uid)
        if not place.inside_tmux:
            _leave(socket, was_last=len(ours) == len(panes))
            return
        _server(socket).ask(given_back(place, panes))
        if all(row.window_team in ("", place.uid) for row in panes):  # no other team is shown there
            _server(socket).ask("".join(line(binding) + "\n" for binding in releases(_server(socket).ask(line(LIST)))))


class _Ended(EnvironmentMissing):
    """The server was about to end after its last pane, so nothing was made."""


def _open(place: Place, openings: Sequence[Opening]) -> tuple[Handle, ...]:
    socket = tmux_socket.team_socket(place)
    name = "" if place.inside_tmux else tmux_socket.own_name(place)
    server = _server(socket, name=name, cwd=str(place.project))
    panes = rows(_look(socket)) if tmux_socket.listening(socket) else {}
    session = _session(place, panes)
    fresh = not panes and not place.inside_tmux
    if place.inside_tmux:
        server.ask("".join(line(binding) + "\n" for binding in bindings(server.ask(line(LIST)))))
    own = [terminal_type(), *prefix(persons_prefix())] if fresh else []
    script = bring_up(place, arrange(place, openings, panes, session), start=fresh, server=own)
    try:
        call = server.run(script, start=not place.inside_tmux)
    except Pro0Error:
        _undo(server, openings, (), fresh=fresh)
        raise
    new = made_panes(call.stdout)
    tagged = {row.tag: row.handle() for row in rows(call.stdout).values() if row.pane in new}
    if call.returncode or any(opening.incarnation not in tagged for opening in openings):
        _undo(server, openings, call.stdout, fresh=fresh)
        raise _failure(place, len(openings), len(new), call.stderr)
    return tuple(tagged[opening.incarnation] for opening in openings)


def _server(socket: str, *, name: str = "", cwd: str = "/") -> "TmuxServer":
    # Imported late: libtmux costs 58 ms, and a person only attaching does not need it.
    from pro0.sessions.tmux.server import TmuxServer

    return TmuxServer(socket, name=name, cwd=cwd)


def _look(socket: str) -> list[str]:
    return _server(socket).ask(line(LOOK))


def _socket(handle: Handle) -> str:
    return handle.socket


def _session(place: Place, panes: dict[str, PaneRow]) -> str:
    """Return the id of the session for new windows, or "" when it is still to be made."""
    if not place.inside_tmux:
        return next((row.session for row in panes.values() if row.session_name == place.team), "")
    terminal = tmux_socket.SurroundingTmux(place.inside_tmux)
    living = [row for row in panes.values() if str(row.server_pid) == terminal.server_pid]
    if not living:
        gone = "the tmux that this team was started in is gone"
        raise EnvironmentMissing(gone, hint=elsewhere(place), of_team=True)
    # A person may have closed the session of the team's start, and goes on in another one.
    ours = [row.session for row in living if row.window_team == place.uid]
    sessions = [terminal.session, *ours, *(row.session for row in living)]
    return next(session for session in sessions if any(row.session == session for row in living))


def _act(handle: Handle, then: str) -> list[str]:
    """Run one line on our pane and return its output; run nothing and raise Refused when the pane is not ours."""
    pane = handle.pane
    refuse = block(f"#{{==:#{{pane_id}},{pane}}}", pane, line(_FOREIGN), line(_GONE))
    answer = _server(handle.socket).ask(block(ours(handle), pane, f"{line(_OURS)} ; {then}", refuse))
    if answer[:1] == [_OURS[-1]]:
        return answer[1:]
    state = "now belongs to another process" if answer == [_FOREIGN[-1]] else "is gone"
    raise Refused(f"pane {pane} {state}", code=ErrorCode.BACKEND_STALE)


def _state(handle: Handle, text: str) -> str:
    return line(("set-option", "-p", "-t", handle.pane, STATE, literal(text)))


def _undo(server: "TmuxServer", openings: Sequence[Opening], printed: Sequence[str], *, fresh: bool) -> None:
    """Remove the panes of a failed bring-up; a server started for it ends with its last pane.

    A pane started there by a person meanwhile is theirs.
    """
    with suppress(Pro0Error):
        incarnations = {opening.incarnation for opening in openings}
        tagged = [row for row in rows(_look(server.socket)).values() if row.tag in incarnations]
        _kill(server, [*made_panes(printed).values(), *tagged])
        if fresh:
            _leave(server.socket, was_last=True)


def _leave(socket: str, *, was_last: bool) -> None:
    """Remove the socket of an ended server. If the last pane has just ended, wait for the server's end first."""
    deadline = time.monotonic() + LEAVING
    while was_last and _look(socket) == [] and tmux_socket.listening(socket) and time.monotonic() < deadline:
        time.sleep(0.01)
    if not tmux_socket.listening(socket):
        tmux_socket.remove(socket)


def _kill(server: "TmuxServer", panes: Sequence[Made], uid: str = "") -> None:
    """Kill panes; with a team's uid, only those still running the programs started there.

    Each kill is on a line of its own, so a missing pane does not prevent the others.
    """
    script = [
        block(held(row, uid) if uid else row.exists(), row.pane, line(("kill-pane", "-t", row.pane))) for row in panes
    ]
    if script:
        server.ask("\n".join(script) + "\n")


def _failure(place: Place, requested: int, opened: int, errors: Sequence[str]) -> EnvironmentMissing:
    reason = "; ".join(errors) or "not every pane has its tag"
    kind = _Ended if not opened and any(_ENDED.search(error) for error in errors) else EnvironmentMissing
    step = f"tmux made {opened} of {requested} panes for team {place.team!r}"
    return kind(f"{step}, then failed: {reason}", code=ErrorCode.TMUX_FAILED)
