"""The interface of a team's documents, in files or in a database: only types, which no program loads."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from pro0.model.team import Share
from pro0.store import journal
from pro0.store.lease import Lease
from pro0.store.places.documents import TeamPlaces
from pro0.store.places.place import DocumentPlace, OpenPlace
from pro0.store.watch import Watch


class Documents(Protocol):
    """The documents of one team."""

    team: DocumentPlace
    tasks: DocumentPlace
    mailboxes: DocumentPlace
    mends: str
    """Why pro0 does not repair these documents, in words; "" when it does."""

    @property
    def share(self) -> Share | None:
        """Return this machine's share of a team that another machine made, None for a team of its own."""
        ...

    @property
    def database(self) -> "SharedDocuments | None":
        """Return these documents when machines can share them, None for files."""
        ...

    def log(self, line: Mapping[str, object]) -> None:
        """Append one line to the team's events; a failed write is ignored."""
        ...

    def events(self) -> journal.Journal:
        """Return a reader of the team's events."""
        ...

    def watch(self, places: Iterable[DocumentPlace], names: str) -> Watch:
        """Return a watch on the documents in some places whose names match a pattern."""
        ...

    def lease(self) -> Lease:
        """Return the lease of the team's lead."""
        ...

    def signs(self) -> Iterator[object]:
        """Yield values that differ after every change visible in a list of the team."""
        ...

    def founding(self, new: Path, uid: str) -> AbstractContextManager[TeamPlaces]:
        """Make the places of a new team, whose folder `new` does not have its final name yet."""
        ...


class SharedDocuments(Protocol):
    """The documents of a team that machines can share; the machine "" is the one that made the team."""

    team: DocumentPlace

    def records(self) -> dict[str, bytes]:
        """Return the bytes of all machines' records, by their names."""
        ...

    def present(self, machines: Iterable[str]) -> set[str]:
        """Return those of these machines whose lead runs."""
        ...

    def clock_difference(self) -> float:
        """Return by how many seconds the server's clock is ahead of this machine's."""
        ...

    def led_by_nobody(self, machine: str) -> AbstractContextManager[None]:
        """Prevent a machine's lead from starting; raises Refused while that lead runs."""
        ...

    def drop_record(self, opened: OpenPlace, machine: str) -> None:
        """Remove the record of a machine, as part of the transaction of `opened`."""
        ...
