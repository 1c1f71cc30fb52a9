"""Documents in folders: each place is a folder, each document a file in it; and what may be wrong with a path."""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from pro0 import looking
from pro0.errors import EnvironmentMissing, ErrorCode, NotFound, StoreError, Unwritable
from pro0.store import atomic
from pro0.store.lock import locked, tidy
from pro0.store.paths import LOCK, NEW, TeamPaths

CHANGED_AT_SERVER = "pro0.store.change"
"""The interpreter's audit event of a change at a server, which no call on files shows."""


def unchecked() -> None:
    """Refuse nobody."""


class OpenFolder:
    """An open folder; every name is looked up in this folder, even after the folder was moved."""

    def __init__(self, descriptor: int) -> None:
        self._folder = descriptor

    def read(self, name: str, limit: int) -> bytes:
        """Return a file's bytes; raises FileNotFoundError, or OSError for an irregular file or too many bytes."""
        return atomic.read(self._folder, name, limit)

    def replace(self, name: str, data: bytes) -> None:
        """Replace one file whole, durably."""
        atomic.replace(self._folder, name, data)

    def try_room(self, data: bytes) -> None:
        """Raise the OSError that replacing a file by this data would raise; change nothing."""
        atomic.try_room(self._folder, data)

    def holds(self, name: str) -> bool:
        """Return True when there is anything of that name."""
        with suppress(FileNotFoundError):
            os.stat(name, dir_fd=self._folder, follow_symlinks=False)
            return True
        return False

    @contextmanager
    def within(self, name: str) -> Iterator["OpenFolder"]:
        """Open a folder inside this one, which is made durably if it is missing."""
        with atomic.subfolder(self._folder, name) as descriptor:
            yield OpenFolder(descriptor)

    def tidy(self) -> None:
        """Remove what killed writers left; the caller holds the lock."""
        tidy(self._folder)

    def sync(self) -> None:
        """Make durable the folders made inside this one, by any process."""
        os.fsync(self._folder)


class Folder:
    """A place that is a folder, opened only while it is used; `check` may refuse a change, under the lock."""

    def __init__(self, path: Path, check: Callable[[], None] = unchecked) -> None:
        self.path = path
        self._check = check

    @contextmanager
    def open(self) -> Iterator[OpenFolder]:
        """Open the folder, never through a link; raises FileNotFoundError when it is missing."""
        with atomic.folder(self.path) as descriptor:
            yield OpenFolder(descriptor)

    @contextmanager
    def locked(self, why: str) -> Iterator[OpenFolder]:
        """Hold the lock; each replacement counts at once. Raises FileNotFoundError, or StoreError naming the holder."""
        with locked(self.path, why) as descriptor:
            self._check()
            yield OpenFolder(descriptor)

    def within(self, name: str) -> "Folder":
        """Return the folder of this name inside this one."""
        return Folder(self.path / name, self._check)

    def is_there(self) -> bool:
        """Return True when the path leads to a folder."""
        return looking.is_folder(self.path)

    def holds(self, name: str) -> bool:
        """Return True when there is a file of that name; raises StoreError when the answer is unknown."""
        return exists(self.path / name)

    def names(self) -> list[str]:
        """Return the names inside, in no order; none for a missing folder. Raises StoreError if listing fails."""
        with translated(self.path), suppress(FileNotFoundError, NotADirectoryError):
            return os.listdir(self.path)
        return []

    def folders(self) -> list[str]:
        """Return the names of the folders inside, in order, without links; raises StoreError as `names` does."""
        with translated(self.path), suppress(FileNotFoundError, NotADirectoryError), os.scandir(self.path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        return []

    def make(self) -> None:
        """Make the folder unless it exists; raises NotFound when the folder around it is gone."""
        add_folder(self.path)

    def stamp(self, name: str) -> object:
        """Return a value that differs after each change of a file; raises OSError when it is missing."""
        status = (self.path / name).stat()
        return status.st_mtime_ns, status.st_ino

    def translate(self, error: OSError, name: str) -> NoReturn:
        """Translate an operating system's error about a file for a person, and raise it."""
        translate(error, self.path / name)


def translate(error: OSError, path: Path) -> NoReturn:
    """Translate an operating system's error for a person, and raise it."""
    if error.errno in (errno.ELOOP, errno.ENOTDIR) and (link := _link(path)):
        raise EnvironmentMissing(
            f"{link} is a symbolic link, which is not followed", code=ErrorCode.UNSAFE_PATH
        ) from None
    if odd := _odd(path):
        raise EnvironmentMissing(
            f"{odd} is not a regular file", code=ErrorCode.UNSAFE_PATH, hint="pro0 doctor"
        ) from None
    if isinstance(error, FileNotFoundError | NotADirectoryError) and not looking.is_folder(path.parent):
        raise NotFound(f"{path.parent} does not exist") from None
    raise unusable(error, path) from error


def unusable(error: OSError, path: Path) -> StoreError:
    """Return an operating system's error about a document as one for a person; no number means too large."""
    if not error.errno:
        return StoreError(f"cannot use {path}: {error}", code=ErrorCode.STORE_CORRUPT)
    why = f"{error.strerror} ({errno.errorcode.get(error.errno, error.errno)})"
    kind = Unwritable if error.errno in _TAKES_NOTHING else StoreError
    return kind(f"cannot use {path}: {why}", hint=_MENDS.get(error.errno))


def _link(path: Path) -> Path | None:
    return next((place for place in (path, path.with_name(LOCK), path.parent) if looking.is_link(place)), None)


def _odd(path: Path) -> Path | None:
    """Return a pipe or a device in the place of a file or its lock."""
    return next((place for place in (path, path.with_name(LOCK)) if _is_odd(place)), None)


def _is_odd(path: Path) -> bool:
    try:
        kind = stat.S_IFMT(os.lstat(path).st_mode)
    except OSError:  # report the first error, not this one
        return False
    return kind not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)


_TAKES_NOTHING = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG})
_MENDS = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some of your quota",
    errno.EROFS: "the file system is read-only; choose another PRO0_HOME",
    errno.EACCES: "look at its owner and mode; pro0 needs a folder of your own",
    **dict.fromkeys(
        (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP), "this file system has no locks; choose another PRO0_HOME"
    ),
}


def exists(path: Path) -> bool:
    """Return True when a path exists; raises StoreError when the answer is unknown, for unknown is never a no."""
    with translated(path), suppress(FileNotFoundError, NotADirectoryError):
        path.stat()
        return True
    return False


def delete(path: Path) -> None:
    """Delete a folder with its content, or any other entry; a missing entry is no error.

    `rmtree` would open any entry that is no folder, and wait for ever on a pipe without a writer.
    """
    if looking.is_folder(path) and not looking.is_link(path):
        import shutil  # late: a short command removes nothing

        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a private folder and its missing parents, with mode 0700; keep a present folder."""
    missing = []
    while not exists(path):
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        with translated(folder), suppress(FileExistsError):
            folder.mkdir(mode=atomic.FOLDER_MODE)
            atomic.sync(folder.parent)


def add_folder(path: Path) -> None:
    """Make one folder inside a present folder; raises NotFound when the parent is gone, and never brings it back."""
    with translated(path), atomic.folder(path.parent) as parent:
        with suppress(FileExistsError):
            os.mkdir(path.name, atomic.FOLDER_MODE, dir_fd=parent)
        with atomic.folder(path.name, parent):
            os.fsync(parent)  # even if another process made it: its content must not be lost with it


def add_links(folder: Path, links: Mapping[str, str]) -> None:
    """Make symbolic links below a private folder, in place of present files; a name may contain folders.

    A target that ends with / is a folder, which is made if it is missing and can be made.
    """
    for name, target in links.items():
        path = folder / name
        make_folder(path.parent)
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        if target.endswith("/"):
            with suppress(OSError):
                path.resolve().mkdir(parents=True)


@contextmanager
def translated(place: Path) -> Iterator[None]:
    """Raise an operating system's error about a path as one for a person."""
    try:
        yield
    except OSError as error:
        translate(error, place)


def refuse_leftovers(paths: TeamPaths) -> None:
    """Raise StoreError for files of a team that does not exist: a new team of that name would take them over."""
    for leftover in (paths.tasks, paths.mailboxes):
        if exists(leftover):
            hint = "it may hold work; `pro0 doctor --repair` moves it aside and frees the name"
            raise StoreError(f"{leftover} exists, but the team {paths.name} does not", hint=hint)
    new = paths.team.with_name(f"{NEW}{paths.name}")
    if exists(new):
        hint = f"look: pro0 doctor; if its database is gone for good: pro0 team cleanup {paths.name} --force"
        raise StoreError(f"{new}, left by an earlier start, waits for its database", hint=hint)


@contextmanager
def late(what_then: str) -> Iterator[None]:
    """Add to an error after a committed change that the change is made, and what happens then."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}, after the change: {what_then}") from error
    except StoreError as error:
        raise type(error)(
            f"{error.message}, after the change: {what_then}", code=error.code, hint=error.hint
        ) from error
