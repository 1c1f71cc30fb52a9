"""Everything that a database keeps of one team, read and written as a whole when the team is copied."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString

from pro0.errors import ErrorCode, NotFound, Refused
from pro0.store.database import schema
from pro0.store.database.lease import DatabaseLease
from pro0.store.database.place import TeamRows, unused_name
from pro0.store.database.server import lock_of, whole_lock_of
from pro0.store.database.session import DatabaseAct, Row
from pro0.store.root import KINDS


class RowContents:
    """The documents and events of one team as rows."""

    def __init__(self, folder: Path, rows: TeamRows) -> None:
        self._folder = folder
        self._rows = rows
        self._subject = str(rows.label)
        self._why = f"copy team {rows.name}"
        self._act: DatabaseAct | None = None
        """The transaction of `held`, which keeps others from changing anything."""

    def keys(self) -> list[str]:
        """Return the names of all documents, in order."""
        rows_by_kind = [self._ask(schema.NAMES, f"{kind}/", f"{kind}0") for kind in KINDS]
        return sorted(str(name) for rows in rows_by_kind for (name,) in rows)

    def read(self, key: str) -> bytes:
        """Return the bytes of one document; raises NotFound."""
        for (data,) in self._ask(schema.READ, key):
            return bytes(data)
        raise NotFound(f"{self._rows.label / key} does not exist")

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield all events, oldest first, each with the number of the file it came from, 0 for none."""
        latest = 0
        while rows := self._ask(schema.SOME_EVENTS_AFTER, latest):
            yield from ((part, bytes(line)) for _, part, line in rows)
            latest = rows[-1][0]

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep all others from changing the team's rows; raises StoreError naming the holder of a lock."""
        with self._rows.server.act(whole_lock_of(self._rows.name), self._subject, self._why) as act:
            self._act = act
            try:
                yield
            finally:
                self._act = None

    @contextmanager
    def led(self) -> Iterator[None]:
        """Hold the lead's lease at the server; raises Refused when a lead elsewhere has it."""
        lease = DatabaseLease(self._folder, self._rows)
        lease.take_there()
        try:
            yield
        finally:
            lease.drop()

    def prepare(self) -> None:
        """Make the tables if they are missing; raises Refused when another team there has the same name."""
        self._rows.server.prepare(self._subject)
        for (uid,) in self._rows.server.ask(self._subject, schema.UID, (self._rows.name,)):
            if uid != self._rows.uid:
                self._refuse()

    def fill(self, documents: Iterable[tuple[str, bytes]], lines: Iterable[tuple[int, bytes]]) -> None:
        """Replace all rows of this team by these documents and events, in one transaction."""
        name = self._rows.name
        with self._rows.server.act(lock_of(name), self._subject, self._why) as act:
            for earlier in (name, unused_name(name, self._rows.uid)):
                act.write(schema.DROP, (earlier, self._rows.uid))
            team_rows = act.write(schema.FOUND, (name, self._rows.uid))
            if not team_rows:
                self._refuse()
            team = team_rows[0][0]
            act.load(schema.KEEP_DOCUMENTS, ((team, key, data) for key, data in documents))
            act.load(schema.KEEP_LINES, ((team, part, line) for part, line in lines))

    def clear(self) -> None:
        """Remove the team's rows, except those set aside; write nothing when there are none."""
        if not self._ask(schema.IS):  # on a full disk even the removal of nothing would fail
            return
        with self._rows.server.act(lock_of(self._rows.name), self._subject, self._why) as act:
            act.write(schema.DROP, (self._rows.name, self._rows.uid))

    def set_aside(self) -> None:
        """Rename the rows to a name that no query uses, when the transaction of `held` commits."""
        assert self._act
        name, unused = self._rows.name, unused_name(self._rows.name, self._rows.uid)
        self._act.write(schema.DROP, (unused, self._rows.uid))
        self._act.write(schema.RENAME, (unused, name, self._rows.uid))

    def _refuse(self) -> None:
        text = f"there is another team {self._rows.name} in {self._subject}"
        raise Refused(text, code=ErrorCode.CONFLICT, hint="choose another database; nothing was changed")

    def _ask(self, query: LiteralString, *values: object) -> list[Row]:
        if self._act:
            return self._act.ask(query, (self._rows.name, self._rows.uid, *values))
        return self._rows.ask(self._subject, query, *values)
