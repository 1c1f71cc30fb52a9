"""Where a team's documents are: in files, unless one small file in its folder names a database."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pro0.errors import EnvironmentMissing, ErrorCode
from pro0.model.team import StorePointer
from pro0.store.files import File
from pro0.store.paths import STORE, TeamPaths
from pro0.store.places.documents import Files

if TYPE_CHECKING:
    from pro0.store.database.documents import DatabaseDocuments
    from pro0.store.places.promises import Documents


def documents_of(paths: TeamPaths) -> "Documents":
    """Return the documents of a team, wherever they are kept: the one spot that decides it."""
    pointer = pointer_in(paths.team)
    return in_database(paths.home, paths.name, pointer.url) if pointer and pointer.url else Files(paths)


def in_database(home: Path, name: str, url: str) -> "DatabaseDocuments":
    """Return the documents that a database keeps of a team."""
    try:
        from pro0.store.database.documents import DatabaseDocuments  # late: a home of files alone loads none of it
    except ImportError as error:
        if (error.name or "psycopg").partition(".")[0] != "psycopg":  # it names none when libpq is missing
            raise
        from pro0 import installation

        text = "a store on PostgreSQL needs psycopg and libpq, not installed here"
        hint = installation.adding("postgres")
        raise EnvironmentMissing(text, code=ErrorCode.LIBRARY_MISSING, hint=hint) from None
    return DatabaseDocuments(TeamPaths(home, name), url)


def pointer_in(team: Path) -> StorePointer | None:
    """Return what a team's folder says of its documents, None when they are files and never were elsewhere."""
    try:
        os.stat(team / STORE)
    except OSError:
        return None
    return File(team, STORE, StorePointer).read()
