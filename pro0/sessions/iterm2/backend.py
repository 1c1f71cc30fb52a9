"""The iTerm2 backend: native panes, beside the session of the team's start.

iTerm2 starts a person's own shell in every pane. One typed line replaces that shell by the guard. The line holds no
value: it names a script of ours in a folder of ours. The script's words are quoted for /bin/sh, and it clears the
line from the screen. A pane is ours while iTerm2 lists it and our guard in it lives. A pane that the person has
restarted has another process at its root, and is theirs.
"""

import os
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pro0 import processes
from pro0.errors import BadInput, EnvironmentMissing, ErrorCode, Refused
from pro0.model.runtime import Handle, Process, Terminal
from pro0.model.screen import Screen
from pro0.sessions.backend import Asked, Key, Opening, Place, always
from pro0.sessions.guards import guard_of, stamp
from pro0.sessions.iterm2 import it2
from pro0.sessions.starting import check, elsewhere, started_for_others

PAUSE = 0.3
"""Seconds between the line and its Enter: programs take an immediate Enter for a part of the paste."""
STARTING = 20.0
"""Seconds for a person's shell to read its first line."""
SCREENFUL = 60
"""The most lines that are read from the screen alone: the history takes another program, and a lead looks often."""

_LOOK = 0.05
_AT_ONCE = 8
_KEYS: dict[Key, str] = {"Enter": "\r", "Escape": "\x1b"}
_TEAM = "pro0team"
"""The variable of a pane with its team's uid and the process at its root when it was made."""
_TAG = "pro0"
_TITLE = "pro0title"
_WENT = "a session was closed in the meantime"
_SCRIPT = r"""rm -f -- "$0"
printf '\033[H\033[2J\033[3J'
cd -- {folder} || exit 127
echo $$ > {pid}.new && mv -- {pid}.new {pid}
exec env -i {environment} {argv}
"""

Given = TypeVar("Given")
Found = TypeVar("Found")


class ITerm2:
    """Sessions in panes of iTerm2."""

    name = "iterm2"
    pace = 2.0

    def open(self, place: Place, openings: Sequence[Opening]) -> tuple[Handle, ...]:
        """Split a pane for each opening, all or none; raises EnvironmentMissing, naming the step."""
        check(place, openings)
        if not openings:
            return ()
        panes: list[str] = []
        scratch = ""
        try:
            scratch = tempfile.mkdtemp(prefix="pro0-", dir="/tmp")  # a name no shell expands
            folder = Path(scratch)
            _split(place, len(openings), panes)
            return tuple(
                _each(
                    lambda opening_and_pane: _start(place, *opening_and_pane, folder), zip(openings, panes, strict=True)
                )
            )
        except (EnvironmentMissing, it2.NoSuchSession, OSError) as error:
            _each(_close, panes)
            why = _why(error)
            step = f"iTerm2 made {len(panes)} of {len(openings)} panes for team {place.team!r}, then failed"
            sentence, code = f"{step}: {why.message}", ErrorCode.IT2_FAILED
            raise EnvironmentMissing(sentence, code=code, hint=why.hint, of_team=why.of_team) from None
        finally:
            if scratch:
                shutil.rmtree(scratch, ignore_errors=True)

    def terminal(self, place: Place, incarnation: str) -> Terminal | None:  # noqa: ARG002
        """Return None: a session of iTerm2 has its own terminal."""
        return None

    def alive(self, handles: Sequence[Handle]) -> frozenset[str]:
        """Return the incarnations with a listed pane and a living guard."""
        living = [handle for handle in handles if processes.alive(guard_of(handle))]
        with suppress(EnvironmentMissing):  # a disabled API ends no session
            listed = {row.id for row in it2.sessions()} if living else set()
            living = [handle for handle in living if handle.pane in listed]
        return frozenset(handle.incarnation for handle in living)

    def find(self, place: Place, incarnation: str, guard: Process, log: Path) -> Handle | None:  # noqa: ARG002
        """Return the handle of the session with this owner tag."""
        rows = it2.sessions()
        tags = _each(lambda row: it2.tagged(row.id, _TAG), rows)
        pane = next((row.id for row, tag in zip(rows, tags, strict=True) if tag == f"{incarnation} {guard.pid}"), None)
        if pane is None:
            return None
        return Handle(backend=self.name, incarnation=incarnation, pid=guard.pid, server_start=stamp(guard), pane=pane)

    def peek(self, handle: Handle, lines: int) -> str:
        """Return a pane's last lines, from its history when its screen has fewer; raises Refused unless it is ours."""
        rows = _written(_ours(handle, it2.read))
        if len(rows) < lines > SCREENFUL:
            with suppress(EnvironmentMissing):  # the screen's lines are better than nothing
                rows = _written(_ours(handle, it2.history))
        return "\n".join(rows[-lines:])

    def look(self, handles: Sequence[Handle]) -> dict[str, Screen]:
        """Return the screens of all our panes."""
        living = [handle for handle in handles if processes.alive(guard_of(handle))]
        titles = {row.id: row.title for row in it2.sessions()} if living else {}
        shown_handles = [handle for handle in living if handle.pane in titles]
        screens = _each(_screen, shown_handles)
        return {
            handle.incarnation: Screen(rows=tuple(rows), title=titles[handle.pane])
            for handle, rows in zip(shown_handles, screens, strict=True)
            if rows is not None
        }

    def nudge(self, handle: Handle, line: str, may_press: Asked = always, looked: float | None = None) -> bool:  # noqa: ARG002
        """Type one line into a pane and press Enter.

        Raises BadInput for anything but one printable line, and Refused when the pane is not ours.
        """
        if not line.isprintable() or not line.strip():
            raise BadInput("a nudge is one line of printable text")
        _ours(handle, lambda pane: it2.send(pane, line))
        time.sleep(PAUSE)
        return may_press() and self.press(handle, "Enter")

    def press(self, handle: Handle, key: Key, looked: float | None = None) -> bool:  # noqa: ARG002
        """Type the bytes of a key."""
        _ours(handle, lambda pane: it2.send(pane, _KEYS[key]))
        return True

    def type(self, handle: Handle, data: bytes) -> bool:  # noqa: ARG002
        """Return False: iTerm2 does not report typing, so nobody could wait for its end."""
        return False

    def label(self, states: Mapping[Handle, str]) -> None:
        """Write states into the names of the panes."""
        for handle, state in states.items():
            with suppress(it2.NoSuchSession):
                it2.name(handle.pane, f"{it2.tagged(handle.pane, _TITLE)} · {state}")

    def mark(self, needed: Mapping[Handle, bool], count: int) -> None:
        """Mark nothing: the names of panes tell the states."""

    def ring(self, handles: Sequence[Handle], title: str, text: str) -> None:
        """Ring nowhere: no command of `it2` rings."""

    def focus(self, handle: Handle) -> bool:
        """Bring a pane to the front; raises Refused when it is not ours."""
        _ours(handle, it2.focus)
        return True

    def close(self, handle: Handle) -> None:
        """Close this pane; leave a missing pane, or one not ours, alone."""
        if it2.tagged(handle.pane, _TAG) == _owner(handle):
            _close(handle.pane, _team_and_root(handle.pane)[1])

    def attach_command(self, place: Place, handles: Sequence[Handle]) -> tuple[str, ...]:  # noqa: ARG002
        """Return the command to bring the first pane to the front."""
        panes = [handle.pane for handle in handles if handle.backend == self.name]
        return ("it2", "session", "focus", panes[0]) if panes else ()

    def dismantle(self, place: Place) -> None:
        """Close the team's panes that nobody has restarted, and no others; without iTerm2 there are none."""
        with suppress(EnvironmentMissing):
            rows = it2.sessions()
            owners = _each(lambda row: _team_and_root(row.id), rows)
            for row, (team, root) in zip(rows, owners, strict=True):
                if team == place.uid:
                    _close(row.id, root)


def _why(error: EnvironmentMissing | it2.NoSuchSession | OSError) -> EnvironmentMissing:
    """Return why a bring-up has failed, and the next step."""
    if isinstance(error, EnvironmentMissing):
        return error
    if isinstance(error, OSError):
        message = f"cannot write {error.filename or 'to /tmp'}: {error.strerror}"
        return EnvironmentMissing(message, hint="free some space in /tmp")
    return EnvironmentMissing(_WENT)


def _split(place: Place, number: int, panes: list[str]) -> None:
    """Make `number` panes: one beside the session of the team's start, the others by halving the team's tallest."""
    rows = it2.sessions()
    owners = _each(lambda row: _team_and_root(row.id), rows)
    heights = {row.id: row.rows for row, (team, _) in zip(rows, owners, strict=True) if team == place.uid}
    if not heights and place.iterm2_session not in {row.id for row in rows}:
        gone = "the iTerm2 session that this team was started in is gone"
        raise EnvironmentMissing(gone, hint=elsewhere(place), of_team=True)
    beside = next((row.rows for row in rows if row.id == place.iterm2_session), 0)
    for _ in range(number):
        tallest = max(reversed(heights), key=heights.__getitem__, default=None)
        panes.append(it2.split(tallest or place.iterm2_session, _TEAM, place.uid, vertical=tallest is None))
        height = heights[tallest] // 2 if tallest else beside
        heights |= {tallest: height, panes[-1]: height} if tallest else {panes[-1]: height}


def _start(place: Place, opening: Opening, pane: str, folder: Path) -> Handle:
    """Start a session's guard in a new pane, and mark the pane as ours."""
    it2.tag(pane, _TITLE, opening.title)
    it2.name(pane, opening.title)
    guard = _replace_the_shell(place, opening, folder, pane)
    handle = Handle(
        backend=ITerm2.name, incarnation=opening.incarnation, pid=guard.pid, server_start=stamp(guard), pane=pane
    )
    it2.tag(pane, _TAG, _owner(handle))
    return handle


def _replace_the_shell(place: Place, opening: Opening, folder: Path, pane: str) -> Process:
    """Replace the pane's shell by the guard; return the guard once it is that process."""
    script, pid = folder / opening.incarnation, folder / f"{opening.incarnation}.pid"
    words = _SCRIPT.format(
        folder=shlex.quote(str(place.project)),
        pid=shlex.quote(str(pid)),
        environment=shlex.join(f"{name}={value}" for name, value in started_for_others().items()),
        argv=shlex.join(opening.argv),
    )
    descriptor = os.open(script, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(words)
    # The leading space keeps the line out of the history of most shells.
    it2.send(pane, f" exec /bin/sh {script}\r")
    deadline = time.monotonic() + STARTING
    while time.monotonic() < deadline:
        with suppress(FileNotFoundError, ValueError, EnvironmentMissing):
            guard = processes.identify(int(pid.read_text()))
            return guard or Process(pid=int(pid.read_text()), start="", boot_id="")  # it has ended already
        time.sleep(_LOOK)
    raise EnvironmentMissing(
        f"the shell of the new pane did not start {opening.title!r} within {STARTING:.0f} s",
        hint="open a new pane by hand: does its shell show a prompt and take a command?",
    )


def _ours(handle: Handle, then: Callable[[str], Found]) -> Found:
    """Apply `then` to the pane of a living guard; raises Refused when the pane or its guard is gone."""
    if not processes.alive(guard_of(handle)):
        raise Refused(f"pane {handle.pane} has no guard of pro0 any more", code=ErrorCode.BACKEND_STALE)
    try:
        return then(handle.pane)
    except it2.NoSuchSession:
        raise Refused(f"pane {handle.pane} is gone", code=ErrorCode.BACKEND_STALE) from None


def _written(rows: list[str]) -> list[str]:
    """Return rows without trailing spaces, and without the empty rows below the last line."""
    rows = [row.rstrip() for row in rows]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _screen(handle: Handle) -> list[str] | None:
    try:
        return it2.read(handle.pane)
    except it2.NoSuchSession:
        return None


def _close(pane: str, root: str = "") -> None:
    with suppress(it2.NoSuchSession, EnvironmentMissing):
        it2.close(pane, root)


def _team_and_root(pane: str) -> tuple[str, str]:
    """Return the uid of the team that made a pane, and its root process of that time; "" for unknown."""
    team, _, root = it2.tagged(pane, _TEAM).partition(" ")
    return team, root


def _each(do: Callable[[Given], Found], items: Iterable[Given]) -> list[Found]:
    """Apply `do` to all, a few at a time: each call is a program of its own, and takes a fifth of a second."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(do, items))


def _owner(handle: Handle) -> str:
    return f"{handle.incarnation} {handle.pid}"
