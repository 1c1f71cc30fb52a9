"""A wall clock that is set, or a lid that is closed: what was stamped before is moved along.

So a time-out is seconds that passed for this team. A lead that starts after the jump knows nothing of it.
"""

import time
from collections.abc import Iterator
from datetime import datetime, timedelta

from pro0.model.runtime import Runtime
from pro0.model.task import TaskList
from pro0.model.team import Wanted
from pro0.ops.context import clock

TOLERANCE = timedelta(seconds=2)
"""What a clock may drift, or be slewed, without having jumped."""
AWAKE = timedelta(seconds=5)
"""The most that passes between two looks of a lead that runs: a longer gap is time in which nothing ran."""


class Jumps:
    """Notices at every look by how much the clock has jumped since the last one."""

    def __init__(self) -> None:
        self._wall = clock()
        self._steady = time.monotonic()
        self._moved: dict[datetime, datetime] = {}

    def look(self) -> datetime:
        """Return the time now, having moved all stamps that are known if that is not when it should be."""
        wall, steady = clock(), time.monotonic()
        passed = min(timedelta(seconds=steady - self._steady), AWAKE)
        jump = wall - self._wall - passed
        if abs(jump) > TOLERANCE:
            self._moved = {stamp: moved + jump for stamp, moved in self._moved.items()}
        self._wall, self._steady = wall, steady
        return wall

    def moved(self, wanted: Wanted, runtime: Runtime, tasks: TaskList | None = None) -> dict[datetime, datetime]:
        """Return how the stamps would read that were made before a jump; stamps that are new are known from now on."""
        self._moved = {stamp: self._moved.get(stamp, stamp) for stamp in _stamps(wanted, runtime, tasks)}
        return {stamp: moved for stamp, moved in self._moved.items() if moved != stamp}


def _stamps(wanted: Wanted, runtime: Runtime, tasks: TaskList | None) -> Iterator[datetime]:
    """Yield every moment from which the rules count."""
    for wish in (wanted.stop, *(seat.shutdown for seat in wanted.seats)):
        if wish:
            yield wish.at
    yield from (seat.answer.at for seat in wanted.seats if seat.answer)
    yield from (limit.until for limit in runtime.limits)
    for state in runtime.seats:
        yield from filter(None, (state.since, state.started_at, state.asked_at, state.ending_since))
    for claim in (task.claim for task in (tasks.tasks if tasks else ()) if task.claim):
        yield claim.since or claim.claimed_at
