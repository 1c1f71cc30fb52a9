"""One connection to a database, one transaction on it, and what their errors mean."""

import select
import sys
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, LiteralString

import psycopg
from psycopg import Connection

from pro0.errors import ErrorCode, KeepsNoTeam, StoreError, Unwritable
from pro0.store.database import schema
from pro0.store.lock import END_IT, NOBODY
from pro0.store.places.folder import CHANGED_AT_SERVER

Row = tuple[Any, ...]
_TAKES_NOTHING = (psycopg.errors.FeatureNotSupported, psycopg.errors.ReadOnlySqlTransaction)
"""What a server says that only reads: the first to a transaction that would write, the second to what makes tables."""


class DatabaseSession:
    """One connection, with what tells it apart at the server."""

    def __init__(self, connection: "Connection[Row]") -> None:
        self.connection = connection
        self.pid, self.since, _ = connection.execute(schema.SESSION).fetchone() or (0, None, None)

    @property
    def is_fresh(self) -> bool:
        """True while the server has not closed it: a server that ended has said so."""
        if self.is_lost:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0)

    def answers(self) -> bool:
        """Return True when the server still has it: of an end while this machine slept, no word comes by itself."""
        try:
            return self.is_fresh and bool(self.ask("select 1"))
        except psycopg.Error:
            return False

    @property
    def is_lost(self) -> bool:
        """True when it is of no more use."""
        return self.connection.closed

    def ask(self, query: LiteralString, values: Sequence[object] | dict[str, object] = ()) -> list[Row]:
        """Return the rows of a question."""
        cursor = self.connection.execute(query, values, binary=True)
        return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        """End it."""
        with suppress(psycopg.Error):
            self.connection.close()


class DatabaseAct:
    """One transaction behind a lock: everything in it happens, or nothing."""

    def __init__(self, session: DatabaseSession, subject: str) -> None:
        self._session = session
        self._subject = subject
        self.id = uuid.uuid4()
        self.wrote = False

    @property
    def role(self) -> str:
        """Return the role of the database that acts."""
        return self._session.connection.info.user

    def ask(self, query: LiteralString, values: Sequence[object] | dict[str, object] = ()) -> list[Row]:
        """Return the rows of a question in the transaction; raises StoreError."""
        with translated(self._subject):
            return self._session.ask(query, values)

    def write(self, query: LiteralString, values: Sequence[object] | dict[str, object] = ()) -> list[Row]:
        """Change something in the transaction; return the rows that says so. Raises StoreError."""
        self.wrote = True
        sys.audit(CHANGED_AT_SERVER)
        return self.ask(query, values)

    def load(self, query: LiteralString, rows: Iterable[Sequence[object]]) -> None:
        """Bring many rows in; raises StoreError."""
        self.wrote = True
        sys.audit(CHANGED_AT_SERVER)
        with translated(self._subject), self._session.connection.cursor() as cursor, cursor.copy(query) as copy:
            for row in rows:
                copy.write_row(row)


class LockHeld(StoreError):
    """A lock that was not to be had in time."""


@contextmanager
def translated(subject: str) -> Iterator[None]:
    """Raise an error of the database as one for a person."""
    try:
        yield
    except psycopg.errors.LockNotAvailable as error:
        raise LockHeld(f"{subject} is held by {NOBODY}", code=ErrorCode.LOCK_TIMEOUT, hint=END_IT) from error
    except psycopg.errors.ForeignKeyViolation as error:
        raise FileNotFoundError(2, "the team is gone") from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise KeepsNoTeam(f"cannot use {subject}: {sentence(error)}", hint="ask whose database it is") from error
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
        raise KeepsNoTeam(f"cannot use {subject}: the database keeps no team", hint="is it the right one?") from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        hint = "free some space" if isinstance(error, psycopg.errors.DiskFull) else "nothing was changed"
        raise Unwritable(f"cannot use {subject}: {sentence(error)}", hint=hint) from error
    except psycopg.Error as error:
        kind = Unwritable if isinstance(error, _TAKES_NOTHING) else StoreError
        raise kind(f"cannot use {subject}: {sentence(error)}", hint="nothing was changed") from error


def sentence(error: BaseException) -> str:
    """Return what an error says, in one line."""
    return " ".join(str(error).split())
