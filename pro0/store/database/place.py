"""Places in a database: documents are rows, and a lock is one transaction with all replacements made under it."""

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import LiteralString, NamedTuple, NoReturn

from pro0.errors import NotFound
from pro0.store.database import schema
from pro0.store.database.server import DatabaseServer, key_of, lock_of
from pro0.store.database.session import DatabaseAct, Row
from pro0.store.places.folder import unchecked, unusable

_AFTER = "0"
"""The character that sorts next after a slash: it ends the range of the names in a place."""
_TRIED = ".tried"
"""The name of a document that is written only as a test, and never kept."""
Write = Callable[[str, bytes], None]


class TeamRows(NamedTuple):
    """One team in one database."""

    server: DatabaseServer
    name: str
    uid: str
    """The team's id: rows of a later team of the same name have another one."""
    label: Path
    """The name of the database in errors."""
    check: Callable[[], None] = unchecked
    """A check that may refuse a change, called under its lock."""
    hint: str | None = None
    """The hint of the error for a missing team."""

    def ask(self, subject: str, query: LiteralString, *values: object) -> list[Row]:
        """Return the rows of a query about the team."""
        return self.server.ask(subject, query, (self.name, self.uid, *values))

    @property
    def channel(self) -> str:
        """Return the channel on which the team's changes are announced."""
        return channel_of(self.name)


def channel_of(team: str) -> str:
    """Return the channel on which a team's changes are announced."""
    return f"pro0_{key_of(team) & 0xFFFFFFFFFFFFFFFF:016x}"


def unused_name(team: str, uid: str) -> str:
    """Return the name given to a team's rows after a copy to files; no team can have this name."""
    return f".unused-{team}.{uid}"


class _TakenBack(Exception):
    """Rolls back a transaction that only tested whether the server accepts a document."""


class OpenRows:
    """A place opened for one transaction or, without one, for reading; a replacement then makes its own transaction."""

    def __init__(self, place: "Rows", act: DatabaseAct | None = None) -> None:
        self._place = place
        self._act = act

    def read(self, name: str, limit: int) -> bytes:
        """Return a document's bytes; raises FileNotFoundError, or OSError for more than `limit` of them."""
        rows = self._ask(schema.READ, self._place.key(name))
        if not rows:
            raise _missing(name)
        data = bytes(rows[0][0])
        if len(data) > limit:
            raise OSError(f"{name} has {len(data)} bytes, more than {limit}")
        return data

    def replace(self, name: str, data: bytes) -> None:
        """Replace one document whole, in the open transaction or else in a new one."""
        if self._act is None:
            with self._place.locked(f"write {name}") as opened:
                opened.replace(name, data)
            return
        team = self._place.team
        values: dict[str, object] = {
            "name": self._place.key(name),
            "data": data,
            "team": team.name,
            "uid": team.uid,
            "channel": team.channel,
        }
        if not self._act.write(schema.REPLACE, values):
            raise FileNotFoundError(errno.ENOENT, "the team is gone", team.name)

    def drop(self, name: str) -> None:
        """Remove one document, as part of the open transaction."""
        assert self._act
        team = self._place.team
        values: dict[str, object] = {
            "name": self._place.key(name),
            "team": team.name,
            "uid": team.uid,
            "channel": team.channel,
        }
        self._act.write(schema.DROP_DOCUMENT, values)

    def try_room(self, data: bytes) -> None:
        """Raise StoreError when the server does not accept this data as a document; nothing is changed."""
        team, name = self._place.team, self._place.key(_TRIED)
        with suppress(_TakenBack), team.server.act(lock_of(team.name, name), str(self._place.path), "try") as act:
            OpenRows(self._place, act).replace(_TRIED, data)
            raise _TakenBack

    def holds(self, name: str) -> bool:
        """Return True when there is a document of that name."""
        return bool(self._ask(schema.STAMP, self._place.key(name)))

    @contextmanager
    def within(self, name: str) -> Iterator["OpenRows"]:
        """Open a place inside this one, in the same transaction."""
        yield OpenRows(self._place.within(name), self._act)

    def tidy(self) -> None:
        """Do nothing: a killed writer leaves nothing here."""

    def sync(self) -> None:
        """Do nothing: the commit makes every change durable."""

    def _ask(self, query: LiteralString, *values: object) -> list[Row]:
        team, subject = self._place.team, str(self._place.path)
        return self._act.ask(query, (team.name, team.uid, *values)) if self._act else team.ask(subject, query, *values)


class Rows:
    """A place in a database."""

    def __init__(self, team: TeamRows, kind: str, inside: tuple[str, ...] = (), act: DatabaseAct | None = None) -> None:
        self.team = team
        self._kind = kind
        self._inside = inside
        self._act = act
        """The transaction of everything here while a team is being made."""

    @property
    def path(self) -> Path:
        """Return the name of the place in errors."""
        return self.team.label.joinpath(self._kind, self.team.name, *self._inside)

    def key(self, name: str = "") -> str:
        """Return the key of a document in the database; without a name, the key of the place, ending with a slash."""
        return "/".join((self._kind, *self._inside, name))

    @contextmanager
    def open(self) -> Iterator[OpenRows]:
        """Open the place without a lock."""
        yield OpenRows(self, self._act)

    @contextmanager
    def locked(self, why: str) -> Iterator[OpenRows]:
        """Hold the place's lock for one transaction; raises StoreError naming the holder."""
        if self._act:
            yield OpenRows(self, self._act)
            return
        lock = lock_of(self.team.name, self._kind, *self._inside)
        with self.team.server.act(lock, str(self.path), why) as act:
            self.team.check()
            yield OpenRows(self, act)

    def within(self, name: str) -> "Rows":
        """Return the place of this name inside this one."""
        return Rows(self.team, self._kind, (*self._inside, name), self._act)

    def is_there(self) -> bool:
        """Return True when the place holds a document; the team's three main places exist as long as the team."""
        return bool(self.all_keys() if self._inside else self.team.ask(str(self.path), schema.IS))

    def holds(self, name: str) -> bool:
        """Return True when there is a document of that name; raises StoreError when the answer is unknown."""
        return OpenRows(self, self._act).holds(name)

    def names(self) -> list[str]:
        """Return the names of the documents and places inside, each once."""
        return [*dict.fromkeys(key.removeprefix(self.key()).partition("/")[0] for key in self.all_keys())]

    def folders(self) -> list[str]:
        """Return the names of the places inside, in order."""
        inside = (key.removeprefix(self.key()).partition("/") for key in self.all_keys())
        return [*dict.fromkeys(name for name, slash, _ in inside if slash)]

    def all_keys(self) -> list[str]:
        """Return the keys of all documents in and below the place, in order."""
        start = self.key()
        rows = self.team.ask(str(self.path), schema.NAMES, start, start[:-1] + _AFTER)
        return [str(name) for (name,) in rows]

    def make(self) -> None:
        """Do nothing, since the first document makes the place; raises NotFound when the team is gone."""
        if not self._act and not self.team.ask(str(self.path), schema.IS):
            raise self._not_there()

    def stamp(self, name: str) -> object:
        """Return a value that differs after each change of a document; raises OSError when it is missing."""
        rows = self.team.ask(str(self.path), schema.STAMP, self.key(name))
        if not rows:
            raise _missing(name)
        return rows[0][0]

    def translate(self, error: OSError, name: str) -> NoReturn:
        """Translate an error about a document for a person, and raise it."""
        if isinstance(error, FileNotFoundError) and not self.is_there():
            raise self._not_there() from None
        raise unusable(error, self.path / name) from error

    def _not_there(self) -> NotFound:
        return NotFound(f"{self.path} does not exist", hint=self.team.hint)


def _missing(name: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, "there is no such document", name)
