"""Waiting for the end of a session on a full disk: it is over, but its end cannot be recorded."""

import time
from collections.abc import Iterable

from pro0 import processes
from pro0.errors import Unwritable
from pro0.model.runtime import ENDED, SeatState
from pro0.store.teams import TeamStore

_PAUSE = 2.0
"""Seconds an end may go unrecorded before the client checks for disk space."""


class Room:
    """Reports an unrecordable end, instead of waiting for its record."""

    def __init__(self, team: TeamStore) -> None:
        self._team = team
        self._look_at = time.monotonic() + _PAUSE

    def look(self, states: Iterable[SeatState], subject: str) -> None:
        """Check from time to time; raises Unwritable when all these sessions are dead and the disk has no room."""
        if time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + _PAUSE
        if not any(self._lives(state) for state in states):
            try:
                self._team.runtime.try_room()
            except Unwritable as error:
                raise unrecorded(subject, error) from error

    def _lives(self, state: SeatState) -> bool:
        """Return True unless a session is known to be dead. For one on another machine, only the lead there knows."""
        if self._team.record.read().session(state.incarnation) is None:
            return state.state not in ENDED
        report = self._team.report(state.incarnation)
        guard = report.guard if report else state.guard
        return guard is not None and processes.may_live(guard)


def unrecorded(subject: str, error: Unwritable) -> Unwritable:
    """Return the error for an end without room on disk to record it."""
    message = f"{subject} has ended, but that is not recorded: {error.message}"
    return Unwritable(message, hint="free some space; then it is recorded")
