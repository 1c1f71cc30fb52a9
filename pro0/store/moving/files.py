"""All documents and events of a team in files, read and written as a whole when the team is copied."""

import os
import resource
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pro0 import looking
from pro0.errors import EnvironmentMissing, ErrorCode
from pro0.store import atomic, journal
from pro0.store.files import SIZE_LIMIT, make_folder, translate
from pro0.store.lock import locked
from pro0.store.paths import EVENTS, LOGS, UNUSED, TeamPaths, is_document, rotation
from pro0.store.places.folder import Folder, translated
from pro0.store.removal import trees
from pro0.store.root import KINDS

_EACH_LOCK = 2
"""Descriptors that a held lock takes."""
_OTHERS = 256
"""Descriptors for everything else."""


class FileContents:
    """The documents and events of one team as files."""

    def __init__(self, paths: TeamPaths) -> None:
        self._paths = paths
        self._folders = dict(zip(KINDS, (paths.team, paths.tasks, paths.mailboxes), strict=True))

    def keys(self) -> list[str]:
        """Return the names of all documents, in order; raises EnvironmentMissing for a link among the folders."""
        in_team = (f"{KINDS[0]}/{name}" for name in Folder(self._paths.team).names())
        below = (f"{kind}/{inside}" for kind in KINDS[1:] for inside in _below(self._folders[kind]))
        return sorted(filter(is_document, (*in_team, *below)))

    def read(self, key: str) -> bytes:
        """Return the bytes of one document."""
        path = self._path(key)
        with translated(path), atomic.folder(path.parent) as folder:
            return atomic.read(folder, path.name, SIZE_LIMIT)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield all events, oldest first, each with the number of its file, 0 for the present one."""
        team = self._paths.team
        names = filter(_is_event_file, Folder(team).names())
        for name in sorted(names, key=lambda name: (name == EVENTS, rotation(EVENTS, name))):
            with translated(team / name), atomic.folder(team) as folder:
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
                with os.fdopen(os.open(name, flags, dir_fd=folder), "rb") as stream:
                    yield from ((rotation(EVENTS, name), journal.ended(line)) for line in stream)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep everybody else from changing a document; raises StoreError naming the holder of a lock."""
        self._require_fit()
        tasks, boxes = (Folder(self._folders[kind]) for kind in KINDS[1:])
        folders = [*self._folders.values(), *(tasks.path / name for name in tasks.folders() if "-" in name)]
        folders += [boxes.path / name for name in boxes.folders()]
        _make_room(len(folders))
        with ExitStack() as stack:
            for folder in folders:
                with translated(folder):
                    stack.enter_context(locked(folder, f"copy team {self._paths.name}"))
            yield

    @contextmanager
    def led(self) -> Iterator[None]:
        """Do nothing to keep leads out: the caller of `copy` holds the lease already."""
        yield

    def prepare(self) -> None:
        """Do nothing: files need no preparation."""

    def fill(self, documents: Iterable[tuple[str, bytes]], lines: Iterable[tuple[int, bytes]]) -> None:
        """Replace everything there by these documents and events, durably."""
        self.clear()
        for folder in self._folders.values():
            make_folder(folder)
        written = [self._write(self._path(key), data) for key, data in documents]
        written += [self._write(self._paths.team / name, data) for name, data in journal.files_of(EVENTS, lines)]
        for path in written:
            with translated(path), path.open("rb") as stream:
                os.fsync(stream.fileno())
        for folder in {path.parent for path in written}:
            with translated(folder):
                atomic.sync(folder)

    def clear(self) -> None:
        """Remove all documents and events from their places."""
        team = self._paths.team
        with translated(team):
            for kind in KINDS[1:]:
                trees.put_away(self._folders[kind])
            for name in self._names():
                (team / name).unlink()
            atomic.sync(team)

    def set_aside(self) -> None:
        """Move everything into a small home of its own; a writer that waited for a lock then finds no document."""
        unused = TeamPaths(self._paths.team / UNUSED, self._paths.name)
        trees.remove(unused.home)
        for folder in (unused.team / LOGS, unused.tasks.parent, unused.mailboxes.parent):
            make_folder(folder)
        self._paths.tasks.rename(unused.tasks)
        self._paths.mailboxes.rename(unused.mailboxes)
        for name in self._names():
            (self._paths.team / name).rename(unused.team / name)
        for folder in (unused.team, unused.tasks.parent, unused.mailboxes.parent, self._paths.team):
            atomic.sync(folder)

    def remove(self) -> None:
        """Remove the files that were set aside, and those still in their places."""
        with translated(self._paths.team):
            trees.remove(self._paths.team / UNUSED)
        self.clear()

    def _path(self, key: str) -> Path:
        kind, _, inside = key.partition("/")
        return self._folders[kind] / inside

    def _names(self) -> list[str]:
        names = Folder(self._paths.team).names()
        return [name for name in names if is_document(f"{KINDS[0]}/{name}") or _is_event_file(name)]

    def _write(self, path: Path, data: bytes) -> Path:
        make_folder(path.parent)
        with translated(path), atomic.folder(path.parent) as folder:
            atomic.replace(folder, path.name, data, durable=False)
        return path

    def _require_fit(self) -> None:
        """Raise EnvironmentMissing when the files cannot be set aside by renaming."""
        for folder in self._folders.values():
            with translated(folder):
                if folder.stat().st_dev != self._paths.team.stat().st_dev:
                    text = f"{folder} is on another file system than the teams"
                    raise EnvironmentMissing(text, code=ErrorCode.UNSAFE_PATH, hint="move it beside them")


def _is_event_file(name: str) -> bool:
    return name == EVENTS or bool(rotation(EVENTS, name))


def _below(top: Path) -> Iterator[str]:
    """Yield the names of all files below a folder, relative to it."""

    def fail(error: OSError) -> None:
        translate(error, top)

    for base, inside, names in os.walk(top, onerror=fail):
        for folder in (Path(base, name) for name in inside):
            if looking.is_link(folder):
                text = f"{folder} is a symbolic link, which is not followed"
                raise EnvironmentMissing(text, code=ErrorCode.UNSAFE_PATH)
        yield from (str(Path(base, name).relative_to(top)) for name in names)


def _make_room(locks: int) -> None:
    """Raise this process's limit of open files to what so many locks need, as far as it may be raised."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = locks * _EACH_LOCK + _OTHERS
    if soft != resource.RLIM_INFINITY and soft < needed:
        new_limit = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (new_limit, hard))
