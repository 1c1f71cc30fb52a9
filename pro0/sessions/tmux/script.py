"""The language of tmux scripts, as pure text: quoting, conditions, and tmux's answers about panes."""

import os
import re
from collections.abc import Iterable, Sequence

import msgspec

from pro0.errors import ErrorCode, Refused
from pro0.model.runtime import Handle
from pro0.sessions.starting import is_incarnation

TAG = "@pro0"
"""The pane option with the incarnation: it marks our panes."""
TEAM = "@pro0_team"
"""The pane option with the team's uid."""
STARTED = "@pro0_guard"
"""The pane option with the pid of the guard started there; a respawned pane has another pid."""
WINDOW = "@pro0_window"
"""The window option with the team's uid: pro0 made this window and may fill it."""
STATE = "@pro0_state"
"""The pane option for the member's state, shown by borders beside the title."""
NEEDED = "@pro0_needed"
"""The pane option that says that the member keeps a person waiting."""
TYPED = "@pro0_typed"
"""The pane option with the time at which a person last typed into it from elsewhere."""
COLOUR = "@pro0_colour"
"""The pane option with the member's own colour."""
NAME = "@pro0_name"
"""The window option with the window's name from a layout; the name has no blanks."""
TITLE = "@pro0_title"
"""The pane option with the title for borders: an agent may change its pane's title, never this."""

Command = tuple[str, ...]

_UNSAFE = re.compile(rb"[^A-Za-z0-9@%+=:,./_-]")
_LATEST = 60
"""Seconds from now; activity later than this is not counted."""
_PANE = re.compile(r"%[0-9]+")
_NUMBER = re.compile(r"[0-9]+")


def word(text: str) -> str:
    """Return a text as one word of a tmux script: every byte tmux could interpret is in octal."""
    return f'"{_UNSAFE.sub(_octal, os.fsencode(text)).decode()}"'


def line(*commands: Command) -> str:
    """Return one line of a script: a failing command ends the line."""
    return " ; ".join(" ".join(map(word, command)) for command in commands)


def block(condition: str, pane: str, then: str, otherwise: str = "") -> str:
    """Return a command to run one of two lines, depending on a condition on a pane."""
    alternative = f" {{ {otherwise} }}" if otherwise else ""
    return f"if-shell -F -t {word(pane)} {word(condition)} {{ {then} }}{alternative}"


def at_least(major: int, minor: int, version: str = "#{version}") -> str:
    """Return the condition "the server is of this version or a newer one"; numbers below 10.

    tmux compares texts only, and 3.10 is newer than 3.7. A version can be "3.7c" or "next-3.8".
    """
    minors = f"{major}[.]([{minor}-9]|[1-9][0-9])"
    majors = f"([{major + 1}-9]|[1-9][0-9]+)[.]"
    return f"#{{m/r:^(next-)?({minors}|{majors}),{version}}}"


def typed_since(pane: str, since: float, now: float) -> str:
    """Return the condition "a person has typed in a pane since this time", in whole seconds of this machine's clock.

    A person's keys go to the active pane of the attached session, or to all panes of a synchronised window; those of
    a browser to a pane of their own, which notes the time.
    A time long after `now` comes from a clock set back since, and does not count.
    """
    recently = f"#{{&&:#{{session_attached}},{_between('session_activity', since, now)}}}"
    pane_active = f"#{{&&:#{{==:#{{pane_id}},{pane}}},{recently}}}"
    attached = f"#{{?pane_synchronized,#{{S:#{{?{recently},1,}}}},#{{S:#{{?{pane_active},1,}}}}}}"
    return f"#{{?{_between(TYPED, since, now)},1,{attached}}}"


def _between(moment: str, since: float, now: float) -> str:
    return f"#{{&&:#{{>=:#{{{moment}}},{int(since)}}},#{{<=:#{{{moment}}},{int(now) + _LATEST}}}}}"


def literal(text: str) -> str:
    """Return a text for tmux to show as it is: `#` would start a format, and `#(…)` a program."""
    return "".join(letter if letter.isprintable() else "?" for letter in text).replace("#", "##")


class Made(msgspec.Struct, frozen=True):
    """The identity of a pane, unique for all time."""

    pane: str
    pid: int
    server_pid: int
    server_start: str

    def exists(self) -> str:
        """Return the condition "this pane is still there", with a tag or without."""
        return f"#{{==:#{{pane_pid}} #{{pid}} #{{start_time}},{self.pid} {self.server_pid} {self.server_start}}}"


def held(row: Made, uid: str) -> str:
    """Return the condition "the program started in this pane for this team still runs there"."""
    return f"#{{&&:{row.exists()},#{{==:#{{{TEAM}}} #{{pane_pid}},{uid} #{{{STARTED}}}}}}}"


class PaneRow(Made, frozen=True):
    """One pane in tmux's list."""

    dead: bool
    is_floating: bool
    """True for a pane that floats above the others: it has no place in the layout."""
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
        """Return the handle of this pane."""
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
    "?pane_floating_flag,1,0",
    "window_id",
    "session_id",
    "window_width",
    "window_height",
    f"?{TAG},#{{{TAG}}},-",
    f"?{TEAM},#{{{TEAM}}},-",
    f"?{WINDOW},#{{{WINDOW}}},-",
    f"?{NAME},#{{{NAME}}},-",
)
# The free texts come last, for they may hold spaces; a session's name has no colon.
LOOK: Command = ("list-panes", "-a", "-F", f"{_format(_FIELDS)} #{{session_name}}:#{{socket_path}}")
"""Prints every pane of a server."""
MADE: Command = ("-P", "-F", f"made {_format(_IDENTITY)}")
"""Makes a pane-making command print the new pane."""


def rows(lines: Iterable[str]) -> dict[str, PaneRow]:
    """Return LOOK's panes, by pane id; a window shown in two sessions counts once."""
    parsed = (_row(line) for line in lines if line.startswith("%"))
    return {row.pane: row for row in parsed if row}


def made_panes(lines: Iterable[str]) -> dict[str, Made]:
    """Return the panes made by a script, by pane id, in order."""
    fields = (line.split(" ") for line in lines if line.startswith("made "))
    return {pane: Made(pane, int(pid), int(server_pid), start) for _, pane, pid, server_pid, start in fields}


def _row(text: str) -> PaneRow | None:
    parts = text.split(" ", len(_FIELDS))
    if len(parts) <= len(_FIELDS):
        return None
    pane, pid, server_pid, start, dead, floats, window, session, width, height, *options, rest = parts
    tag, team, window_team, window_name = map(_option_text, options)
    if not all(map(_NUMBER.fullmatch, (pid, server_pid, start, width, height))):
        return None
    name, _, socket = rest.partition(":")
    return PaneRow(
        pane=pane,
        pid=int(pid),
        dead=dead == "1",
        is_floating=floats == "1",
        server_pid=int(server_pid),
        server_start=start,
        window=window,
        session=session,
        width=int(width),
        height=int(height),
        tag=tag,
        team=team,
        window_team=window_team,
        window_name=window_name,
        session_name=name,
        socket=socket,
    )


def _option_text(option: str) -> str:
    """Return an option's value, or "" for none: so no tag ever equals a missing one."""
    return "" if option == "-" else option


def _octal(match: re.Match[bytes]) -> bytes:
    return b"\\%03o" % match[0][0]


def marked(handle: Handle, is_needed: bool, count: int) -> str:
    """Return the line that highlights a pane's border or not, and appends a count to its window's name, if ours."""
    # tmux stores a backslash of a name as two, and would make four when it is given the name that it prints.
    own_name = r"#{s/[\][\]/\\/;s/ [?][0-9]+$//:window_name}"
    option: Command = ("set-option", "-p", "-t", handle.pane, NEEDED, "1" if is_needed else "")
    rename = line(("rename-window", "-t", handle.pane, f"{own_name} ?{count}" if count else own_name))
    # Not in a person's window that the pane was moved to: tmux would never name it automatically again.
    return f"{line(option)} ; {block(f'#{{!=:#{{{WINDOW}}},}}', handle.pane, rename)}"


def ours(handle: Handle) -> str:
    """Return the condition "this pane is still the handle's"; raises Refused for a malformed handle."""
    sound = (
        is_incarnation(handle.incarnation) and _PANE.fullmatch(handle.pane) and _NUMBER.fullmatch(handle.server_start)
    )
    if not sound:
        raise Refused(f"{handle.pane!r} is not a pane of pro0", code=ErrorCode.BACKEND_STALE)
    identity = f"{handle.incarnation} {handle.pid} {handle.server_pid} {handle.server_start}"
    return f"#{{==:#{{{TAG}}} #{{pane_pid}} #{{pid}} #{{start_time}},{identity}}}"
