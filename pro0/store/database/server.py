"""One database as this process reaches it: its connections, and its transactions, done whole or not at all."""

import hashlib
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import LiteralString, NamedTuple

import psycopg
from psycopg.client_cursor import ClientCursor
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pro0.errors import ErrorCode, StoreError, Unwritable
from pro0.store.database import schema
from pro0.store.database.session import DatabaseAct, DatabaseSession, LockHeld, Row, sentence, translated
from pro0.store.lock import END_IT, NOBODY, PATIENCE

CONNECTING = 5.0
"""Seconds to wait for a server that starts, or starts again."""
IDLE = 4
"""Connections that stay open when nobody uses them."""
_WATCHED = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 4, "tcp_user_timeout": 30000}
"""Without these, a process would wait for minutes for a server out of reach; the URL may set other values."""
_SETTLING = 1.0
"""Seconds to wait before ending, at the server, a lost connection that the server still counts as open."""
_FORGETS = 64
"""One transaction in so many deletes the ids of transactions older than a day."""
_OURS = "pro0 pid "
"""How the names of our connections begin."""
_LONGEST = 49
"""Bytes of a holder's name: the server keeps 63, of which the time takes 14."""
_GONE = (
    psycopg.errors.AdminShutdown,
    psycopg.errors.CrashShutdown,
    psycopg.errors.CannotConnectNow,
    psycopg.errors.IdleInTransactionSessionTimeout,
)
_REFUSALS = (
    "does not exist",
    "authentication failed",
    "no password supplied",
    "pg_hba.conf",
    "not permitted to log in",
)
"""Words of a refusal that would be the same a moment later."""


class PlaceLock(NamedTuple):
    """The lock of one place, and the lock of its whole team: transactions share that one, and a copy holds it alone."""

    key: int
    whole: int


def key_of(*names: str) -> int:
    """Return the number of the lock of a place."""
    return int.from_bytes(hashlib.blake2b("/".join(names).encode(), digest_size=8).digest(), "big", signed=True)


def lock_of(team: str, *names: str) -> PlaceLock:
    """Return the lock of a place of a team."""
    return PlaceLock(key_of(team, *names), key_of(team, "", "whole"))


def whole_lock_of(team: str) -> PlaceLock:
    """Return the lock that keeps everybody else from changing anything of a team."""
    return PlaceLock(key_of(team, "", "whole"), key_of(team, "", "copy"))


class DatabaseServer:
    """One database, for all threads of this process; a forked child makes connections of its own."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._free: list[DatabaseSession] = []
        self._owner = os.getpid()
        self._failed = -CONNECTING

    def ask(self, subject: str, query: LiteralString, values: Sequence[object] = ()) -> list[Row]:
        """Return the rows of one query; raises StoreError."""
        with translated(subject), self._session() as session:
            return session.ask(query, values)

    def has_tables(self, subject: str) -> bool:
        """Return True when the tables are there; without them no team has a row. Raises StoreError."""
        return self.ask(subject, schema.MADE) == [(True,)]

    def prepare(self, subject: str) -> None:
        """Make the tables, unless they are there; raises StoreError for those of a newer pro0."""
        is_made = self.has_tables(subject)
        with translated(subject), self._session() as session:
            if not is_made:  # the statements need the right to make tables, even when all exist
                session.connection.execute(b"begin;" + schema.TABLES.encode() + b"commit")
            [(number,)] = session.ask(schema.VERSION_THERE)
        if number != schema.VERSION:
            raise StoreError(
                f"the tables of {subject} have version {number}; this pro0 knows {schema.VERSION}",
                code=ErrorCode.NEWER_SCHEMA,
                hint="use the newer pro0 that made them",
            )

    @contextmanager
    def act(self, lock: PlaceLock, subject: str, why: str) -> Iterator[DatabaseAct]:
        """Hold the lock of a place for one transaction, which is committed at the end, and rolled back by an error.

        Raises StoreError, naming the holder when one holds the lock for too long.
        """
        with self._session() as session:
            self._begin(session, lock, subject, why)
            act = DatabaseAct(session, subject)
            try:
                yield act
            except BaseException:
                with suppress(psycopg.Error):
                    session.connection.execute("rollback")
                raise
            self._commit(session, act, lock, subject)

    def _begin(self, session: DatabaseSession, lock: PlaceLock, subject: str, why: str) -> None:
        name = f"{_OURS}{os.getpid()} ({why})".encode("ascii", "replace")[:_LONGEST].decode()
        while True:
            try:
                with translated(subject):
                    values = (f"{PATIENCE:g}s", lock.whole, lock.key, name)
                    ClientCursor(session.connection).execute(schema.BEGIN, values)
                return
            except LockHeld:
                with translated(subject):
                    session.connection.execute("rollback")
                self._raise_if_held(session, lock.key, subject, "ExclusiveLock", "ShareLock")
                self._raise_if_held(session, lock.whole, subject, "ExclusiveLock")

    def _raise_if_held(self, session: DatabaseSession, key: int, subject: str, *modes: str) -> None:
        """Raise StoreError when one holder has held the lock for too long; a lock that changes hands raises nothing."""
        high, low = (key >> 32) & 0xFFFFFFFF, key & 0xFFFFFFFF
        with translated(subject):
            holders = session.ask(schema.HOLDER, ([*modes], high, low))
        for name, seconds in holders:
            if seconds is None and name.startswith(_OURS):
                continue  # it is about to note when it got the lock
            if seconds is None or seconds >= PATIENCE:
                raise StoreError(
                    f"{subject} is held by {(name or NOBODY).removeprefix('pro0 ')}; gave up after {PATIENCE:g} s",
                    code=ErrorCode.LOCK_TIMEOUT,
                    hint=END_IT,
                )

    def _commit(self, session: DatabaseSession, act: DatabaseAct, lock: PlaceLock, subject: str) -> None:
        if act.wrote and act.id.int % _FORGETS == 0:
            act.ask(schema.FORGET_ACTS)
        try:
            if act.wrote:
                ClientCursor(session.connection).execute(schema.COMMIT, (act.id,))
            else:
                session.connection.execute("rollback")
        except psycopg.Error as error:
            if act.wrote and (session.is_lost or isinstance(error, _GONE)):
                self._settle(session, act, lock, subject)
            elif act.wrote:
                with translated(subject):
                    raise

    def _settle(self, session: DatabaseSession, act: DatabaseAct, lock: PlaceLock, subject: str) -> None:
        """Find out whether a commit with a lost answer was done; raises Unwritable when it was not, or that is unknown.

        Once this holds the lock, the old transaction is over, and its row among the acts shows whether it was done.
        """
        session.close()
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE:
            try:
                with self._session() as another:
                    if time.monotonic() - began > _SETTLING:
                        another.ask(schema.END_IDLE, (session.pid, session.since))
                    values = (f"{_SETTLING:g}s", lock.whole, lock.key, f"{_OURS}{os.getpid()}")
                    ClientCursor(another.connection).execute(schema.BEGIN, values)
                    done = bool(another.ask(schema.HAPPENED, (act.id,)))
                    another.connection.execute("rollback")
            except psycopg.errors.LockNotAvailable:
                continue
            except (psycopg.Error, StoreError):
                time.sleep(0.1)
                continue
            if not done:
                raise Unwritable(f"the connection to {subject} broke; nothing was changed", hint="try again")
            return
        raise Unwritable(
            f"the connection to {subject} broke at the end of a change, and whether it was made is unknown",
            hint="look at it once the server answers, before you try again",
        )

    @contextmanager
    def _session(self) -> Iterator[DatabaseSession]:
        session = self._taken()
        try:
            yield session
        except BaseException:
            if not session.is_lost and _is_idle(session):
                self._give_back(session)
            else:
                session.close()
            raise
        if session.is_lost:
            session.close()
        else:
            self._give_back(session)

    def _taken(self) -> DatabaseSession:
        with self._lock:
            if self._owner != os.getpid():  # forked: these connections are the parent's
                self._free, self._owner = [], os.getpid()
            while self._free:
                session = self._free.pop()
                if session.is_fresh:
                    return session
                session.close()
        return self.connect()

    def _give_back(self, session: DatabaseSession) -> None:
        with self._lock:
            if len(self._free) < IDLE and _is_idle(session):
                self._free.append(session)
                return
        session.close()

    def connect(self) -> DatabaseSession:
        """Return a new connection; wait for a server that starts, unless a wait has just failed. Raises StoreError."""
        patience = CONNECTING if time.monotonic() - self._failed > CONNECTING else 0.0
        began = time.monotonic()
        while True:
            try:
                return DatabaseSession(
                    psycopg.connect(
                        make_conninfo("", **{**_WATCHED, **conninfo_to_dict(self._url)}),
                        autocommit=True,
                        client_encoding="utf8",  # else psycopg gives bytes for the texts of a database of SQL_ASCII
                        connect_timeout=int(CONNECTING),
                        application_name=f"{_OURS}{os.getpid()}",
                    )
                )
            except psycopg.OperationalError as error:
                if time.monotonic() - began >= patience or _says_no(error):
                    self._failed = time.monotonic()
                    raise Unwritable(
                        f"the store's server cannot be reached: {sentence(error)}",
                        hint="is it up, and does psql reach it? nothing was changed",
                    ) from error
                time.sleep(0.1)

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            sessions, self._free = self._free, []
        for session in sessions:
            session.close()


def _is_idle(session: DatabaseSession) -> bool:
    return session.connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def _says_no(error: psycopg.OperationalError) -> bool:
    """Return True when the server refused the role or the database; False when it is down, or starts.

    libpq gives a refused connection no code, so the text of the error decides. Only the English text is known.
    """
    return any(words in str(error) for words in _REFUSALS)


_servers: dict[str, DatabaseServer] = {}


def server_of(url: str) -> DatabaseServer:
    """Return the database behind a URL, one for the whole process."""
    return _servers.get(url) or _servers.setdefault(url, DatabaseServer(url))
