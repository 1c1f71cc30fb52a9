"""What the documents of a team promise as a whole, of whichever kind: only types, which no program loads."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from pro0.store import journal
from pro0.store.lease import Lease
from pro0.store.places.documents import TeamPlaces
from pro0.store.places.place import DocumentPlace
from pro0.store.watch import Watch


class Documents(Protocol):
    """The documents of one team."""

    team: DocumentPlace
    tasks: DocumentPlace
    mailboxes: DocumentPlace
    mends: str
    """Why pro0 repairs none of them, in words; "" where it does."""

    def log(self, line: object) -> None:
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
