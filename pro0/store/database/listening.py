"""Wake up when a document in a database changes: the server tells of it, and a thread makes a descriptor readable."""

import errno
import os
import select
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import psycopg
from psycopg import sql

from pro0.errors import Pro0Error
from pro0.store.database.place import Rows, TeamRows
from pro0.store.database.session import DatabaseSession
from pro0.store.watch import Watch

_AGAIN = 1.0
"""Seconds until the next try to reach a server that went away."""
T = TypeVar("T")


class DatabaseWatch(Watch):
    """Report changes of documents in some places, and of files in some folders, until `close`."""

    def __init__(self, team: TeamRows, places: Iterable[Rows], folders: Iterable[Path], names: str) -> None:
        """Raises OSError when the system has no room for it."""
        super().__init__(folders, names)
        self._team = team
        self._starts = tuple(place.key() for place in places)
        try:
            self._stop, self._stopping = os.pipe()
        except OSError:
            super().close()  # callers try again and again, and each try must leave no descriptor open
            raise
        self._thread = threading.Thread(target=self._run, name="listen", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            self._let_go()
            raise OSError(errno.EAGAIN, str(error)) from error  # the same error as without a free descriptor

    def close(self) -> None:
        """Stop reporting, and end the thread."""
        os.write(self._stopping, b"x")
        self._thread.join()
        self._let_go()

    def _let_go(self) -> None:
        super().close()
        os.close(self._stop)
        os.close(self._stopping)

    def _run(self) -> None:
        """Listen until `close`; each new connection counts as a change, since changes may have been missed."""
        while True:
            with suppress(psycopg.Error, Pro0Error, OSError):
                session = self._team.server.connect()
                try:
                    self._listen(session)
                finally:
                    session.close()
            if _waits(self._stop, _AGAIN):
                return

    def _listen(self, session: DatabaseSession) -> None:
        connection = session.connection
        connection.execute(sql.SQL("listen {}").format(sql.Identifier(self._team.channel)))
        self.tell(None)
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        poll.register(self._stop, select.POLLIN)
        while self._stop not in dict(poll.poll()):
            changed = [notice.payload for notice in connection.notifies(timeout=0)]
            self.tell([name.rpartition("/")[2] for name in changed if name.startswith(self._starts)])


def _waits(descriptor: int, seconds: float) -> bool:
    """Return True when a descriptor is readable within some seconds."""
    poll = select.poll()  # `select` cannot wait for high descriptor numbers
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
