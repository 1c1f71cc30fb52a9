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
"""Errors of a read-only server: the first for a transaction that would write, the second for making tables."""


class DatabaseSession:
    """One connection, with its process id and start at the server, which identify it there."""

    def __init__(self, connection: "Connection[Row]") -> None:
        self.connection = connection
        self.pid, self.since, *_ = connection.execute(schema.SESSION).fetchone() or (0, None)

    @property
    def is_fresh(self) -> bool:
        """True while the server has not closed the connection; a server announces its end."""
        if self.is_lost:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0)

    def answers(self) -> bool:
        """Return True when the server answers: a connection that ended while this machine slept may still look open."""
        try:
            return self.is_fresh and bool(self.ask("select 1"))
        except psycopg.Error:
            return False

    @property
    def is_lost(self) -> bool:
        """True when the connection is closed."""
        return self.connection.closed

    def ask(self, query: LiteralString, values: Sequence[object] | dict[str, object] = ()) -> list[Row]:
        """Return the rows of a query."""
        cursor = self.connection.execute(query, values, binary=True)
        return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        """Close the connection."""
        with suppress(psycopg.Error):
            self.connection.close()


class DatabaseAct:
    """One transaction under a lock: everything in it happens, or nothing."""

    def __init__(self, session: DatabaseSession, subject: str) -> None:
        self._session = session
        self._subject = subject
        self.id = uuid.uuid4()
        self.wrote = False

    @property
    def role(self) -> str:
        """Return the database role of the connection."""
        return self._session.connection.info.user

    def ask(self, query: LiteralString, values: Sequence[object] | dict[str, object] = ()) -> list[Row]:
        """Return the rows of a query in the transaction; raises StoreError."""
        with translated(self._subject):
            return self._session.ask(query, values)

    def write(self, query: LiteralString, values: Sequence[object] | dict[str, object] = ()) -> list[Row]:
        """Run a query that changes rows; return its result. Raises StoreError."""
        self.wrote = True
        sys.audit(CHANGED_AT_SERVER)
        return self.ask(query, values)

    def load(self, query: LiteralString, rows: Iterable[Sequence[object]]) -> None:
        """Insert many rows; raises StoreError."""
        self.wrote = True
        sys.audit(CHANGED_AT_SERVER)
        with translated(self._subject), self._session.connection.cursor() as cursor, cursor.copy(query) as copy:
            for row in rows:
                copy.write_row(row)


class LockHeld(StoreError):
    """A lock that was not free in time."""


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
        raise KeepsNoTeam(f"cannot use {subject}: {sentence(error)}", hint="ask its owner for access") from error
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
        hint = "is it the right database?"
        raise KeepsNoTeam(f"cannot use {subject}: the database has no team", hint=hint) from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        hint = "free some space" if isinstance(error, psycopg.errors.DiskFull) else "nothing was changed"
        raise Unwritable(f"cannot use {subject}: {sentence(error)}", hint=hint) from error
    except psycopg.Error as error:
        kind = Unwritable if isinstance(error, _TAKES_NOTHING) else StoreError
        raise kind(f"cannot use {subject}: {sentence(error)}", hint="nothing was changed") from error


def sentence(error: BaseException) -> str:
    """Return the text of an error in one line."""
    return " ".join(str(error).split())
