"""Where a team's documents are: in files, unless one small file in its folder names a database."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pro0.errors import EnvironmentMissing, ErrorCode, Refused
from pro0.model.team import Share, StorePointer
from pro0.store.files import File, exists, translated
from pro0.store.paths import STORE, TeamPaths
from pro0.store.places.documents import Files
from pro0.store.places.folder import unchecked

if TYPE_CHECKING:
    from pro0.store.database.documents import DatabaseDocuments
    from pro0.store.places.promises import Documents


def documents_of(paths: TeamPaths) -> "Documents":
    """Return the documents of a team, wherever they are kept; no other function decides this."""
    there = Whereabouts(paths.team)
    if not there.url:
        return Files(paths, there.check)
    return in_database(paths.home, paths.name, there.url, there.uid, check=there.check, share=there.share)


class Whereabouts:
    """Where a team's documents were when somebody opened them: the `url` of a database with its `uid`, "" for files."""

    def __init__(self, team: Path) -> None:
        self._team = team
        self._stamp = _stamp(team)  # first, since a pointer replaced meanwhile has another stamp
        pointer = pointer_in(team)
        self.url, self.uid, self.share = (pointer.url, pointer.uid, pointer.share) if pointer else ("", "", None)

    def check(self) -> None:
        """Raise Refused when the documents have moved: after waiting for a lock, nobody may write to the old place."""
        stamp = _stamp(self._team)
        if stamp == self._stamp or not exists(self._team):  # for a removed team, the place itself raises
            return
        if _url(self._team) != self.url:
            text = f"{self._team.name} has just been moved; nothing was changed"
            raise Refused(text, code=ErrorCode.CONFLICT, hint="try again")
        self._stamp = stamp


def in_database(
    home: Path,
    name: str,
    url: str,
    uid: str = "",
    *,
    check: Callable[[], None] = unchecked,
    share: Share | None = None,
) -> "DatabaseDocuments":
    """Return the documents that a database keeps of the team with this uid; `check` may refuse each change."""
    try:
        from pro0.store.database.documents import DatabaseDocuments  # late: a home of files alone loads none of it
    except ImportError as error:
        raise _explained(error) from None
    return DatabaseDocuments(TeamPaths(home, name), url, uid, check, share)


def _explained(error: ImportError) -> ImportError | EnvironmentMissing:
    """Return the error to raise: how to add psycopg when it is missing, else the error itself."""
    if (error.name or "psycopg").partition(".")[0] != "psycopg":  # the error names no module when libpq is missing
        return error
    from pro0 import installation

    text = "a store on PostgreSQL needs psycopg and libpq, which are not installed here"
    return EnvironmentMissing(text, code=ErrorCode.LIBRARY_MISSING, hint=installation.adding("postgres"))


def pointer_in(team: Path) -> StorePointer | None:
    """Return the pointer in a team's folder; None when the documents are files and were never in a database.

    Raises StoreError when it cannot be read: rows in a database must not be taken for files.
    """
    return File(team, STORE, StorePointer).read() if exists(team / STORE) else None


def _url(team: Path) -> str:
    pointer = pointer_in(team)
    return pointer.url if pointer else ""


def _stamp(team: Path) -> object:
    with translated(team / STORE), suppress(FileNotFoundError, NotADirectoryError):
        status = os.stat(team / STORE)
        return status.st_ino, status.st_mtime_ns
    return None
