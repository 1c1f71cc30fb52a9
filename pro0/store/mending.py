"""Replace an unusable file by a sound one; the bad file is moved aside, never deleted.

The bad file gets a second name, a hard link, before the good file takes over its first name. After an interruption
both files are there, or nothing has changed. A second run finds the second name and adds no third.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from pro0.errors import ErrorCode, Pro0Error
from pro0.model.stored import SCHEMA_VERSION, Document
from pro0.store import atomic
from pro0.store.files import SIZE_LIMIT, File, encode, newer, translate
from pro0.store.lock import locked
from pro0.store.paths import ASIDE, MOVED

T = TypeVar("T", bound=Document)

MENDABLE = frozenset({ErrorCode.STORE_CORRUPT, ErrorCode.UNSAFE_PATH})
"""Error codes of a bad file; another file in its place repairs them."""


class Bad(NamedTuple):
    """The bad entry in a document's place: its readable bytes, its size, and its kind in words."""

    data: bytes
    size: int
    was: str


class Mend(Generic[T]):
    """One unusable file, with its folder locked."""

    def __init__(self, file: File[T], folder: int) -> None:
        self._folder = folder
        self._name = file.path.name
        self.bad = look(folder, self._name)

    def put(self, value: T, now: datetime) -> str | None:
        """Move the bad file aside and put a document in its place; return the bad file's new name."""
        return put(self._folder, self._name, encode(msgspec.structs.replace(value, revision=value.revision + 1)), now)


def trouble(file: File[Any]) -> Pro0Error | None:
    """Return why a document cannot be read, or not be changed since a newer pro0 wrote it; None when it is sound."""
    try:
        version = file.read().schema_version
    except Pro0Error as error:
        return error
    return newer(file.path, version) if version > SCHEMA_VERSION else None


@contextmanager
def mending(file: File[T], why: str) -> Iterator[Mend[T] | None]:
    """Hold the lock of an unusable file; yield None when it is sound by now."""
    try:
        with locked(file.folder, why) as folder:
            error = trouble(file)
            yield Mend(file, folder) if error and error.code in MENDABLE else None
    except OSError as error:
        translate(error, file.path)


def remnant(file: File[Any]) -> Bad | None:
    """Return the entry in a document's place, without a lock; None when its folder is gone."""
    with suppress(OSError), atomic.folder(file.folder) as folder:
        return look(folder, file.path.name)
    return None


def look(folder: int, name: str) -> Bad:
    """Return the entry behind a name in an open folder.

    For a missing file, the bytes are those that an interrupted repair moved aside and did not replace. Bytes that an
    earlier repair did replace are too old to use: the team has changed since.
    """
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        moved = _aside(folder, name, MOVED)
        return Bad(_bytes(folder, moved[-1]) if moved else b"", 0, "missing")
    if stat.S_ISREG(status.st_mode):
        return Bad(_bytes(folder, name), status.st_size, f"{status.st_size} bytes")
    if stat.S_ISLNK(status.st_mode):
        return Bad(b"", 0, f"a symbolic link to {os.readlink(name, dir_fd=folder)}, which was not followed")
    return Bad(b"", 0, "a folder" if stat.S_ISDIR(status.st_mode) else "no regular file")


def put(folder: int, name: str, data: bytes | None, now: datetime) -> str | None:
    """Move a bad file aside and put these bytes in its place, or nothing; return its new name, None for no file."""
    aside = set_aside(folder, name, now)
    if data is not None:
        atomic.replace(folder, name, data)
    else:
        with suppress(FileNotFoundError):  # set_aside may have renamed it
            os.unlink(name, dir_fd=folder)
    if aside is None or not aside.startswith(f"{name}{MOVED}"):
        return aside
    lasting = _unused(folder, aside.replace(MOVED, ASIDE, 1))
    os.rename(aside, lasting, src_dir_fd=folder, dst_dir_fd=folder)
    return lasting


def set_aside(folder: int, name: str, now: datetime) -> str | None:
    """Give a bad file a name no program reads; return that name, or None when there is no file."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return next(reversed(_aside(folder, name, MOVED)), None)
    for copy in _aside(folder, name):
        if os.path.samestat(status, os.stat(copy, dir_fd=folder, follow_symlinks=False)):
            return copy
    new = _unused(folder, f"{name}{ASIDE}{now:%Y%m%dT%H%M%SZ}")
    try:
        os.link(name, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except (OSError, NotImplementedError):  # a folder, or a file system without hard links
        new = _unused(folder, f"{name}{MOVED}{now:%Y%m%dT%H%M%SZ}")
        os.rename(name, new, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)
    return new


def move_aside(path: Path, now: datetime) -> Path | None:
    """Move anything aside to free its place; return its new path."""
    with suppress(FileNotFoundError), atomic.folder(path.parent) as folder:
        os.stat(path.name, dir_fd=folder, follow_symlinks=False)
        new = _unused(folder, f"{path.name}{ASIDE}{now:%Y%m%dT%H%M%SZ}")
        os.rename(path.name, new, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
        return path.with_name(new)
    return None


def _aside(folder: int, name: str, mark: str = ASIDE) -> list[str]:
    return sorted(file for file in os.listdir(folder) if file.startswith(f"{name}{mark}"))


def _unused(folder: int, name: str) -> str:
    taken, number = set(os.listdir(folder)), 1
    chosen = name
    while chosen in taken:
        number += 1
        chosen = f"{name}-{number}"
    return chosen


def _bytes(folder: int, name: str) -> bytes:
    """Return a regular file's bytes up to the limit; raises OSError, for an unreachable file is not a lost one."""
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)  # a folder is no file for `fdopen`, which would leave it open
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(SIZE_LIMIT)
