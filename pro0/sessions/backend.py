"""The interface of every backend; the contract suite in tests/contracts/ checks each backend against it."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from pro0.model.runtime import Handle, Process, Terminal
from pro0.model.screen import Screen

Key = Literal["Enter", "Escape"]
Asked = Callable[[], bool]
"""Returns True when an Enter may be pressed."""

QUIET = 2.0
"""Seconds without typing that must precede a look: by then the agent has drawn a person's last keys."""


def always() -> bool:
    """Return True: an Enter is always allowed."""
    return True


def quiet(looked: float | None) -> float:
    """Return the seconds before now without typing, required for an act based on the look at `looked`."""
    return QUIET + (0.0 if looked is None else time.monotonic() - looked)


class Place(msgspec.Struct, frozen=True):
    """The place to show one team's sessions."""

    team: str
    uid: str
    project: Path
    inside_tmux: str = ""
    """The value of TMUX in the terminal of the team's start; empty outside tmux."""
    iterm2_session: str = ""
    """The iTerm2 session of the team's start; empty outside iTerm2."""
    sockets: str = ""
    """The value of TMUX_TMPDIR there, the folder of tmux servers; "" for this process's own value."""
    layout: str = "tiled"
    """The tmux layout of windows."""
    layouts: Mapping[str, str] = {}
    """The tmux layouts of named windows, by name."""
    terminals: str = ""
    """The folder for the sockets of guards' terminals."""
    panes_per_window: int = 0
    """The most panes in one window; 0 for as many as fit."""


class Opening(msgspec.Struct, frozen=True):
    """One session to open: the guard's argv, the title for people, and the log of a session without a terminal."""

    incarnation: str
    title: str
    argv: tuple[str, ...]
    log: Path
    window: str = ""
    """The name of the session's window; empty for any window with room."""


class Backend(Protocol):
    """Shows sessions. A backend starts only guards, and touches only its own tagged places."""

    name: str
    pace: float
    """The least seconds between two looks at the sessions, where more looks would cost too much."""

    def terminal(self, place: Place, incarnation: str) -> Terminal | None:
        """Return the terminal that a session's guard is to make; None when the backend provides one, or uses none.

        Raises EnvironmentMissing when the terminal cannot be made here.
        """
        ...

    def open(self, place: Place, openings: Sequence[Opening]) -> tuple[Handle, ...]:
        """Start every guard, all or none, and return the handles in order; raises EnvironmentMissing with the step."""
        ...

    def alive(self, handles: Sequence[Handle]) -> frozenset[str]:
        """Return the incarnations with a place still present and still ours."""
        ...

    def find(self, place: Place, incarnation: str, guard: Process, log: Path) -> Handle | None:
        """Return the place of a living guard's session, for a lead that did not open it; None if it has none."""
        ...

    def peek(self, handle: Handle, lines: int) -> str:
        """Return a session's last lines as plain text; raises Refused when the place is not ours."""
        ...

    def look(self, handles: Sequence[Handle]) -> dict[str, Screen]:
        """Return the current screens by incarnation; sessions without a place of ours are left out."""
        ...

    def nudge(self, handle: Handle, line: str, may_press: Asked = always, looked: float | None = None) -> bool:
        """Type one line to the agent and press Enter; return False when the backend or the pane's mode cannot do it.

        `may_press` is called just before the Enter. When it returns False, the line stays there without an Enter.
        As with `press`, a session receives neither line nor Enter while a person types; `looked` is for the line.
        """
        ...

    def press(self, handle: Handle, key: Key, looked: float | None = None) -> bool:
        """Press one key in a session; return False when the backend or the pane's mode cannot do it.

        The key is not pressed when a person has typed there since QUIET seconds before `looked`. `looked` is the
        time.monotonic() of the look behind this key; without it, now counts. The check happens at the very moment of
        pressing. iTerm2 does not report typing.
        """
        ...

    def type(self, handle: Handle, data: bytes) -> bool:
        """Type a person's bytes from elsewhere into a session, and count them as typing; False if it cannot."""
        ...

    def label(self, states: Mapping[Handle, str]) -> None:
        """Show each member's state beside its session's title; do nothing when the backend cannot."""
        ...

    def mark(self, needed: Mapping[Handle, bool], count: int) -> None:
        """Highlight the members that keep a person waiting, and show the number of needs."""
        ...

    def ring(self, handles: Sequence[Handle], title: str, text: str) -> None:
        """Ring at the first of these sessions, with a desktop notice on terminals that can show one."""
        ...

    def focus(self, handle: Handle) -> bool:
        """Show a session to whoever views the team; False when there is nothing to show."""
        ...

    def close(self, handle: Handle) -> None:
        """Remove the place of an ended session; leave a missing place, or one not ours, alone."""
        ...

    def attach_command(self, place: Place, handles: Sequence[Handle]) -> tuple[str, ...]:
        """Return the argv for a person to watch the team; empty when there is nothing to watch."""
        ...

    def dismantle(self, place: Place) -> None:
        """Remove things made for the whole team (a server, a socket); nothing of the person's."""
        ...
