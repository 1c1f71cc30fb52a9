"""The lead's record: runtime.json, or the lead's memory while the disk takes no writes.

Only the lease holder writes runtime.json. So an unwritten record is still true. The lead goes on from it and writes it
once there is room.
"""

from msgspec.structs import replace

from pro0.errors import Unwritable
from pro0.model.runtime import Runtime
from pro0.store.teams import TeamStore


class Record:
    """The record of one team, kept by its lead."""

    def __init__(self, team: TeamStore) -> None:
        self._team = team
        self._owed: Runtime | None = None
        self.trouble: Unwritable | None = None
        """The error of the last write while the record is only in memory, else None."""

    def read(self) -> Runtime:
        """Return the current record of this machine's sessions, written or not."""
        return self._owed or self._team.record.read()

    def write(self, runtime: Runtime, why: str) -> None:
        """Write the record; keep it in memory while the disk takes no writes."""
        try:
            with self._team.record.change(why) as change:
                change.value = replace(runtime, revision=change.value.revision)
        except Unwritable as error:
            self._owed, self.trouble = runtime, error
        else:
            self._owed = self.trouble = None
