"""One state out of what several sources say: the agent's own word, its title, its screen."""

from collections.abc import Sequence

from msgspec.structs import replace

from pro0.model.runtime import State
from pro0.model.screen import Reading

_FIRST = (State.WAITING, State.DIALOG, State.DRAFT)
"""States that beat every other, whichever source says so: an Enter there does harm, and only the screen knows some."""


def combine(previous: Reading | None, readings: Sequence[Reading]) -> Reading | None:
    """Return the state that counts, from readings by falling trust; what is unknown overwrites nothing."""
    known = [reading for reading in readings if reading.state is not State.UNKNOWN]
    if not known:
        return previous
    session = next((reading.session for reading in known if reading.session), "")
    first = next((r for state in _FIRST for r in known if r.state is state), None)
    return replace(first or _ended_badly(known) or known[0], session=session)


def _ended_badly(known: Sequence[Reading]) -> Reading | None:
    """Return the error in which a turn has ended that some source calls merely over."""
    if known[0].state is not State.IDLE:
        return None
    return next((reading for reading in known if reading.state is State.ERROR), None)
