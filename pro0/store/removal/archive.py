"""Archives of removed teams: `archive/NAME.ENDED.UID` is a small home with the documents of one team.

Renames alone fill it, so it needs next to no disk. It is begun as an empty `.new-` folder. Then the rename of the team
commits its removal. From there on `complete` finishes the archive, however often it is interrupted.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pro0 import looking
from pro0.errors import EnvironmentMissing, ErrorCode, Pro0Error
from pro0.model.team import StorePointer
from pro0.store import atomic
from pro0.store.database.pointer import in_database, pointer_in
from pro0.store.files import exists, make_folder
from pro0.store.paths import (
    ARCHIVES,
    CONFIG,
    EVENTS,
    LOGS,
    NEW,
    RUN_LOG,
    RUNTIME,
    STORE,
    TRASH,
    TROUBLES,
    USAGE,
    WANTED,
    rotation,
)
from pro0.store.removal import trees

_KEPT = frozenset({CONFIG, WANTED, RUNTIME, USAGE, TROUBLES})
"""The documents of a team's folder that an archive keeps; the environment it was started with is left out."""
_WHEN = "%Y%m%dT%H%M%SZ"
_KEY = re.compile(r"([a-z0-9-]+)\.(\d{8}T\d{6}Z)\.([A-Za-z0-9-]+)")


class Archive(NamedTuple):
    """The archive of one removed team; `path` is a home with that team alone."""

    name: str
    ended: datetime
    uid: str
    path: Path


def archives(home: Path) -> list[Archive]:
    """Return all archives of a home, by name and end."""
    return sorted(filter(None, map(_archive, trees.entries(home / ARCHIVES))))


def begin(home: Path, name: str, uid: str, ended: datetime) -> None:
    """Make an empty archive for a team that is still there; raises OSError, or EnvironmentMissing for an unfit place.

    So no new folder is needed after the team's removal is committed.
    """
    make_folder(home / ARCHIVES)
    _require_fit(home)
    new = home / ARCHIVES / f"{NEW}{name}.{ended.astimezone(UTC).strftime(_WHEN)}.{uid}"
    try:
        for folder in (new / "teams" / name / LOGS, new / "tasks", new / "mailboxes"):
            make_folder(folder)
    except BaseException:
        with suppress(OSError):
            trees.remove(new)
        raise


def is_begun(home: Path, trash: Path) -> bool:
    """Return True while the archive of a removed team is unfinished."""
    return bool(_begun(home, *_name_and_uid(trash)))


def rehearse(home: Path, name: str, uid: str, ended: datetime) -> None:
    """Begin an archive and remove it again; raises as `begin` does."""
    abandon(home, name, uid)
    begin(home, name, uid, ended)
    abandon(home, name, uid)
    _remove_empty(home / ARCHIVES)


def abandon(home: Path, name: str, uid: str) -> None:
    """Remove the begun archives of a team whose removal is not committed."""
    for begun in _begun(home, name, uid):
        trees.remove(begun)


def complete(home: Path, trash: Path) -> None:
    """Move a removed team's files into its unfinished archive; do nothing without one."""
    name, uid = _name_and_uid(trash)
    for begun in _begun(home, name, uid):
        if (pointer := pointer_in(trash)) and pointer.url:
            in_database(home, name, pointer.url).write_to(begun, pointer.uid, _is_kept)
        for kind in ("tasks", "mailboxes"):
            if not exists(home / "teams" / name):  # else they are those of a later team
                _move(home / kind / name, begun / kind / name)
        for file in _archived_files(trash):
            _move(trash / file, begun / "teams" / name / file)
        for folder in (begun / "teams" / name / LOGS, begun / "teams" / name, begun / "tasks", begun / "mailboxes"):
            atomic.sync(folder)
        begun.rename(begun.with_name(begun.name.removeprefix(NEW)))
        atomic.sync(home / ARCHIVES)


def drop_rows(home: Path, entry: Path) -> None:
    """Remove the rows of a removed or half-made team from its databases, also those that a copy has left."""
    if pointer := pointer_in(entry):
        for url in _named(pointer):
            in_database(home, name_of(entry), url).drop(pointer.uid)


def databases(entry: Path) -> list[str]:
    """Return the databases that may keep rows of a removed or half-made team."""
    pointer = pointer_in(entry)
    return _named(pointer) if pointer else []


def _named(pointer: StorePointer) -> list[str]:
    if pointer.share:  # the rows belong to a team in which this machine only took part
        return []
    return [url for url in (pointer.url, pointer.unused) if url]


def may_wait(entry: Path) -> bool:
    """Return True when a removal may need a database to be finished."""
    return exists(entry / STORE)


def forget_databases(entry: Path) -> None:
    """Let a removal be finished without its databases, durably."""
    (entry / STORE).unlink(missing_ok=True)
    atomic.sync(entry)


def name_of(entry: Path) -> str:
    """Return the name of the team of a half-done entry in the folder of teams or of archives."""
    return entry.name.removeprefix(TRASH).removeprefix(NEW).partition(".")[0]


def forget(archive: Archive) -> Path:
    """Commit the removal of an archive by one rename; return the path for `remove`, or for a later `sweep`."""
    trash = archive.path.with_name(f"{TRASH}{archive.path.name}")
    with suppress(FileNotFoundError):
        archive.path.rename(trash)
    return trash


def remove(trash: Path) -> None:
    """Remove a forgotten archive."""
    with suppress(FileNotFoundError):
        atomic.sync(trash.parent)
    trees.remove(trash)
    _remove_empty(trash.parent)


def half_done(home: Path) -> Iterator[tuple[str, Path]]:
    """Yield the half-made and half-forgotten archives, each with its team's name."""
    for path in trees.entries(home / ARCHIVES):
        if path.name.startswith((NEW, TRASH)):
            yield name_of(path), path


def sweep(home: Path, waiting: dict[Path, Pro0Error]) -> list[str]:
    """Remove half-forgotten archives, and those of removals that were never committed; return the teams' names.

    The archives of waiting removals stay. An archive that cannot be removed is added to `waiting`.
    """
    names, stays = [], {path for trash in waiting for path in _begun(home, *_name_and_uid(trash))}
    for name, path in half_done(home):
        if path not in stays:
            with trees.noting(waiting, path):
                trees.remove(path)
                names.append(name)
    _remove_empty(home / ARCHIVES)
    return names


def _archive(path: Path) -> Archive | None:
    match = _KEY.fullmatch(path.name)
    with suppress(ValueError):
        return (
            Archive(match[1], datetime.strptime(match[2], _WHEN).replace(tzinfo=UTC), match[3], path) if match else None
        )
    return None


def _name_and_uid(trash: Path) -> tuple[str, str]:
    name, _, uid = trash.name.removeprefix(TRASH).partition(".")
    return name, uid


def _begun(home: Path, name: str, uid: str) -> list[Path]:
    begun = [path for path in trees.entries(home / ARCHIVES) if path.name.startswith(NEW)]
    return [
        path
        for path in begun
        if (archive := _archive(path.with_name(path.name.removeprefix(NEW)))) and archive[::2] == (name, uid)
    ]


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _archived_files(trash: Path) -> Iterator[str]:
    """Yield the files that an archive keeps, relative to the folder of the team."""
    for path in trees.entries(trash):
        if _is_kept(path.name):
            yield path.name
    for path in trees.entries(trash / LOGS):
        if path.name.endswith(RUN_LOG):
            yield f"{LOGS}/{path.name}"


def _is_kept(name: str) -> bool:
    return name in _KEPT or name == EVENTS or bool(rotation(EVENTS, name))


def _move(source: Path, target: Path) -> None:
    """Rename once: a late writer's new file must not replace the moved one."""
    if not looking.lexists(target):
        with suppress(FileNotFoundError):
            source.rename(target)


def _require_fit(home: Path) -> None:
    """Raise EnvironmentMissing when no rename from the team's folders can lead into the folder of archives."""
    top = home / ARCHIVES
    status = top.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise EnvironmentMissing(f"{top} is not a folder of yours", code=ErrorCode.UNSAFE_PATH, hint="move it away")
    kinds = [home / kind for kind in ("teams", "tasks", "mailboxes")]
    if any(kind.stat().st_dev != status.st_dev for kind in kinds if exists(kind)):
        text = f"{top} is on another file system than the teams"
        raise EnvironmentMissing(text, code=ErrorCode.UNSAFE_PATH, hint="move it beside them")
