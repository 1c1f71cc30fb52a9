"""The words tmux is told, as pure text: quoting, conditions, and what it answers about panes."""

import os
import re
from collections.abc import Iterable, Sequence

import msgspec

from pro0.errors import Refused
from pro0.model.runtime import Handle
from pro0.model.screen import Screen
from pro0.sessions.starting import is_incarnation

TAG = "@pro0"
"""The pane option that holds the incarnation: what is ours."""
TEAM = "@pro0_team"
"""The pane option that holds the team's uid."""
STARTED = "@pro0_guard"
"""The pane option that holds the pid of the guard that was started in it: a pane that was respawned has another."""
WINDOW = "@pro0_window"
"""The window option that holds the team's uid: a window that pro0 made and may fill."""
STATE = "@pro0_state"
"""The pane option that borders show beside the title: what the member does."""
COLOUR = "@pro0_colour"
"""The pane option that gives each member a colour of its own."""
NAME = "@pro0_name"
"""The window option that holds the name a layout gave it; it has no blanks."""
TITLE = "@pro0_title"
"""The pane option that borders show: an agent may change its pane's title, never this."""

Command = tuple[str, ...]

_STYLE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
_UNSAFE = re.compile(rb"[^A-Za-z0-9@%+=:,./_-]")
_LATEST = 60
"""Seconds after the earliest time that counts in which an act comes."""
_PANE = re.compile(r"%[0-9]+")
_NUMBER = re.compile(r"[0-9]+")


def word(text: str) -> str:
    """Return a text as one word of a tmux script: every byte that could mean anything in octal."""
    return f'"{_UNSAFE.sub(_octal, os.fsencode(text)).decode()}"'


def line(*commands: Command) -> str:
    """Return one line of a script: when one of its commands fails, the rest of the line is not done."""
    return " ; ".join(" ".join(map(word, command)) for command in commands)


def block(condition: str, pane: str, then: str, otherwise: str = "") -> str:
    """Return a command that does one of two lines, as the condition holds for a pane."""
    other = f" {{ {otherwise} }}" if otherwise else ""
    return f"if-shell -F -t {word(pane)} {word(condition)} {{ {then} }}{other}"


def typed_since(pane: str, since: float) -> str:
    """Return the condition that a person has typed in a pane since that time, in whole seconds of this machine's clock.

    Their keys go to the active pane of the session that they look at, or to all of a window with synchronised panes.
    A time long after it is of a clock that has been put back since.
    """
    between = f"#{{>=:#{{session_activity}},{int(since)}}},#{{<=:#{{session_activity}},{int(since) + _LATEST}}}"
    recently = f"#{{&&:#{{session_attached}},#{{&&:{between}}}}}"
    here = f"#{{&&:#{{==:#{{pane_id}},{pane}}},{recently}}}"
    return f"#{{?pane_synchronized,#{{S:#{{?{recently},1,}}}},#{{S:#{{?{here},1,}}}}}}"


def literal(text: str) -> str:
    """Return a text that tmux shows as it is: `#` would start a format, and `#(…)` a program."""
    return "".join(letter if letter.isprintable() else "?" for letter in text).replace("#", "##")


class Made(msgspec.Struct, frozen=True):
    """What makes a pane one for all time."""

    pane: str
    pid: int
    server_pid: int
    server_start: str

    def still(self) -> str:
        """Return the condition that this pane is still there, whether it has a tag or not."""
        return f"#{{==:#{{pane_pid}} #{{pid}} #{{start_time}},{self.pid} {self.server_pid} {self.server_start}}}"


def held(row: Made, uid: str) -> str:
    """Return the condition that what was started in a pane for this team is still what runs there."""
    return f"#{{&&:{row.still()},#{{==:#{{{TEAM}}} #{{pane_pid}},{uid} #{{{STARTED}}}}}}}"


class Row(Made, frozen=True):
    """What tmux says of one pane."""

    dead: bool
    window: str
    session: str
    width: int
    height: int
    tag: str
    team: str
    window_team: str
    window_name: str
    session_name: str
    socket: str

    def handle(self) -> Handle:
        """Return the identity of this pane."""
        return Handle(
            backend="tmux",
            incarnation=self.tag,
            pid=self.pid,
            socket=self.socket,
            server_pid=self.server_pid,
            server_start=self.server_start,
            pane=self.pane,
        )


def _format(fields: Sequence[str]) -> str:
    return " ".join(f"#{{{field}}}" for field in fields)


_IDENTITY = ("pane_id", "pane_pid", "pid", "start_time")
_FIELDS = (
    *_IDENTITY,
    "?pane_dead,1,0",
    "window_id",
    "session_id",
    "window_width",
    "window_height",
    f"?{TAG},#{{{TAG}}},-",
    f"?{TEAM},#{{{TEAM}}},-",
    f"?{WINDOW},#{{{WINDOW}}},-",
    f"?{NAME},#{{{NAME}}},-",
)
# The free texts come last; a session's name has no colon.
LOOK: Command = ("list-panes", "-a", "-F", f"{_format(_FIELDS)} #{{session_name}}:#{{socket_path}}")
"""Prints every pane of a server."""
MADE: Command = ("-P", "-F", f"made {_format(_IDENTITY)}")
"""Makes a command that makes a pane print it."""


def rows(lines: Iterable[str]) -> dict[str, Row]:
    """Return the panes that LOOK printed, by pane id; a window shown in two sessions counts once."""
    found = (_row(line) for line in lines if line.startswith("%"))
    return {row.pane: row for row in found if row}


def made(lines: Iterable[str]) -> dict[str, Made]:
    """Return the panes that a script made, by pane id, in order."""
    found = (line.split(" ") for line in lines if line.startswith("made "))
    return {pane: Made(pane, int(pid), int(server_pid), start) for _, pane, pid, server_pid, start in found}


def shown(handle: Handle, mark: str) -> str:
    """Return the line that prints a pane's screen below a head; nobody in the pane can know the `mark`."""
    head = f"{mark} {handle.incarnation} #{{cursor_x}} #{{cursor_y}} #{{pane_title}}"
    return line(("display-message", "-p", "-t", handle.pane, head), ("capture-pane", "-p", "-e", "-t", handle.pane))


def screens(lines: Iterable[str], mark: str) -> dict[str, Screen]:
    """Return the screens that `shown` printed, by incarnation."""
    heads: dict[str, str] = {}
    styled: dict[str, list[str]] = {}
    current = ""
    for text in lines:
        if text.startswith(f"{mark} "):
            current = text.split(" ")[1]
            heads[current], styled[current] = text, []
        elif current:
            styled[current].append(text)
    return {incarnation: _screen(head, styled[incarnation]) for incarnation, head in heads.items()}


def _screen(head: str, styled: list[str]) -> Screen:
    _, _, column, row, title = head.split(" ", 4)
    rows = tuple(_STYLE.sub("", text).rstrip() for text in styled)
    return Screen(rows=rows, title=title, styled=tuple(styled), cursor=(int(column), int(row)))


def _row(text: str) -> Row | None:
    parts = text.split(" ", len(_FIELDS))
    if len(parts) <= len(_FIELDS):
        return None
    pane, pid, server_pid, start, dead, window, session, width, height, tag, team, window_team, named, rest = parts
    if not all(map(_NUMBER.fullmatch, (pid, server_pid, start, width, height))):
        return None
    name, _, socket = rest.partition(":")
    return Row(
        pane=pane,
        pid=int(pid),
        dead=dead == "1",
        server_pid=int(server_pid),
        server_start=start,
        window=window,
        session=session,
        width=int(width),
        height=int(height),
        tag=_said(tag),
        team=_said(team),
        window_team=_said(window_team),
        window_name=_said(named),
        session_name=name,
        socket=socket,
    )


def _said(option: str) -> str:
    """Return an option's value, "" for none: no tag is ever the same as another that is missing."""
    return "" if option == "-" else option


def _octal(match: re.Match[bytes]) -> bytes:
    return b"\\%03o" % match[0][0]


def ours(handle: Handle) -> str:
    """Return the condition that a pane is still the one of a handle; raises Refused for a handle that cannot be one."""
    sound = (
        is_incarnation(handle.incarnation) and _PANE.fullmatch(handle.pane) and _NUMBER.fullmatch(handle.server_start)
    )
    if not sound:
        raise Refused(f"{handle.pane!r} is not a pane of pro0", code="backend_stale")
    wanted = f"{handle.incarnation} {handle.pid} {handle.server_pid} {handle.server_start}"
    return f"#{{==:#{{{TAG}}} #{{pane_pid}} #{{pid}} #{{start_time}},{wanted}}}"
