"""List pro0's folders, and remove them whole, even while late writers still add files."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pro0 import looking
from pro0.errors import Pro0Error
from pro0.store import atomic
from pro0.store.files import delete, exists, translated
from pro0.store.paths import TRASH

_TRIES = 50
"""Attempts to remove a tree, for late writers may still add files to it."""


def entries(folder: Path) -> list[Path]:
    """Return the entries of a folder in order; none when it is missing."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return sorted(folder.iterdir())
    return []


def put_away(path: Path) -> None:
    """Remove a folder, renamed first: late readers then find nothing, never half of its content."""
    if not exists(path.parent):
        return
    clear(path)
    with suppress(FileNotFoundError):
        path.rename(_trash(path))
        atomic.sync(path.parent)  # without it, a power loss could bring the folder back, half empty
    clear(path)
    atomic.sync(path.parent)


def clear(path: Path) -> None:
    """Remove what an earlier `put_away` of this folder has left."""
    remove(_trash(path))


def remove(path: Path) -> None:
    """Remove a tree of ours; late writers may add files, so repeat until the folder is gone."""
    for _ in range(_TRIES):
        with suppress(OSError):
            delete(path)
        if not looking.lexists(path):
            return
    delete(path)


def _trash(path: Path) -> Path:
    return path.with_name(f"{TRASH}{path.name}")


@contextmanager
def noting(waiting: dict[Path, Pro0Error], entry: Path, place: Path | None = None) -> Iterator[None]:
    """Note the first error about an entry instead of raising it; `place` is the path of the files concerned."""
    try:
        with translated(place or entry):
            yield
    except Pro0Error as error:
        waiting.setdefault(entry, error)
