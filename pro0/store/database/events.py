"""The events of a team as rows; each read continues after the last event read."""

from collections.abc import Iterator
from pathlib import Path
from typing import LiteralString

from pro0.store.database import schema
from pro0.store.database.place import TeamRows
from pro0.store.database.session import Row
from pro0.store.journal import Journal


class EventRows(Journal):
    """The events of one team; each read continues after the last event read."""

    def __init__(self, team: TeamRows) -> None:
        super().__init__(Path())
        self._team = team
        self._latest = 0

    def last(self, number: int) -> list[bytes]:
        """Return the last lines, at most `number`, and skip all older ones."""
        lines = [*self._lines(reversed(self._rows_of(schema.LATEST_EVENTS, max(1, number))))]
        return lines[max(0, len(lines) - number) :]

    def fresh(self) -> Iterator[bytes]:
        """Yield the lines added since the last read, oldest first; raises Unwritable for a server out of reach."""
        yield from self._lines(iter(self._rows_of(schema.EVENTS_AFTER, self._latest)))

    def _rows_of(self, query: LiteralString, value: int) -> list[Row]:
        return self._team.ask(f"the events of {self._team.name}", query, value)

    def _lines(self, rows: Iterator[Row]) -> Iterator[bytes]:
        for number, _, line in rows:
            self._latest = max(self._latest, number)
            yield bytes(line).removesuffix(b"\n")
