"""When the fixed line may be sent, and whether it was: judged by the state, and by what stands in the input box."""

from msgspec.structs import replace

from pro0.model.runtime import State
from pro0.model.screen import Reading, Screen
from pro0.rules.screens.screens import Drawing, typed
from pro0.rules.words.prompts import is_fixed_line

_OVER = (State.IDLE, State.ERROR)
"""The states in which a turn is over, however it went."""
_FITS = (*_OVER, State.DRAFT)


def free(drawing: Drawing, reading: Reading | None, screen: Screen | None) -> bool:
    """Return whether a line may be put into an agent's input: its turn is over, and the input is empty."""
    over = reading is not None and reading.state in _OVER
    return over and screen is not None and typed(drawing, screen) == ""


def alone(drawing: Drawing, reading: Reading | None, screen: Screen | None, line: str) -> bool:
    """Return whether the line stands in an agent's input, nothing else does, and no prompt is open."""
    return reading is not None and reading.state in _FITS and screen is not None and _holds(drawing, screen, line)


def comes(drawing: Drawing, reading: Reading | None, screen: Screen | None, line: str) -> bool:
    """Return whether a line that was put in may still be drawn: the input holds none but its beginning."""
    text = typed(drawing, screen) if screen else None
    fits = reading is not None and reading.state in _FITS
    return fits and text is not None and _bare(line).startswith(_bare(text))


def standing(drawing: Drawing, screen: Screen | None) -> str:
    """Return the fixed line that stands alone in an agent's input, of an earlier try or lead; empty for none."""
    text = typed(drawing, screen) if screen else None
    return text if text and is_fixed_line(text) else ""


def own(drawing: Drawing, reading: Reading, screen: Screen) -> Reading:
    """Return what a reading means: a draft that is nothing but a fixed line is no person's, its agent is idle."""
    if reading.state is State.DRAFT and standing(drawing, screen):
        return replace(reading, state=State.IDLE, rule="a line of pro0's own")
    return reading


def took(drawing: Drawing, reading: Reading | None, screen: Screen | None, line: str) -> bool:
    """Return whether a line that was sent has left the input."""
    if reading is None or screen is None or _holds(drawing, screen, line):
        return False
    return reading.state is not State.DRAFT


def _holds(drawing: Drawing, screen: Screen, line: str) -> bool:
    """Compare without white space: a narrow pane wraps the line anywhere."""
    text = typed(drawing, screen)
    return text is not None and _bare(text) == _bare(line)


def _bare(text: str) -> str:
    return "".join(text.split())
