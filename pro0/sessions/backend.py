"""What every backend promises; the contract suite in tests/contracts/ holds each of them to it."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from pro0.model.runtime import Handle, Process, Terminal
from pro0.model.screen import Screen

Key = Literal["Enter", "Escape"]
Asked = Callable[[], bool]
"""Whether an Enter may be pressed."""

QUIET = 2.0
"""Seconds before a look in which no person may have typed: their agent may not have drawn it when it was looked at."""


def always() -> bool:
    """Return True: nothing speaks against an Enter."""
    return True


def quiet(looked: float | None) -> float:
    """Return the seconds before now in which no person may have typed, for an act that rests on that look."""
    return QUIET + (0.0 if looked is None else time.monotonic() - looked)


class Place(msgspec.Struct, frozen=True):
    """Where sessions of one team are shown."""

    team: str
    uid: str
    project: Path
    inside_tmux: str = ""
    """The value of TMUX in the terminal that started the team, empty outside tmux."""
    iterm2_session: str = ""
    """The session of iTerm2 in whose terminal the team was started, empty outside it."""
    sockets: str = ""
    """The value of TMUX_TMPDIR there, where servers listen; with "" that of this process counts."""
    layout: str = "tiled"
    """How tmux lays windows out."""
    layouts: Mapping[str, str] = {}
    """How it lays those out that have a name."""
    terminals: str = ""
    """The folder for the sockets of terminals that guards make."""
    panes_per_window: int = 0
    """How many panes one window has at most, 0 for as many as there is room for."""


class Opening(msgspec.Struct, frozen=True):
    """One session to open: the guard's argv, the title people see, and the log of a session without terminal."""

    incarnation: str
    title: str
    argv: tuple[str, ...]
    log: Path
    window: str = ""
    """The name of the window it belongs in, empty for wherever there is room."""


class Backend(Protocol):
    """Shows sessions. It starts guards and nothing else, and touches only what it tagged."""

    name: str
    pace: float
    """Seconds that one look at the sessions is good for, since the next would cost too much."""

    def terminal(self, place: Place, incarnation: str) -> Terminal | None:
        """Return the terminal that the guard of a session is to make, None where the backend itself has one or none.

        Raises EnvironmentMissing when it cannot be made here.
        """
        ...

    def open(self, place: Place, openings: Sequence[Opening]) -> tuple[Handle, ...]:
        """Start every guard, all or none, and return the handles in order; raises EnvironmentMissing with the step."""
        ...

    def alive(self, handles: Sequence[Handle]) -> frozenset[str]:
        """Return the incarnations whose place still exists and still is ours."""
        ...

    def find(self, place: Place, incarnation: str, guard: Process, log: Path) -> Handle | None:
        """Return where the session of a living guard is shown, for a lead that has not opened it; None for nowhere."""
        ...

    def peek(self, handle: Handle, lines: int) -> str:
        """Return the last lines that the session shows, as plain text; raises Refused when the place is not ours."""
        ...

    def look(self, handles: Sequence[Handle]) -> dict[str, Screen]:
        """Return what sessions show now, by incarnation; those whose place is gone or not ours are left out."""
        ...

    def nudge(self, handle: Handle, line: str, still: Asked = always, looked: float | None = None) -> bool:
        """Show one line to the agent and press Enter; False when this backend or the pane's mode cannot.

        `still` is asked just before the Enter, which is not pressed when it says no: then the line is left there.
        Neither comes to a session in which a person types, as with `press`; `looked` is for the line.
        """
        ...

    def press(self, handle: Handle, key: Key, looked: float | None = None) -> bool:
        """Press one key in a session; False when this backend or the pane's mode cannot.

        Nor is it pressed when a person has typed there since `looked`, the time.monotonic() of the look that it rests
        on, or QUIET before: that is known in the very moment in which it would be pressed. Without `looked`, since now.
        iTerm2 does not say when somebody typed.
        """
        ...

    def label(self, states: Mapping[Handle, str]) -> None:
        """Show beside each session's title what its member does; where that cannot be shown, nothing happens."""
        ...

    def focus(self, handle: Handle) -> bool:
        """Bring a session before the person who watches the team; False where there is nothing to bring."""
        ...

    def close(self, handle: Handle) -> None:
        """Remove the place of an ended session; a place that is gone or not ours is left alone."""
        ...

    def attach_command(self, place: Place, handles: Sequence[Handle]) -> tuple[str, ...]:
        """Return the argv with which a person watches the team, empty when there is nothing to watch."""
        ...

    def dismantle(self, place: Place) -> None:
        """Remove what was made for the whole team (a server, a socket); nothing that belongs to the person."""
        ...
