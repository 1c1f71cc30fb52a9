"""When the fixed line may be sent, and whether it was: judged by the state and the screen."""

import re

from pro0.model.runtime import State
from pro0.model.screen import Reading, Screen

_FITS = (State.IDLE, State.DRAFT)
_HEIGHT = 12
"""Rows from the bottom in which an agent's input is."""
_SHOWN = 30
"""How many characters of a line are looked for: a narrow pane wraps the rest."""


def alone(reading: Reading | None, screen: Screen | None, line: str) -> bool:
    """Return whether the line stands in an agent's input, nothing else does, and no prompt is open."""
    return reading is not None and reading.state in _FITS and screen is not None and _input(screen, line) is not None


def took(reading: Reading | None, screen: Screen | None, line: str) -> bool:
    """Return whether a line that was sent has left the input."""
    if reading is None or screen is None or reading.state is State.DRAFT:
        return False
    return reading.state is not State.IDLE or _input(screen, line) is None


def _input(screen: Screen, line: str) -> str | None:
    """Return the row where the cursor's input begins with the line, after nothing but a prompt's signs."""
    rows = [row for row in screen.rows if row.strip()][-_HEIGHT:]
    start = re.compile(rf"^[^\w]*{re.escape(line[:_SHOWN])}")
    return next((row for row in reversed(rows) if start.search(row)), None)
