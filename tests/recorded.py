"""Screens of the real programs, as recorded in tests/screens: which agent, which state, what it drew."""

import json
from pathlib import Path

import msgspec

from pro0.agents.drawings import drawing_named
from pro0.model.runtime import State
from pro0.model.screen import Reading, Screen
from pro0.rules.screens import screens
from pro0.rules.screens.escapes import screen_of

FOLDER = Path(__file__).parent / "screens"
QUIET = (State.IDLE, State.WORKING, State.ERROR)
"""States of a screen on which a line may be typed some time."""


class Recording(msgspec.Struct, frozen=True):
    """One recorded screen."""

    name: str
    agent: str
    state: str
    """A state of pro0, or `ended`: then it is none, since the screen does not know whether its program lives."""
    size: tuple[int, int]
    """Columns and rows of its terminal."""
    screen: Screen

    @property
    def plain(self) -> Screen:
        """The same, as a backend sees it that knows letters only."""
        return Screen(rows=self.screen.rows)


def recordings() -> list[Recording]:
    facts = json.loads((FOLDER / "INDEX.json").read_text(encoding="utf-8"))
    return [_recording(name, fact) for name, fact in facts.items()]


def drawn(agent: str, screen: Screen) -> Reading:
    """Return what the screen says, its title aside."""
    return screens.read(drawing_named(agent), msgspec.structs.replace(screen, title=""))[-1]


def _recording(name: str, fact: dict[str, object]) -> Recording:
    cursor, size = (msgspec.convert(fact[key], tuple[int, int]) for key in ("cursor", "size"))
    captured = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    screen = screen_of(captured, str(fact["title"]), cursor)
    return Recording(name, str(fact["agent"]), str(fact["state"]), size, screen)
