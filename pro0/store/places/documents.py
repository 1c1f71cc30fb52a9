"""The documents of one team in files: their places, their events, their watch and their lease."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pro0.store import atomic, journal
from pro0.store.paths import (
    CONFIG,
    EVENTS,
    MESSAGES,
    PERMISSIONS,
    RUNTIME,
    TASKS,
    TROUBLES,
    USAGE,
    WANTED,
    TeamPaths,
)
from pro0.store.places.folder import Folder, make_folder, unchecked

if TYPE_CHECKING:
    from pro0.store.lease import Lease
    from pro0.store.places.place import DocumentPlace
    from pro0.store.watch import Watch


_SHOWN = (CONFIG, WANTED, RUNTIME, USAGE, TROUBLES, PERMISSIONS, EVENTS)
"""The files in a team's folder that lists show."""


class TeamPlaces(NamedTuple):
    """Where the three kinds of a team's documents are."""

    team: "DocumentPlace"
    tasks: "DocumentPlace"
    mailboxes: "DocumentPlace"


class Files:
    """The documents of a team that is kept in files."""

    mends = ""
    share = database = None

    def __init__(self, paths: TeamPaths, check: Callable[[], None] = unchecked) -> None:
        self._paths = paths
        self.team: DocumentPlace = Folder(paths.team, check)
        self.tasks: DocumentPlace = Folder(paths.tasks, check)
        self.mailboxes: DocumentPlace = Folder(paths.mailboxes, check)

    def log(self, line: "Mapping[str, object]") -> None:
        """Append one line to the team's events; a failed write is ignored."""
        with suppress(OSError), atomic.folder(self._paths.team) as folder:
            journal.append(folder, EVENTS, line)

    def events(self) -> journal.Journal:
        """Return a reader of the team's events."""
        return journal.Journal(self._paths.team / EVENTS)

    def watch(self, places: "Iterable[DocumentPlace]", names: str) -> "Watch":
        """Return a watch on the documents in some places whose names match a pattern."""
        from pro0.store.watch import Watch  # late: short commands watch nothing

        return Watch([place.path for place in places], names)

    def lease(self) -> "Lease":
        """Return the lease of the team's lead."""
        from pro0.store.lease import Lease  # late: whoever only reads needs none

        return Lease(self._paths.team)

    def signs(self) -> Iterator[object]:
        """Yield values that differ after every change visible in a list of the team; each file is replaced whole."""
        team, mailboxes = str(self._paths.team), str(self._paths.mailboxes)
        files = [*(f"{team}/{name}" for name in _SHOWN), f"{self._paths.tasks}/{TASKS}"]
        with suppress(OSError):
            files += [f"{mailboxes}/{name}/{MESSAGES}" for name in sorted(os.listdir(mailboxes))]
        for file in files:
            with suppress(OSError):
                status = os.stat(file)  # os: a Path costs twice as much, and every team is looked at every two seconds
                yield status.st_ino, status.st_mtime_ns

    @contextmanager
    def founding(self, new: Path, uid: str) -> Iterator[TeamPlaces]:  # noqa: ARG002 - folders need no uid
        """Make the places of a new team, whose folder `new` does not have its final name yet."""
        for folder in (self._paths.tasks, self._paths.mailboxes):
            make_folder(folder)
        yield TeamPlaces(Folder(new), self.tasks, self.mailboxes)
