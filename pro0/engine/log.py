"""The lead's log: one JSON object a line."""

import os
from contextlib import suppress

from pro0.errors import Pro0Error
from pro0.model.stored import iso
from pro0.ops.context import clock
from pro0.store import atomic, journal
from pro0.store.files import translate
from pro0.store.paths import LEAD_LOG
from pro0.store.teams import TeamStore


def reason(error: Exception) -> str:
    """Return what an error says; one that is not ours is named too."""
    return error.message if isinstance(error, Pro0Error) else f"{type(error).__name__}: {error}"


class Log:
    """Appends to the lead's log. A vanished team is no failure."""

    def __init__(self, team: TeamStore) -> None:
        try:
            with atomic.folder(team.paths.logs) as folder:
                journal.check(folder, LEAD_LOG)
                self._folder = os.dup(folder)
        except OSError as error:
            translate(error, team.paths.logs / LEAD_LOG)

    def write(self, event: str, **details: object) -> None:
        """Append one event with its details."""
        line = {"at": iso(clock()), "pid": os.getpid(), "event": event, **details}
        with suppress(OSError):  # a full disk is no reason to leave a team without its lead
            journal.append(self._folder, LEAD_LOG, line)
