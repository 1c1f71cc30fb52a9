"""The move of a stopped team between files and a database: copied, compared, and only then switched over.

One file says where the documents are, and replacing it is the switch. Before the switch the old place is in charge,
after it the new place, even if this process is killed. The leftovers of an interrupted copy do not count, and the next
copy overwrites them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import zip_longest
from typing import Protocol

from pro0.errors import ErrorCode, KeepsNoTeam, Pro0Error, Refused, StoreError, Unwritable
from pro0.model.team import StorePointer
from pro0.store import atomic
from pro0.store.database.pointer import in_database, pointer_in
from pro0.store.files import File
from pro0.store.journal import ended
from pro0.store.moving.files import FileContents
from pro0.store.paths import STORE, UNUSED, TeamPaths, is_document, machine_of
from pro0.store.removal import trees
from pro0.store.root import KINDS

Show = Callable[[str], None]


class Contents(Protocol):
    """All documents and events of a team, in files or in a database."""

    def keys(self) -> list[str]:
        """Return the names of all documents, in order."""
        ...

    def read(self, key: str) -> bytes:
        """Return the bytes of one document."""
        ...

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield all events, oldest first, each with the number of its file, 0 for the present one."""
        ...

    def held(self) -> AbstractContextManager[None]:
        """Keep everybody else from changing anything."""
        ...

    def led(self) -> AbstractContextManager[None]:
        """Keep leads out."""
        ...

    def prepare(self) -> None:
        """Prepare for `fill`; raises Refused when another team is in the way."""
        ...

    def fill(self, documents: Iterable[tuple[str, bytes]], lines: Iterable[tuple[int, bytes]]) -> None:
        """Replace everything there by these documents and events, durably."""
        ...

    def clear(self) -> None:
        """Remove what `fill` wrote."""
        ...

    def set_aside(self) -> None:
        """Move everything to a place where no late writer finds it."""
        ...


def copy(paths: TeamPaths, uid: str, url: str, show: Show) -> None:
    """Move the documents of a team into the database behind a URL, or into files for ""; the source is kept.

    The caller holds the lead's lease. Raises Refused when somebody is in the way, StoreError when the copy fails.
    """
    before = pointer_in(paths.team) or StorePointer(url="", uid=uid)
    if url and before.unused not in ("", url):
        text = f"another database still holds an earlier copy of {paths.name}"
        hint = f"pro0 store copy {paths.name} files --remove-source"
        raise Refused(text, code=ErrorCode.CONFLICT, hint=hint)
    files, rows = FileContents(paths), in_database(paths.home, paths.name, url or before.url).contents(uid)
    source: Contents = files if url else rows
    target: Contents = rows if url else files
    target.prepare()
    switched = False
    try:
        with target.led(), source.held():
            _refuse_if_shared(paths.name, source)
            with _taken_back(paths, before, target):
                if url:  # so that a removal of the team finds what a killed copy leaves there
                    _point(paths, StorePointer(url="", uid=uid, unused=url))
                _fill(paths.name, source, target, show)
            _point(paths, StorePointer(url=url, uid=uid, unused=before.url))
            switched = True
            source.set_aside()
    except (StoreError, OSError):
        if not switched:  # after the switch the move is done, even if the source could not be set aside
            raise


def remove_source(paths: TeamPaths, *, force: bool) -> str:
    """Remove everything that copies have left in places that are not in charge.

    With `force`, a database that is out of reach is forgotten, and its URL returned; it may keep its rows.
    """
    pointer, forgotten = pointer_in(paths.team), ""
    if pointer and pointer.url:
        FileContents(paths).remove()
    elif pointer and pointer.unused:
        try:
            in_database(paths.home, paths.name, pointer.unused).drop(pointer.uid)
        except (Unwritable, KeepsNoTeam) as error:
            if not force:
                way = f"pro0 store copy {paths.name} files --remove-source --force"
                error.hint = f"{error.hint}; if it is gone for good: {way}"
                raise
            forgotten = pointer.unused
        trees.remove(paths.team / UNUSED)
        _forget(paths)
    return forgotten


def _refuse_if_shared(name: str, source: Contents) -> None:
    """Raise Refused when another machine takes part by now: machines could join until the source was locked."""
    kind, keys = f"{KINDS[0]}/", source.keys()
    records = [machine_of(key.removeprefix(kind)) for key in keys if key.startswith(kind)]
    if others := ", ".join(filter(None, records)):
        text = f"{name} is not copied: it is shared with {others}"
        raise Refused(text, code=ErrorCode.CONFLICT, hint=f"pro0 host list -t {name}")


@contextmanager
def _taken_back(paths: TeamPaths, before: StorePointer, target: Contents) -> Iterator[None]:
    """After an error, remove what was written; what cannot be removed is overwritten by the next copy."""
    try:
        yield
    except BaseException:
        with suppress(Pro0Error, OSError):
            target.clear()
            if not (before.url or before.unused):
                _forget(paths)
        raise


def _fill(name: str, source: Contents, target: Contents, show: Show) -> None:
    keys = source.keys()
    if odd := next((key for key in keys if not is_document(key)), None):
        raise StoreError(f"{odd!r} is not the name of a team document", code=ErrorCode.STORE_CORRUPT)
    target.fill(((key, source.read(key)) for key in _with_progress(keys, "copied", show)), source.lines())
    for key in _with_progress(keys, "compared", show):
        if source.read(key) != target.read(key):
            raise StoreError(f"{key} of {name} differs in the copy; the team stays where it was", hint="try again")
    if any(old != new for old, new in zip_longest(_words(source), _words(target))):
        raise StoreError(f"the events of {name} differ in the copy; the team stays where it was", hint="try again")
    # Last: a document made meanwhile, such as a task's first comments, had no lock that could be held.
    if target.keys() != keys or source.keys() != keys:
        raise StoreError(f"{name} was changed during the copy; it stays where it was", hint="try again")


def _words(contents: Contents) -> Iterator[bytes]:
    """Yield each event with its newline, but not its file's number: the copy of a long log may be split anew."""
    return (ended(line) for _, line in contents.lines())


def _with_progress(keys: Sequence[str], done: str, show: Show) -> Iterator[str]:
    for number, key in enumerate(keys, 1):
        show(f"{done} {number} of {len(keys)} documents")
        yield key


def _point(paths: TeamPaths, pointer: StorePointer) -> None:
    File(paths.team, STORE, StorePointer).create(pointer)


def _forget(paths: TeamPaths) -> None:
    (paths.team / STORE).unlink(missing_ok=True)
    atomic.sync(paths.team)
