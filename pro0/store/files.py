"""Typed files: read a file or name its fault, change it under the lock, replace it whole."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Generic, NoReturn, TypeVar

import msgspec

from pro0.decoding import decode
from pro0.errors import BadInput, EnvironmentMissing, ErrorCode, NotFound, Pro0Error, StoreError, Unwritable
from pro0.model.stored import SCHEMA_VERSION, Document
from pro0.rules.size import holds_more_than
from pro0.store import atomic
from pro0.store.keys import holds_content, repeated
from pro0.store.lock import locked
from pro0.store.paths import LOCK

SMALL = 4 * 1024 * 1024
VALUE_LIMIT = 3_000_000
"""Names, values and commas in a file larger than SMALL: each takes far more memory than its bytes."""

T = TypeVar("T", bound=Document)

SIZE_LIMIT = 64 * 1024 * 1024
"""Bytes of the largest readable file; a larger one is refused before parsing."""


class Change(Generic[T]):
    """One locked change: assign `value`, and it is written when the block ends without an error."""

    def __init__(self, folder: int, value: T) -> None:
        self.folder = folder
        self.value = value


class File(Generic[T]):
    """One document at its place; without `absent` to make a first value, a missing file is corrupt.

    `fault` returns an error text for a document foreign to this place. `filled` adds our own fields to a document of
    another program; without it, a document needs a revision. The bytes last read or written are kept with their value.
    So a process decodes nothing twice while nobody else writes.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        kind: type[T],
        absent: Callable[[], T] | None = None,
        fault: Callable[[T], str] = lambda _: "",
        filled: Callable[[T], T] | None = None,
    ) -> None:
        self.folder = folder
        self.path = folder / name
        self._name = name
        self.kind = kind
        self._absent = absent
        self._fault = fault
        self._filled = filled
        self._last: tuple[bytes, T | None] = b"", None

    def read(self) -> T:
        """Return the document without a lock; raises NotFound for a missing folder, StoreError when corrupt."""
        with self._translated(), atomic.folder(self.folder) as folder:
            return self._load(folder)

    @contextmanager
    def change(self, why: str) -> Iterator[Change[T]]:
        """Lock, read, let the caller assign a new value, and replace the file; an error writes nothing."""
        with self._translated(), locked(self.folder, why) as folder:
            change = Change(folder, self._load(folder))
            before = change.value
            yield change
            if change.value is not before:
                self._save(folder, change.value)

    def find(self) -> T | None:
        """Return the document, or None when its file or folder is missing."""
        with self._translated(), suppress(FileNotFoundError), atomic.folder(self.folder) as folder:
            return self._decoded(atomic.read(folder, self._name, SIZE_LIMIT))
        return None

    def create(self, value: T) -> None:
        """Write the document for the first time, into a folder still unknown to others."""
        with self._translated(), atomic.folder(self.folder) as folder:
            self._save(folder, value)

    def try_room(self) -> None:
        """Raise Unwritable when the disk has no room to replace the document; the document stays untouched."""
        with self._translated(), atomic.folder(self.folder) as folder:
            atomic.try_room(folder, atomic.read(folder, self._name, SIZE_LIMIT))

    def create_once(self, value: T, why: str) -> None:
        """Write the document under the lock, unless it exists already."""
        with self._translated(), locked(self.folder, why) as folder:
            try:
                os.stat(self._name, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                self._save(folder, value)

    def _load(self, folder: int) -> T:
        try:
            data = atomic.read(folder, self._name, SIZE_LIMIT)
        except FileNotFoundError:
            if self._absent:
                return self._absent()
            if not self.folder.is_dir():
                raise
            raise StoreError(f"{self.path} is missing", code=ErrorCode.STORE_CORRUPT, hint="pro0 doctor") from None
        return self._decoded(data)

    def _decoded(self, data: bytes) -> T:
        same, value = self._last
        if value is None or same != data:
            value = self._parsed(data)
            self._last = data, value
        if why := self._fault(value):
            raise _corrupt(self.path, data, ValueError(why))
        return value

    def _parsed(self, data: bytes) -> T:
        if len(data) > SMALL and holds_more_than(VALUE_LIMIT, data):
            raise _corrupt(self.path, b"", ValueError(f"it holds more than {VALUE_LIMIT} values"))
        try:
            value = decode(data, self.kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as error:
            raise _corrupt(self.path, data, error) from None
        if encode(value) != data and (twice := repeated(data)):  # our own encoding never repeats a key
            raise _corrupt(self.path, data, ValueError(f"it has the key {twice} twice"))
        if value.revision < 1 and not (self._filled and holds_content(data)):
            raise _corrupt(self.path, data, ValueError("it has no revision"))
        return self._filled(value) if self._filled else value

    def _save(self, folder: int, value: T) -> None:
        if value.schema_version > SCHEMA_VERSION:
            raise newer(self.path, value.schema_version)
        value = msgspec.structs.replace(value, revision=value.revision + 1)
        data = encode(value)
        if len(data) > SIZE_LIMIT:
            why = f"it would have {len(data)} bytes, more than {SIZE_LIMIT}"
            raise StoreError(f"{self.path} is full: {why}", code=ErrorCode.TOO_LARGE, hint="nothing was changed")
        atomic.replace(folder, self._name, data)
        self._last = data, value

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            translate(error, self.path)


def encode(value: msgspec.Struct) -> bytes:
    """Return a value as JSON for people to read; raises BadInput for invalid Unicode."""
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"
    except UnicodeEncodeError:
        raise BadInput("a text is not valid Unicode", hint="it holds a lone surrogate; pass UTF-8") from None


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
    if isinstance(error, FileNotFoundError | NotADirectoryError) and not path.parent.is_dir():
        raise NotFound(f"{path.parent} is not there") from None
    if not error.errno:  # too large
        raise StoreError(f"cannot use {path}: {error}", code=ErrorCode.STORE_CORRUPT) from error
    why = f"{error.strerror} ({errno.errorcode.get(error.errno, error.errno)})"
    kind = Unwritable if error.errno in _TAKES_NOTHING else StoreError
    raise kind(f"cannot use {path}: {why}", hint=_MENDS.get(error.errno)) from error


def _link(path: Path) -> Path | None:
    return next((place for place in (path, path.with_name(LOCK), path.parent) if place.is_symlink()), None)


def _odd(path: Path) -> Path | None:
    """Return a pipe or a device in the place of a file or its lock."""
    return next((place for place in (path, path.with_name(LOCK)) if _is_odd(place)), None)


def _is_odd(path: Path) -> bool:
    return os.path.lexists(path) and not (path.is_symlink() or path.is_file() or path.is_dir())


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


def _corrupt(path: Path, data: bytes, error: Exception) -> Pro0Error:
    from pro0.rules.repair import salvage  # late: a sound file needs none of it

    if salvage.is_newer(data):
        return newer(path, salvage.version(data))
    message = f"{path} is corrupt: {error}"
    return StoreError(message, code=ErrorCode.STORE_CORRUPT, hint="it was left as it is; see: pro0 doctor")


def newer(path: Path, version: int) -> StoreError:
    """Return the error for a file of a newer pro0."""
    return StoreError(
        f"{path} has schemaVersion {version}; this pro0 writes {SCHEMA_VERSION}",
        code=ErrorCode.NEWER_SCHEMA,
        hint="use the newer pro0 that wrote it",
    )


def exists(path: Path) -> bool:
    """Return True when a path exists; raises StoreError when the answer is unknown, for unknown is never a no."""
    with _raised(path), suppress(FileNotFoundError, NotADirectoryError):
        path.stat()
        return True
    return False


def delete(path: Path) -> None:
    """Delete a folder with its content, or any other entry; a missing entry is no error.

    `rmtree` opens anything but a folder, and waits for ever on a pipe without a writer.
    """
    if path.is_dir() and not path.is_symlink():
        import shutil  # late: a short command removes nothing

        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a folder of one's own and its missing parents, with mode 0700; keep a present folder."""
    missing = []
    while not exists(path):
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        with suppress(FileExistsError), _raised(folder):
            folder.mkdir(mode=atomic.FOLDER_MODE)
            atomic.sync(folder.parent)


def add_folder(path: Path) -> None:
    """Make one folder inside a present folder; raises NotFound when the parent is gone, and never brings it back."""
    with _raised(path), atomic.folder(path.parent) as parent:
        with suppress(FileExistsError):
            os.mkdir(path.name, atomic.FOLDER_MODE, dir_fd=parent)
        with atomic.folder(path.name, parent):
            os.fsync(parent)  # whoever made it: its content must not be lost with it


@contextmanager
def _raised(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        translate(error, path)
