"""Finish half-done work: removals with their archives, and half-made teams, each independent of the others.

An entry waits when its database is out of reach, or its files cannot be moved or removed. It delays no other entry.
"""

from pathlib import Path
from typing import NamedTuple

from pro0.errors import KeepsNoTeam, Pro0Error, StoreError, Unwritable
from pro0.store.database.pointer import in_database, pointer_in
from pro0.store.files import exists
from pro0.store.paths import NEW, TRASH, TeamPaths
from pro0.store.places.folder import refuse_leftovers
from pro0.store.removal import archive, trees

WITHOUT_DATABASE = "is its database up? if it is gone for good: pro0 team cleanup {} --force"
"""The hint for a team whose database does not answer, or has no rows of the team."""


class Swept(NamedTuple):
    """The result of a sweep."""

    names: list[str]
    """The teams of which something was finished or removed."""
    waiting: dict[Path, Pro0Error]
    """The entries that could not be finished, each with its error."""

    def require(self, name: str = "", uid: str = "") -> list[str]:
        """Return the names; raises the error of a waiting removal: of this team, or of any when no team is named."""
        if error := self.reason(name, uid):
            raise error
        return self.names

    def reason(self, name: str = "", uid: str = "") -> Pro0Error | None:
        """Return the error of a waiting removal, of this team or, when none is named, of any; None when none waits."""
        for entry, error in self.waiting.items():
            if entry.name == f"{TRASH}{name}.{uid}" if uid else name in ("", archive.name_of(entry)):
                if archive.may_wait(entry) and not _is_of_the_disk(error):
                    error.hint = WITHOUT_DATABASE.format(archive.name_of(entry))
                return error
        return None


def sweep(home: Path) -> Swept:
    """Finish every begun removal, and remove every half-made team; the caller holds the home's lock."""
    finished, over, waiting = list[Path](), list[Path](), dict[Path, Pro0Error]()
    for entry in _begun(home):
        with trees.noting(waiting, entry):
            if entry.name.startswith(TRASH):
                archive.complete(home, entry)
            finished.append(entry)
            archive.drop_rows(home, entry)
            over.append(entry)
    for entry in finished:
        _put_away(home, entry, waiting)
    for entry in over:
        if entry not in waiting:  # a waiting entry stays: nothing else tells of tasks and mailboxes still there
            with trees.noting(waiting, entry):
                trees.remove(entry)
    names = [archive.name_of(entry) for entry in over if entry not in waiting]
    return Swept([*names, *archive.sweep(home, waiting)], waiting)


def require_free(paths: TeamPaths, swept: Swept) -> None:
    """Raise StoreError for files of an earlier team of this name, with the reason why they are still there."""
    try:
        refuse_leftovers(paths)
    except StoreError as error:
        if why := swept.reason(paths.name):
            raise StoreError(f"{error.message}: {why.message}", code=why.code, hint=why.hint) from why
        raise


def _put_away(home: Path, entry: Path, waiting: dict[Path, Pro0Error]) -> None:
    """Remove the tasks and mailboxes of a removed team, unless a new team of the same name uses the folders."""
    name = archive.name_of(entry)
    for path in (home / "tasks" / name, home / "mailboxes" / name):
        with trees.noting(waiting, entry, path):
            if exists(home / "teams" / name):
                trees.clear(path)
            else:
                trees.put_away(path)


def give_up(home: Path, name: str) -> dict[str, str]:
    """Finish a team's removals without the databases that they wait for; return each database with the reason.

    Rows may stay there. Raises the error of a removal that waits for anything else.
    """
    waiting = {entry: error for entry, error in sweep(home).waiting.items() if archive.name_of(entry) == name}
    for entry, error in waiting.items():
        if not _waits_for_database(home, entry, error):
            raise error
    reasons = {url: error.message for entry, error in waiting.items() for url in _forgotten(entry)}
    sweep(home).require(name)
    return reasons


def waits(home: Path, name: str) -> bool:
    """Return True when a removal of this name is not finished, and may wait for a database."""
    return any(archive.name_of(entry) == name and archive.may_wait(entry) for entry in _begun(home))


def _waits_for_database(home: Path, entry: Path, error: Pro0Error) -> bool:
    """Return True when a removal failed because of its database, not because of a lock there or one failed query."""
    try:
        pointer = pointer_in(entry)
    except StoreError as failed:
        return failed.code != StoreError.code  # a damaged pointer names no database that could be asked
    if not (isinstance(error, Unwritable) and archive.is_begun(home, entry)):
        # Once the archive is finished, only rows in the database are left, and files that the disk cannot remove.
        return isinstance(error, Unwritable | KeepsNoTeam) and not _is_of_the_disk(error)
    # Only the database has the documents for the archive: one failed query is no reason to lose them.
    try:
        if pointer and pointer.url:
            in_database(home, archive.name_of(entry), pointer.url).names()
    except (Unwritable, KeepsNoTeam):
        return True
    return False


def _is_of_the_disk(error: Pro0Error) -> bool:
    return isinstance(error.__cause__, OSError)


def _forgotten(entry: Path) -> list[str]:
    try:
        databases = archive.databases(entry)
    except StoreError as error:
        if error.code == StoreError.code:  # a later read may succeed
            raise
        databases = ["a database that its damaged store.json named"]
    archive.forget_databases(entry)
    return databases


def _begun(home: Path) -> list[Path]:
    return [entry for entry in trees.entries(home / "teams") if entry.name.startswith((TRASH, NEW))]
