"""When the fixed line may be sent, and whether it was: judged by the state, and by what stands in the input box."""

from pro0.model.runtime import State
from pro0.model.screen import Reading, Screen
from pro0.rules.screens import Drawing, typed

_FITS = (State.IDLE, State.DRAFT)


def free(drawing: Drawing, reading: Reading | None, screen: Screen | None) -> bool:
    """Return whether a line may be put into an agent's input: its turn is over, and the input is empty."""
    idle = reading is not None and reading.state is State.IDLE
    return idle and screen is not None and typed(drawing, screen) == ""


def alone(drawing: Drawing, reading: Reading | None, screen: Screen | None, line: str) -> bool:
    """Return whether the line stands in an agent's input, nothing else does, and no prompt is open."""
    return reading is not None and reading.state in _FITS and screen is not None and _holds(drawing, screen, line)


def took(drawing: Drawing, reading: Reading | None, screen: Screen | None, line: str) -> bool:
    """Return whether a line that was sent has left the input."""
    if reading is None or screen is None or _holds(drawing, screen, line):
        return False
    return reading.state is not State.DRAFT


def _holds(drawing: Drawing, screen: Screen, line: str) -> bool:
    """Compare without white space: a narrow pane wraps the line anywhere."""
    text = typed(drawing, screen)
    return text is not None and "".join(text.split()) == "".join(line.split())
