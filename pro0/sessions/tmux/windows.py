"""The places for a team's new panes, and the one script that makes them, as pure functions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from zlib import crc32

import msgspec

from pro0.sessions.backend import Opening, Place
from pro0.sessions.tmux.keys import bindings
from pro0.sessions.tmux.script import (
    COLOUR,
    LOOK,
    MADE,
    NAME,
    NEEDED,
    STARTED,
    STATE,
    TAG,
    TEAM,
    TITLE,
    WINDOW,
    Command,
    PaneRow,
    at_least,
    block,
    line,
    literal,
    word,
)

SIZE = (220, 50)
"""Columns and lines of our own server, until a client attaches."""

_ROOM = ((80, 24, 6), (60, 12, 4), (0, 0, 1))
"""The smallest columns and lines of a window, and its number of panes; 6 panes on SIZE are 110 columns wide."""

COLOURS = ("colour39", "colour208", "colour113", "colour177", "colour220", "colour203", "colour80", "colour147")
"""Readable on light and dark; a member has the same colour in every session."""

_WAITING = f"#{{W:#{{P:#{{?{NEEDED},#[reverse] #{{{TITLE}}} waits #[default] ,}}}}}}"
"""The members that keep a person waiting, in the status line of our own server."""
_MAIN = "60%"
"""The share of the main pane in the layouts that have one."""
_OLD_MAIN = ("132", "30")
"""The same share of SIZE in columns and lines, for a tmux that takes no percentage there."""

_SERVER: tuple[Command, ...] = (
    ("set-option", "-s", "escape-time", "10"),
    # Keys with their modifiers, on every terminal; `socket.watch` gives 24-bit colours to those that have them.
    ("set-option", "-s", "-a", "terminal-features", ",*:extkeys"),
    ("set-option", "-s", "extended-keys", "on"),
    ("set-option", "-s", "-q", "extended-keys-format", "csi-u"),
    ("set-option", "-g", "history-limit", "10000"),
    ("set-option", "-g", "mouse", "on"),
    ("set-option", "-g", "status-interval", "2"),
    ("set-option", "-g", "status-left", "#[bold] #{session_name} #[default] "),
    ("set-option", "-g", "status-left-length", "40"),
    ("set-option", "-g", "status-right", f"{_WAITING}#{{prefix}} d leaves "),
    ("set-option", "-g", "status-right-length", "120"),
)

_WINDOW: tuple[tuple[str, str], ...] = (
    ("remain-on-exit", "off"),
    ("allow-rename", "off"),
    ("synchronize-panes", "off"),
    ("pane-border-status", "top"),
    (
        "pane-border-format",
        f"#[fg=#{{{COLOUR}}}] #{{{TITLE}}}#[default] #{{?{NEEDED},#[fg=yellow]#[bold],}}#{{{STATE}}}#[default] ",
    ),
)

_RESIZED = "window-resized"


class Group(msgspec.Struct, frozen=True):
    """New panes in one window: a window of ours with room, or a new one."""

    target: str
    openings: tuple[Opening, ...]
    create: Command = ()
    """The command to make the window around its first pane; empty for an existing window."""

    @property
    def window(self) -> str:
        """Return the window's name from a layout; empty for none."""
        return self.openings[0].window


def arrange(place: Place, openings: Sequence[Opening], rows: Mapping[str, PaneRow], session: str) -> tuple[Group, ...]:
    """Fill the team's windows that have room, then plan more windows in `session`, or in a new session if it is ""."""
    groups: list[Group] = []
    size = next(((row.width, row.height) for row in rows.values() if row.session == session), SIZE)
    for name in dict.fromkeys(opening.window for opening in openings):
        waiting = [opening for opening in openings if opening.window == name]
        for window, room in _rooms(place, name, rows.values()).items():
            taken, waiting = waiting[:room], waiting[room:]
            if taken:
                groups.append(Group(window, tuple(taken)))
        room = _room(place, *size)
        for start in range(0, len(waiting), room):
            creating = any(group.create for group in groups)
            groups.append(
                _new(place, tuple(waiting[start : start + room]), session or (f"={place.team}" if creating else ""))
            )
    return tuple(groups)


def bring_up(place: Place, groups: Iterable[Group], *, start: bool, server: Iterable[Command] = ()) -> str:
    """Return the script to make every pane, all on one line, so the first failure ends it; `server` is for a new one.

    The script prints each new pane, then all panes with their tags.
    """
    commands = [*_SERVER, *server, *bindings()] if start else []
    for group in groups:
        commands += _group(place, group)
    return line(*commands, LOOK) + "\n"


def _rooms(place: Place, name: str, rows: Iterable[PaneRow]) -> dict[str, int]:
    """Return the free places in the windows of this name, by window.

    A window with a floating pane has none: that pane could lie where a new one is expected.
    """
    rooms: dict[str, int] = {}
    for row in rows:
        if row.window_team and row.window_team == place.uid and row.window_name == name:
            left = rooms.get(row.window, _room(place, row.width, row.height)) - 1
            rooms[row.window] = 0 if row.is_floating else left
    return {window: room for window, room in rooms.items() if room > 0}


def _room(place: Place, width: int, height: int) -> int:
    room = next(panes for columns, lines, panes in _ROOM if width >= columns and height >= lines)
    return min(room, place.panes_per_window or room)


def _new(place: Place, openings: tuple[Opening, ...], session: str) -> Group:
    # The window gets a unique name until it is made: a script cannot know the id of its own new window.
    name = f"pro0-{openings[0].incarnation}"
    if session:
        create: Command = ("new-window", "-d", "-t", f"{session}:", "-n", name)
    else:
        width, height = SIZE
        create = ("new-session", "-d", "-s", place.team, "-n", name, "-x", str(width), "-y", str(height))
    return Group(f"{session or f'={place.team}'}:={name}", openings, create)


def _group(place: Place, group: Group) -> Iterator[Command]:
    target, openings = group.target, group.openings
    if group.create:
        yield (*group.create, *MADE, *openings[0].argv)
        name_option = ((NAME, group.window),) if group.window else ()
        for name, value in ((WINDOW, place.uid), *name_option, *_WINDOW):
            yield ("set-option", "-w", "-t", target, name, value)
        yield from _mark(place, openings[0], target)
        openings = openings[1:]
    # With -d the focus stays, so only its position names the new pane: this needs a known layout, not zoomed.
    # (tmux 3.3a takes "+", the next pane, from another window than the one named.)
    yield ("select-layout", "-t", target, "tiled")
    for opening in openings:
        last_pane = f"{target}.{{bottom-right}}"
        yield ("split-window", "-d", "-v", "-t", last_pane, *MADE, *opening.argv)
        yield from _mark(place, opening, last_pane)
        yield ("select-layout", "-t", target, "tiled")
    layout = place.layouts.get(group.window, place.layout)
    if layout.startswith("main-"):
        yield from _with_main(target, layout)
    if layout != "tiled":
        yield ("select-layout", "-t", target, layout)
    if group.create:
        yield ("rename-window", "-t", target, "-".join(("pro0", place.team, *filter(None, [group.window]))))


def _with_main(target: str, layout: str) -> Iterator[Command]:
    """Yield the commands that keep the main pane's share, even when a client attaches or the window is resized."""
    for side, old in zip(("width", "height"), _OLD_MAIN, strict=True):
        change = f"set-option -w -t {word(target)} main-pane-{side}"
        yield ("if-shell", "-F", at_least(3, 3), f"{change} {_MAIN}", f"{change} {old}")
    relayout = f'if-shell -F "#{{?window_zoomed_flag,0,1}}" "select-layout {layout}"'
    yield ("set-hook", "-w", "-t", target, _RESIZED, relayout)


def given_back(place: Place, rows: Iterable[PaneRow]) -> str:
    """Return the script that gives the team's windows to a person who has panes there: their options, and their name.

    A name that the person gave a window stays.
    """
    names = (WINDOW, NAME, *(name for name, _ in _WINDOW), "main-pane-width", "main-pane-height")
    script: list[str] = []
    for window in sorted({row.window for row in rows if row.window_team and row.window_team == place.uid}):
        unset = [("set-option", "-w", "-q", "-u", "-t", window, name) for name in names]
        rename = line(("set-option", "-w", "-u", "-t", window, "automatic-rename"))
        named_by_us = block(f"#{{m:pro0-{place.team}*,#{{window_name}}}}", window, rename)
        back = f"{line(*unset, ('set-hook', '-w', '-u', '-t', window, _RESIZED))} ; {named_by_us}"
        script.append(block(f"#{{==:#{{{WINDOW}}},{place.uid}}}", window, back) + "\n")
    return "".join(script)


def _mark(place: Place, opening: Opening, pane: str) -> Iterator[Command]:
    title = literal(opening.title)
    # With -o a pane that has a tag keeps it, and the bring-up fails: it must never take a pane from its member.
    yield ("set-option", "-p", "-o", "-t", pane, TAG, opening.incarnation)
    yield ("set-option", "-p", "-t", pane, TEAM, place.uid)
    yield ("set-option", "-p", "-F", "-t", pane, STARTED, "#{pane_pid}")
    yield ("set-option", "-p", "-t", pane, TITLE, title)
    yield ("set-option", "-p", "-t", pane, COLOUR, COLOURS[crc32(opening.title.encode()) % len(COLOURS)])
    yield ("select-pane", "-t", pane, "-T", title)
