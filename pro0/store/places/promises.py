"""What the documents of a team promise as a whole, of whichever kind: only types, which no program loads."""

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
    """Why pro0 repairs none of them, in words; "" where it does."""

    @property
    def share(self) -> Share | None:
        """Return what this machine keeps for itself of a team that another one has made, None of its own."""
        ...

    @property
    def database(self) -> "SharedDocuments | None":
        """Return these documents when machines can share them, None for files."""
        ...

    def log(self, line: Mapping[str, object]) -> None:
        """Append one line to the team's events; one that cannot be written is left out."""
        ...

    def events(self) -> journal.Journal:
        """Return a reader of the team's events."""
        ...

    def watch(self, places: Iterable[DocumentPlace], names: str) -> Watch:
        """Return a watch on documents with names of a pattern in some places."""
        ...

    def lease(self) -> Lease:
        """Return the lease of the team's lead."""
        ...

    def signs(self) -> Iterator[object]:
        """Yield values that differ after each change that a list of the team shows."""
        ...

    def founding(self, new: Path, uid: str) -> AbstractContextManager[TeamPlaces]:
        """Make the places of a new team, whose folder is still called otherwise."""
        ...


class SharedDocuments(Protocol):
    """The documents of a team that machines can share; "" names the one that made the team."""

    team: DocumentPlace

    def records(self) -> dict[str, bytes]:
        """Return the bytes of all machines' records, by their names."""
        ...

    def present(self, machines: Iterable[str]) -> set[str]:
        """Return which of these machines have a lead at work."""
        ...

    def clock_difference(self) -> float:
        """Return by how many seconds the server's clock is ahead of this machine's."""
        ...

    def led_by_nobody(self, machine: str) -> AbstractContextManager[None]:
        """Keep a machine's lead from beginning; raises Refused while it is at work."""
        ...

    def drop_record(self, opened: OpenPlace, machine: str) -> None:
        """Remove the record of a machine, in the act that this place is opened for."""
        ...
