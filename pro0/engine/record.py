"""The record of what the lead knows: runtime.json, and the lead's own memory while the disk takes nothing.

Only the holder of the lease writes runtime.json. So what it could not write is true all the same: it goes on from
there, and writes it when there is room.
"""

from msgspec.structs import replace

from pro0.errors import Unwritable
from pro0.model.runtime import Runtime
from pro0.store.teams import TeamStore


class Record:
    """The record of one team, in the hands of its lead."""

    def __init__(self, team: TeamStore) -> None:
        self._team = team
        self._owed: Runtime | None = None
        self.trouble: Unwritable | None = None
        """Why something is owed to the disk, if it is."""

    def read(self) -> Runtime:
        """Return what is known now, written or not."""
        return self._owed or self._team.runtime.read()

    def write(self, runtime: Runtime, why: str) -> None:
        """Write it down, or keep it in mind and owe it."""
        try:
            with self._team.runtime.change(why) as change:
                change.value = replace(runtime, revision=change.value.revision)
        except Unwritable as error:
            self._owed, self.trouble = runtime, error
        else:
            self._owed = self.trouble = None
