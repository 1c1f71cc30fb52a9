"""One state out of what several sources say: the agent's own word, its title, its screen, its process.

The laws, in this order:

1. The process has the last word about its end, and an end stays an end.
2. What is unknown overwrites nothing; that a process is alive says nothing of what it does.
3. What waits for a person (a permission, a dialog, a draft) beats every other state, whichever source sees it: an Enter
   typed there does harm. An event is the exception: nothing fires when a person dismisses a prompt, so an event that is
   contradicted by what is drawn now is over.
4. Else the most trusted source counts, and a title that calls an agent ready counts only beside a screen that is known:
   titles do not know of dialogs. Where any source sees an agent at work, or failing, it is not starting any more.
5. Beside a word of the agent's own that nobody knows (`words.py`) only work counts, or what waits for a person.
6. A finished turn is not a successful one: idle is error, when another source saw how the turn ended, and stays error
   for as long as nothing that could see better says otherwise.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from pro0.model.runtime import ENDED, State
from pro0.model.screen import Reading

ATTENTION = (State.WAITING, State.DIALOG, State.DRAFT)
"""States in which nothing may be typed, since it would answer for a person; the first beats the others."""

_BEGUN = (State.WORKING, State.ERROR)
_DRAWN = ("title", "screen")
_TRUST = {"title": 1, "screen": 2, "process": 3}
"""By source, the smallest first; every other source is the agent's own word: 0."""


def combine(previous: Reading | None, readings: Iterable[Reading]) -> Reading | None:
    """Return the state that counts of one session; `previous` is what this said last, None when nothing was known."""
    seen = sorted(readings, key=_trust)
    ended = next((reading for reading in seen if reading.source == "process" and reading.state in ENDED), None)
    if previous is not None and previous.state in ENDED:
        return previous
    counted = ended or _living(previous, [reading for reading in seen if reading.state not in ENDED])
    return counted and _completed(counted, seen, previous)


def _living(previous: Reading | None, seen: list[Reading]) -> Reading | None:
    counted = [reading for reading in seen if not _doubtful(reading, seen)]
    known = [reading for reading in counted if reading.state is not State.UNKNOWN]
    telling = [reading for reading in known if reading.source != "process"]
    urgent = [reading for state in ATTENTION for reading in telling if reading.state is state]
    if urgent:
        return urgent[0]
    strange = next((reading for reading in counted if _is_strange(reading)), None)
    if strange:
        return next((reading for reading in telling if reading.state is State.WORKING), strange)
    return _turn(previous, telling) if telling else previous or next(iter((*known, *counted)), None)


def _is_strange(reading: Reading) -> bool:
    """Say whether a source used a word that nobody knows; a screen without a sign uses none."""
    return reading.state is State.UNKNOWN and reading.source not in ("screen", "process")


def _doubtful(reading: Reading, seen: Iterable[Reading]) -> bool:
    """Say whether what another source sees now takes the weight from a reading."""
    if reading.source == "events" and reading.state in ATTENTION:
        return any(r.source in _DRAWN and r.state not in (State.UNKNOWN, reading.state) for r in seen)
    if reading.source == "title" and reading.state is State.IDLE:
        return any(r.source == "screen" and r.state is State.UNKNOWN for r in seen)
    return False


def _turn(previous: Reading | None, telling: list[Reading]) -> Reading:
    """Return what the most trusted source says of the turn, and of its end the worst that any source saw."""
    first = telling[0]
    if first.state is State.STARTING:
        return next((reading for reading in telling if reading.state in _BEGUN), first)
    if first.state is not State.IDLE:
        return first
    failed = next((reading for reading in telling if reading.state is State.ERROR), None)
    unseen = not any(reading.source == "screen" for reading in telling)
    if failed is None and unseen and previous is not None and previous.state is State.ERROR:
        return previous
    return failed or first


def _completed(counted: Reading, seen: list[Reading], previous: Reading | None) -> Reading:
    """Add what other sources know: what is asked for, that a turn goes on below a draft, the agent's session."""
    note = counted.note or next((r.note for r in seen if r.state is counted.state and r.note), "")
    if counted.state is State.DRAFT and any(r.state is State.WORKING for r in seen):
        note = "while it works"
    named = [*(reading.session for reading in seen), previous.session if previous else ""]
    lost = any(r.source == "screen" and r.state is State.UNKNOWN for r in seen)
    return replace(counted, note=note, session=next(filter(None, named), counted.session), lost=lost)


def _trust(reading: Reading) -> int:
    return _TRUST.get(reading.source, 0)
