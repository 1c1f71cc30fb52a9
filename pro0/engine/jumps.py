"""Clock jumps: after a clock change or a closed lid, earlier time stamps move along.

So a time-out counts seconds of running time. A lead started after the jump does not notice it.
"""

import time
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from pro0.model.decision import Seen
from pro0.model.runtime import Report, Runtime
from pro0.model.task import TaskList
from pro0.model.team import Wanted
from pro0.ops.context import clock

TOLERANCE = timedelta(seconds=2)
"""Clock drift or slew below this is no jump."""
AWAKE = timedelta(seconds=5)
"""The longest gap between two looks of a running lead. In a longer gap nothing ran."""


class Jumps:
    """Measures at every look how far the wall clock has jumped since the last one."""

    def __init__(self) -> None:
        self._wall = clock()
        self._steady = time.monotonic()
        self._moved: dict[datetime, datetime] = {}
        self._tasks: TaskList | None = None
        """The tasks as they were read last."""

    def look(self) -> datetime:
        """Return the current time. After a jump, move all known stamps by it."""
        wall, steady = clock(), time.monotonic()
        passed = min(timedelta(seconds=steady - self._steady), AWAKE)
        jump = wall - self._wall - passed
        if abs(jump) > TOLERANCE:
            self._moved = {stamp: moved + jump for stamp, moved in self._moved.items()}
        self._wall, self._steady = wall, steady
        return wall

    def moved(
        self, wanted: Wanted, runtime: Runtime, tasks: TaskList | None = None, looks: Iterable[Seen | Report] = ()
    ) -> dict[datetime, datetime]:
        """Return the corrected value of each stamp made before a jump, and remember new stamps.

        When `tasks` is None, the tasks of the last look count: a failed read must not forget the stamps of claims.
        """
        self._tasks = self._tasks if tasks is None else tasks
        stamps = (*_stamps(wanted, runtime, self._tasks), *(look.since for look in looks))
        self._moved = {stamp: self._moved.get(stamp, stamp) for stamp in stamps}
        return {stamp: moved for stamp, moved in self._moved.items() if moved != stamp}


def _stamps(wanted: Wanted, runtime: Runtime, tasks: TaskList | None) -> Iterator[datetime]:
    """Yield every moment used by a time-out."""
    for wish in (wanted.stop, *(seat.shutdown for seat in wanted.seats)):
        if wish:
            yield wish.at
    yield from (seat.answer.at for seat in wanted.seats if seat.answer)
    yield from (seat.gate.decided_at for seat in wanted.seats if seat.gate and seat.gate.decided_at)
    for limit in runtime.limits:
        yield from (limit.at, limit.until)
    for state in runtime.seats:
        yield from filter(None, (state.since, state.started_at, state.asked_at, state.ending_since, state.nudged_at))
        yield from filter(None, (state.warned_at, state.turn and state.turn.at))
    with_sessions = {seat.task for seat in wanted.seats if seat.task}
    for task in tasks.tasks if tasks else ():
        if task.claim:
            yield task.claim.since or task.claim.claimed_at
        if task.completed_at and task.id in with_sessions:
            yield task.completed_at
