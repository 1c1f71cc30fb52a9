"""One state from several sources: the agent's own word, its title, its screen, its process.

The laws, in this order:

1. The process has the last word about its end, and an end stays an end.
2. An unknown state overwrites nothing. A living process says nothing about its work.
3. A state that waits for a person (a permission, a dialog, a draft) beats every other state, from any source: an Enter
   typed there does harm. An event is the exception: nothing fires when a person dismisses a prompt. An event is
   therefore over once the present screen or title contradicts it.
4. Else the most trusted source counts. A title that calls an agent ready counts only beside a known screen: titles do
   not know of dialogs. An agent is not starting any more once any source sees it at work, or failing.
5. Beside an unknown word of the agent's own (`words.py`) only work counts, or a wait for a person.
6. A finished turn is not a successful one. Idle becomes error when another source saw the turn fail. It stays error
   until a source with a better view says otherwise.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from pro0.model.runtime import ENDED, State
from pro0.model.screen import Reading

ATTENTION = (State.WAITING, State.DIALOG, State.DRAFT)
"""States in which pro0 types nothing, since it would answer for a person; the first beats the others."""

_BEGUN = (State.WORKING, State.ERROR)
DRAWN = ("title", "screen")
"""The sources that a person sees; they are read on this machine, even for an agent on another one."""
_TRUST = {"title": 1, "screen": 2, "process": 3}
"""The rank of each source, the most trusted first; every other source is the agent's own word: 0."""


def combine(previous: Reading | None, readings: Iterable[Reading]) -> Reading | None:
    """Return the state of one session; `previous` is the last result, None when nothing was known."""
    by_trust = sorted(readings, key=_trust)
    ended = next((reading for reading in by_trust if reading.source == "process" and reading.state in ENDED), None)
    # An end stays an end (law 1).
    if previous is not None and previous.state in ENDED:
        return previous
    counted = ended or _living(previous, [reading for reading in by_trust if reading.state not in ENDED])
    return counted and _completed(counted, by_trust, previous)


def difference(readings: Iterable[Reading]) -> tuple[Reading, Reading] | None:
    """Return the readings of the agent's own source and of its screen, if both are known and contradict each other.

    A draft is no contradiction: only the screen knows of it. The laws say which of the two counts.
    """
    by_trust = sorted(readings, key=_trust)
    own = next((reading for reading in by_trust if _trust(reading) == 0), None)
    drawn = next((reading for reading in by_trust if reading.source == "screen"), None)
    if own is None or drawn is None or State.UNKNOWN in (own.state, drawn.state) or drawn.state is State.DRAFT:
        return None
    return (own, drawn) if own.state is not drawn.state else None


def _living(previous: Reading | None, by_trust: list[Reading]) -> Reading | None:
    counted = [reading for reading in by_trust if not _doubtful(reading, by_trust)]
    meaningful = [reading for reading in counted if reading.state is not State.UNKNOWN]
    telling = [reading for reading in meaningful if reading.source != "process"]
    urgent = [reading for state in ATTENTION for reading in telling if reading.state is state]
    if urgent:
        return urgent[0]
    strange = next((reading for reading in counted if _is_strange(reading)), None)
    if strange:
        return next((reading for reading in telling if reading.state is State.WORKING), strange)
    # An unknown state, or a living process, leaves the last state in force (law 2).
    return _turn(previous, telling) if telling else previous or next(iter((*meaningful, *counted)), None)


def _is_strange(reading: Reading) -> bool:
    """Return True when a source used an unknown word; a screen without a sign uses none."""
    return reading.state is State.UNKNOWN and reading.source not in ("screen", "process")


def _doubtful(reading: Reading, readings: Iterable[Reading]) -> bool:
    """Return True when another source's present reading discredits this one."""
    if reading.source == "events" and reading.state in ATTENTION:
        return any(r.source in DRAWN and r.state not in (State.UNKNOWN, reading.state) for r in readings)
    if reading.source == "title" and reading.state is State.IDLE:
        return any(r.source == "screen" and r.state is State.UNKNOWN for r in readings)
    return False


def _turn(previous: Reading | None, telling: list[Reading]) -> Reading:
    """Return the most trusted source's reading of the turn; for its end, the worst reading of any source."""
    most_trusted = telling[0]
    if most_trusted.state is State.STARTING:
        return next((reading for reading in telling if reading.state in _BEGUN), most_trusted)
    if most_trusted.state is not State.IDLE:
        return most_trusted
    failed = next((reading for reading in telling if reading.state is State.ERROR), None)
    unseen = not any(reading.source == "screen" for reading in telling)
    if failed is None and unseen and previous is not None and previous.state is State.ERROR:
        return previous
    return failed or most_trusted


def _completed(counted: Reading, readings: list[Reading], previous: Reading | None) -> Reading:
    """Add facts from other sources: the note, work that continues below a draft, the agent's session."""
    note = counted.note or next((r.note for r in readings if r.state is counted.state and r.note), "")
    if counted.state is State.DRAFT and any(r.state is State.WORKING for r in readings):
        note = "while it works"
    sessions = [*(reading.session for reading in readings), previous.session if previous else ""]
    lost = any(r.source == "screen" and r.state is State.UNKNOWN for r in readings)
    return replace(counted, note=note, session=next(filter(None, sessions), counted.session), lost=lost)


def _trust(reading: Reading) -> int:
    return _TRUST.get(reading.source, 0)
