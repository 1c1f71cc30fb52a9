"""The documents of one team in a database; what concerns this machine alone stays in the team's folder."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import msgspec

from pro0.errors import ErrorCode, Pro0Error, Refused, StoreError
from pro0.model.team import StorePointer
from pro0.store import atomic
from pro0.store.database import schema
from pro0.store.database.contents import RowContents
from pro0.store.database.events import EventRows
from pro0.store.database.lease import DatabaseLease
from pro0.store.database.listening import DatabaseWatch
from pro0.store.database.place import Rows, TeamRows, unused_name
from pro0.store.database.server import lock_of, server_of
from pro0.store.files import File, make_folder
from pro0.store.journal import files_of
from pro0.store.paths import EVENTS, STORE, TeamPaths, is_document
from pro0.store.places.documents import TeamPlaces
from pro0.store.places.folder import unchecked
from pro0.store.places.place import DocumentPlace
from pro0.store.root import KINDS


class DatabaseDocuments:
    """The documents of one team, kept by a PostgreSQL server."""

    def __init__(self, paths: TeamPaths, url: str, check: Callable[[], None] = unchecked) -> None:
        self._paths = paths
        self.mends = f"the documents of {paths.name} are in a database, and mended from its backups"
        self._url = url
        self._rows = TeamRows(server_of(url), paths.name, label_of(url), check)
        self.team: DocumentPlace
        self.tasks: DocumentPlace
        self.mailboxes: DocumentPlace
        self.team, self.tasks, self.mailboxes = self._places()

    def log(self, line: object) -> None:
        """Append one line to the team's events; one that cannot be written is left out."""
        rows, subject = self._rows, f"the events of {self._rows.name}"
        text = msgspec.json.encode(line, enc_hook=str) + b"\n"
        # Behind a lock, so that numbers are seen in their order.
        with suppress(Pro0Error, OSError), rows.server.act(lock_of(rows.name, EVENTS), subject, "log") as act:
            act.ask(schema.CARELESS)
            act.write(schema.LOG, (text, rows.name, rows.channel, f"{KINDS[0]}/{EVENTS}"))

    def events(self) -> EventRows:
        """Return a reader of the team's events."""
        return EventRows(self._rows)

    def watch(self, places: Iterable[DocumentPlace], names: str) -> DatabaseWatch:
        """Return a watch on documents with names of a pattern in some places, and on what the team has here."""
        places = [*places]
        folders = [place.path for place in places if not isinstance(place, Rows)]
        if self.team in places:
            folders.append(self._paths.team)
        return DatabaseWatch(self._rows, [place for place in places if isinstance(place, Rows)], folders, names)

    def lease(self) -> DatabaseLease:
        """Return the lease of the team's lead."""
        return DatabaseLease(self._paths.team, self._rows)

    def signs(self) -> Iterator[object]:
        """Yield values that differ after each change that a list of the team shows."""
        with suppress(StoreError):
            yield from self._rows.ask(f"team {self._rows.name}", schema.SIGNS)

    @contextmanager
    def founding(self, new: Path, uid: str) -> Iterator[TeamPlaces]:
        """Make the rows of a new team, in one act; its new folder says before where they are."""
        rows, subject = self._rows, str(self._rows.label)
        rows.server.prepare(subject)
        File(new, STORE, StorePointer).create(StorePointer(url=self._url, uid=uid))
        with rows.server.act(lock_of(rows.name), subject, f"create team {rows.name}") as act:
            if not act.write(schema.FOUND, (rows.name, uid)):
                text = f"there is a team {rows.name} in {subject} already"
                raise Refused(text, code=ErrorCode.CONFLICT, hint="choose another name")
            yield TeamPlaces(*(Rows(rows, kind, act=act) for kind in KINDS))

    def drop(self, uid: str) -> None:
        """Remove the rows of a team and what a copy has left of it, unless a later one has its name."""
        rows, subject = self._rows, str(self._rows.label)
        with rows.server.act(lock_of(rows.name), subject, f"remove team {rows.name}") as act:
            for name in (rows.name, unused_name(rows.name, uid)):
                act.write(schema.DROP, (name, uid))

    def contents(self, uid: str) -> RowContents:
        """Return all of it as a whole, for a copy."""
        return RowContents(self._paths.team, self._rows, uid)

    def write_to(self, home: Path, uid: str, is_wanted: Callable[[str], bool]) -> None:
        """Write documents below a home, as files of a team have them; `is_wanted` gets names in its folder."""
        name = self._rows.name
        if not self._rows.ask(str(self._rows.label), schema.IS, uid):
            return
        for kind, place in zip(KINDS, self._places(), strict=True):
            for key in place.all_keys():
                inside = key.removeprefix(f"{kind}/")
                if is_document(key) and (kind != KINDS[0] or is_wanted(inside)):
                    [(data,)] = self._rows.ask(str(place.path), schema.READ, key)
                    _write(home / kind / name / inside, bytes(data))
        for file, data in files_of(EVENTS, self.contents(uid).lines()):
            _write(home / KINDS[0] / name / file, data)

    def _places(self) -> list[Rows]:
        return [Rows(self._rows, kind) for kind in KINDS]


def label_of(url: str) -> Path:
    """Return the name of a database in errors: its server and its own name, without the user."""
    parts = urlsplit(url)
    server = parts.netloc.rpartition("@")[2] or parse_qs(parts.query).get("host", [""])[0]
    return Path(f"postgresql:{server}", parts.path.strip("/"))


def _write(path: Path, data: bytes) -> None:
    make_folder(path.parent)
    with atomic.folder(path.parent) as folder:
        atomic.replace(folder, path.name, data)
