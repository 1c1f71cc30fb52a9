"""The documents of one team in a database; what concerns this machine alone stays in the team's folder."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import msgspec

from pro0.errors import ErrorCode, NotFound, Pro0Error, Refused, StoreError
from pro0.model import ids
from pro0.model.team import Share, StorePointer
from pro0.store import atomic
from pro0.store.database import schema
from pro0.store.database.contents import RowContents
from pro0.store.database.events import EventRows
from pro0.store.database.lease import DatabaseLease, holders
from pro0.store.database.listening import DatabaseWatch
from pro0.store.database.place import OpenRows, Rows, TeamRows, unused_name
from pro0.store.database.server import lock_of, server_of
from pro0.store.files import File, make_folder
from pro0.store.journal import files_of
from pro0.store.paths import EVENTS, RECORDS, STORE, TeamPaths, is_document, machine_of, record_of
from pro0.store.places.documents import TeamPlaces
from pro0.store.places.folder import unchecked
from pro0.store.places.place import DocumentPlace, OpenPlace
from pro0.store.root import KINDS


class DatabaseDocuments:
    """The documents of one team, kept by a PostgreSQL server."""

    def __init__(
        self, paths: TeamPaths, url: str, uid: str, check: Callable[[], None] = unchecked, share: Share | None = None
    ) -> None:
        self._paths = paths
        self.share = share
        self.database = self
        self.mends = f"the documents of {paths.name} are in a database; restore them from its backups"
        self._url = url
        hint = "pro0 host leave" if share else None
        self._rows = TeamRows(server_of(url), paths.name, uid, label_of(url), check, hint)
        self.team: DocumentPlace
        self.tasks: DocumentPlace
        self.mailboxes: DocumentPlace
        self.team, self.tasks, self.mailboxes = _places(self._rows)

    def log(self, line: Mapping[str, object]) -> None:
        """Append one line to the team's events; a failed write is ignored.

        For a person's act the line names the database role too, since several persons may share the team.
        """
        rows, subject = self._rows, f"the events of {self._rows.name}"
        # Under a lock, so that readers see the numbers in order.
        with suppress(Pro0Error, OSError), rows.server.act(lock_of(rows.name, EVENTS), subject, "log") as act:
            act.ask(schema.CARELESS)
            role = {"db_role": act.role} if line.get("actor") == ids.HUMAN else {}
            text = msgspec.json.encode({**line, **role}, enc_hook=str) + b"\n"
            act.write(schema.LOG, (text, rows.name, rows.uid, rows.channel, f"{KINDS[0]}/{EVENTS}"))

    def events(self) -> EventRows:
        """Return a reader of the team's events."""
        return EventRows(self._rows)

    def watch(self, places: Iterable[DocumentPlace], names: str) -> DatabaseWatch:
        """Return a watch on documents with matching names in some places; `team` includes the local folder."""
        places = [*places]
        folders = [place.path for place in places if not isinstance(place, Rows)]
        if self.team in places:
            folders.append(self._paths.team)
        return DatabaseWatch(self._rows, [place for place in places if isinstance(place, Rows)], folders, names)

    def lease(self) -> DatabaseLease:
        """Return the lease of the team's lead."""
        return DatabaseLease(self._paths.team, self._rows, self.share.machine if self.share else "")

    def names(self) -> list[str]:
        """Return the names of all teams of this database."""
        rows = self._rows.server.ask(str(self._rows.label), schema.TEAMS)
        return [str(name) for (name,) in rows if ids.NAME.fullmatch(name)]

    def uid(self) -> str:
        """Return the id of the team that has this name now; raises NotFound when there is none."""
        for (uid,) in self._rows.server.ask(str(self._rows.label), schema.UID, (self._rows.name,)):
            return str(uid)
        raise NotFound(f"there is no team {self._rows.name} in {self._rows.label}")

    def clock_difference(self) -> float:
        """Return by how many seconds the server's clock is ahead of this machine's."""
        server, subject = self._rows.server, str(self._rows.label)
        server.ask(subject, schema.CLOCK)  # connect first: the measurement must not include that time
        before = time.time()
        [(there,)] = server.ask(subject, schema.CLOCK)
        return float(there) - (before + time.time()) / 2

    @contextmanager
    def led_by_nobody(self, machine: str) -> Iterator[None]:
        """Prevent a machine's lead from starting; raises Refused while that lead runs."""
        lease = DatabaseLease(self._paths.team, self._rows, machine)
        lease.take_there()
        try:
            yield
        finally:
            lease.drop()

    def drop_record(self, opened: OpenPlace, machine: str) -> None:
        """Remove the record of a machine, as part of the transaction of `opened`."""
        assert isinstance(opened, OpenRows)
        opened.drop(record_of(machine))

    def records(self) -> dict[str, bytes]:
        """Return the bytes of all machines' records, by machine name; "" is the machine that made the team."""
        start = f"{KINDS[0]}/{RECORDS}"
        rows = self._rows.ask(str(self.team.path), schema.READ_ALL, start, f"{start}~")
        names = ((str(name).removeprefix(f"{KINDS[0]}/"), bytes(data)) for name, data in rows)
        return {machine: data for name, data in names if (machine := machine_of(name)) is not None}

    def present(self, machines: Iterable[str]) -> set[str]:
        """Return those of these machines whose lead runs, according to the server; "" is the team's maker."""
        return holders(self._rows, machines)

    def signs(self) -> Iterator[object]:
        """Yield values that differ after every change visible in a list of the team."""
        with suppress(StoreError):
            yield from self._rows.ask(f"team {self._rows.name}", schema.SIGNS)

    @contextmanager
    def founding(self, new: Path, uid: str) -> Iterator[TeamPlaces]:
        """Make the rows of a new team in one transaction, after its new folder has recorded their database."""
        rows, subject = self._rows._replace(uid=uid), str(self._rows.label)
        rows.server.prepare(subject)
        File(new, STORE, StorePointer).create(StorePointer(url=self._url, uid=uid))
        with rows.server.act(lock_of(rows.name), subject, f"create team {rows.name}") as act:
            if not act.write(schema.FOUND, (rows.name, uid)):
                text = f"there is a team {rows.name} already, in {subject}"
                raise Refused(text, code=ErrorCode.CONFLICT, hint="choose another name")
            yield TeamPlaces(*(Rows(rows, kind, act=act) for kind in KINDS))

    def drop(self, uid: str) -> None:
        """Remove the rows of a team, also those that a copy set aside; a later team of its name keeps its own."""
        rows, subject = self._rows, str(self._rows.label)
        if not rows.server.has_tables(subject):
            return
        with rows.server.act(lock_of(rows.name), subject, f"remove team {rows.name}") as act:
            for name in (rows.name, unused_name(rows.name, uid)):
                act.write(schema.DROP, (name, uid))

    def contents(self, uid: str) -> RowContents:
        """Return all documents and events of the team as a whole, for a copy."""
        return RowContents(self._paths.team, self._rows._replace(uid=uid))

    def write_to(self, home: Path, uid: str, is_wanted: Callable[[str], bool]) -> None:
        """Write documents and events as files below a home; `is_wanted` chooses among those in the team's folder."""
        rows, subject = self._rows._replace(uid=uid), str(self._rows.label)
        if not (rows.server.has_tables(subject) and rows.ask(subject, schema.IS)):
            return
        for kind, place in zip(KINDS, _places(rows), strict=True):
            for key in place.all_keys():
                inside = key.removeprefix(f"{kind}/")
                if is_document(key) and (kind != KINDS[0] or is_wanted(inside)):
                    [(data,)] = rows.ask(str(place.path), schema.READ, key)
                    _write(home / kind / rows.name / inside, bytes(data))
        for file, data in files_of(EVENTS, self.contents(uid).lines()):
            _write(home / KINDS[0] / rows.name / file, data)


def _places(rows: TeamRows) -> list[Rows]:
    return [Rows(rows, kind) for kind in KINDS]


def label_of(url: str) -> Path:
    """Return the name of a database in errors: its server and database name, without the user."""
    parts = urlsplit(url)
    server = parts.netloc.rpartition("@")[2] or parse_qs(parts.query).get("host", [""])[0]
    return Path(f"postgresql:{server}", parts.path.strip("/"))


def _write(path: Path, data: bytes) -> None:
    make_folder(path.parent)
    with atomic.folder(path.parent) as folder:
        atomic.replace(folder, path.name, data)
