"""Safe sending of the fixed line: the state and the input box show when it may be sent, and if it was sent."""

from msgspec.structs import replace

from pro0.model.runtime import State
from pro0.model.screen import Reading, Screen
from pro0.rules.screens.screens import Drawing, typed
from pro0.rules.words.prompts import is_fixed_line, is_unread_line

_OVER = (State.IDLE, State.ERROR)
"""The states after a turn, whatever its result."""
_FITS = (*_OVER, State.DRAFT)


def input_is_free(drawing: Drawing, reading: Reading | None, screen: Screen | None) -> bool:
    """Return True when an agent's input may take a line: its turn is over, and the input is empty."""
    over = reading is not None and reading.state in _OVER
    return over and screen is not None and typed(drawing, screen) == ""


def holds_only(drawing: Drawing, reading: Reading | None, screen: Screen | None, line: str) -> bool:
    """Return True when the line stands alone in an agent's input, and no prompt is open."""
    return reading is not None and reading.state in _FITS and screen is not None and _holds(drawing, screen, line)


def may_still_appear(drawing: Drawing, reading: Reading | None, screen: Screen | None, line: str) -> bool:
    """Return True when an inserted line may still be drawn: the input holds nothing but its beginning."""
    text = typed(drawing, screen) if screen else None
    fits = reading is not None and reading.state in _FITS
    return fits and text is not None and _bare(line).startswith(_bare(text))


def left_over_line(drawing: Drawing, screen: Screen | None) -> str:
    """Return the fixed line alone in an agent's input, left by an earlier try or lead; empty for none."""
    text = typed(drawing, screen) if screen else None
    return text if text and is_fixed_line(text) else ""


def tells_the_same(line: str, other: str) -> bool:
    """Return True when two fixed lines are both about mail, or both about tasks."""
    return is_unread_line(line) == is_unread_line(other)


def ignoring_own_line(drawing: Drawing, reading: Reading, screen: Screen) -> Reading:
    """Return the reading, corrected: a draft of a fixed line alone is no person's, so its agent is idle."""
    if reading.state is State.DRAFT and left_over_line(drawing, screen):
        return replace(reading, state=State.IDLE, rule="a line of pro0's own")
    return reading


def was_taken(drawing: Drawing, reading: Reading | None, screen: Screen | None, line: str) -> bool:
    """Return True when a sent line has left the input."""
    if reading is None or screen is None or _holds(drawing, screen, line):
        return False
    return reading.state is not State.DRAFT


def _holds(drawing: Drawing, screen: Screen, line: str) -> bool:
    """Compare without white space: a narrow pane wraps the line anywhere."""
    text = typed(drawing, screen)
    return text is not None and _bare(text) == _bare(line)


def _bare(text: str) -> str:
    return "".join(text.split())
