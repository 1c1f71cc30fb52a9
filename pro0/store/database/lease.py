"""The lead's lease of a team in a database: the local one that guards look at, and a lock held at the server."""

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import psycopg

from pro0.errors import ErrorCode, Refused
from pro0.store.database import schema
from pro0.store.database.place import TeamRows
from pro0.store.database.server import key_of
from pro0.store.database.session import DatabaseSession, translated
from pro0.store.lease import Lease

_TAKE = "select pg_try_advisory_lock(%s)"
_GIVE_ALL_BACK = "select pg_advisory_unlock_all()"
_WATCHED = """
select set_config(known.name, wanted.setting, false)
from (values ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '4'),
    ('tcp_user_timeout', '30000')) wanted (name, setting)
join pg_settings known on known.name = wanted.name
"""
"""Without these settings, a machine that lost its network would count as present for hours. Old servers lack some."""
_HELD = """
select (l.classid::bigint << 32) | l.objid::bigint from pg_locks l
where l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and ((l.classid::bigint << 32) | l.objid::bigint) = any(%s)
"""
_ENDING = 2.0
"""Seconds to wait for a holder to end: the server notices the end of a killed holder a moment later."""


class DatabaseLease(Lease):
    """The right to be the lead of one team: it ends with the process, or with its connection to the server."""

    def __init__(self, folder: Path, team: TeamRows, machine: str = "") -> None:
        super().__init__(folder)
        self._rows = team
        self._key = lease_key(team.name, machine)
        self._duties = key_of(team.name, "duties")
        self._has_duties = False
        self._session: DatabaseSession | None = None
        self._lost: DatabaseSession | None = None

    def take(self, why: str) -> bool:
        """Take the lease, or return False when it is held on this machine; raises Refused when it is held elsewhere."""
        if not super().take(why):
            return False
        try:
            self.take_there()
        except BaseException:
            self.drop()
            raise
        return True

    def keep(self) -> None:
        """Restore a deleted lease, and take the lease at the server again when the connection was lost.

        Raises Refused when somebody else holds it.
        """
        super().keep()
        if self._session and self._session.answers():
            return
        if self._session:
            self._lost, self._session = self._session, None
            self._lost.close()
        self.take_there()

    def has_duties(self) -> bool:
        """Return True when this lead has the duties of the whole team; only one of all machines' leads has them."""
        if self._session is None or not self._session.is_fresh:
            return False  # another lead may have the duties by now
        if not self._has_duties:
            with translated(f"the lease of {self._rows.name}"):
                self._has_duties = self._session.ask(_TAKE, (self._duties,)) == [(True,)]
        return self._has_duties

    def drop(self) -> None:
        """Release the lease."""
        super().drop()
        if self._session:
            with suppress(psycopg.Error):  # closing alone would free it a moment later
                self._session.ask(_GIVE_ALL_BACK)
            self._session.close()
            self._session = None

    def take_there(self) -> None:
        """Take only the lease at the server; raises Refused when it is held."""
        subject = f"the lease of {self._rows.name}"
        with translated(subject):
            session = self._rows.server.connect()
            try:
                session.ask(_WATCHED)
                if self._lost:  # the server may not know yet that the lost connection is over
                    session.ask(schema.END_SESSION, (self._lost.pid, self._lost.since))
                is_mine = self._is_taken_by(session)
            except BaseException:
                session.close()
                raise
        if not is_mine:
            session.close()
            raise Refused(f"{subject} is held by a lead elsewhere", code=ErrorCode.LEAD_ALIVE)
        self._session, self._lost, self._has_duties = session, None, False

    def _is_taken_by(self, session: DatabaseSession) -> bool:
        began = time.monotonic()
        while session.ask(_TAKE, (self._key,)) != [(True,)]:
            if time.monotonic() - began > _ENDING:
                return False
            time.sleep(0.05)
        return True


def lease_key(team: str, machine: str) -> int:
    """Return the number of the lock held by a machine's lead; "" is the machine that made the team."""
    return key_of(team, "lease", *([machine] if machine else []))


def holders(team: TeamRows, machines: Iterable[str]) -> set[str]:
    """Return the machines whose lead holds its lease at the server."""
    keys = {lease_key(team.name, machine): machine for machine in machines}
    if not keys:
        return set()
    held = team.server.ask(f"the leases of {team.name}", _HELD, ([*keys],))
    return {keys[key] for (key,) in held if key in keys}
