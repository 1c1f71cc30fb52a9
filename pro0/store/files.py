"""Typed files: read a file or name its fault, change it under the lock, replace it whole."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from pro0.decoding import decode
from pro0.errors import BadInput, ErrorCode, Pro0Error, StoreError
from pro0.model.stored import SCHEMA_VERSION, Document
from pro0.rules.size import holds_more_than
from pro0.store.keys import holds_content, repeated
from pro0.store.places.folder import Folder
from pro0.store.places.folder import add_folder as add_folder
from pro0.store.places.folder import add_links as add_links
from pro0.store.places.folder import delete as delete
from pro0.store.places.folder import exists as exists
from pro0.store.places.folder import make_folder as make_folder
from pro0.store.places.folder import translate as translate
from pro0.store.places.folder import translated as translated

if TYPE_CHECKING:
    from pro0.store.places.place import DocumentPlace, OpenPlace

SMALL = 4 * 1024 * 1024
VALUE_LIMIT = 3_000_000
"""The most names, values and commas in a file larger than SMALL: each takes far more memory than its bytes."""

T = TypeVar("T", bound=Document)

SIZE_LIMIT = 64 * 1024 * 1024
"""Bytes of the largest readable file; a larger one is refused before parsing."""


class Change(Generic[T]):
    """One locked change: assign `value`, and it is written when the block ends without an error."""

    def __init__(self, place: "OpenPlace", value: T) -> None:
        self.place = place
        self.value = value


class File(Generic[T]):
    """One document at its place; without `absent` to make a first value, a missing file is corrupt.

    `fault` returns an error text for a document foreign to this place. `filled` adds our own fields to a document of
    another program; without it, a document needs a revision. The bytes last read or written are kept with their value.
    So a process decodes nothing twice while nobody else writes.
    """

    def __init__(
        self,
        place: "Path | DocumentPlace",
        name: str,
        kind: type[T],
        absent: Callable[[], T] | None = None,
        fault: Callable[[T], str] = lambda _: "",
        filled: Callable[[T], T] | None = None,
    ) -> None:
        self.place: DocumentPlace = Folder(place) if isinstance(place, Path) else place
        self.folder = self.place.path
        self.path = self.folder / name
        self._name = name
        self.kind = kind
        self._absent = absent
        self._fault = fault
        self._filled = filled
        self._last: tuple[bytes, T | None] = b"", None

    def read(self) -> T:
        """Return the document without a lock; raises NotFound for a missing folder, StoreError when corrupt."""
        with self._translated(), self.place.open() as place:
            return self._load(place)

    @contextmanager
    def change(self, why: str) -> Iterator[Change[T]]:
        """Lock, read, let the caller assign a new value, and replace the file; an error writes nothing."""
        with self._translated(), self.place.locked(why) as place:
            change = Change(place, self._load(place))
            before = change.value
            yield change
            if change.value is not before:
                self.write(place, change.value)

    def find(self) -> T | None:
        """Return the document, or None when its file or folder is missing."""
        with self._translated(), suppress(FileNotFoundError), self.place.open() as place:
            return self.decoded(place.read(self._name, SIZE_LIMIT))
        return None

    def create(self, value: T) -> None:
        """Write the document for the first time, into a folder still unknown to others."""
        with self._translated(), self.place.open() as place:
            self.write(place, value)

    def try_room(self) -> None:
        """Raise Unwritable when the disk has no room to replace the document; the document stays untouched."""
        with self._translated(), self.place.open() as place:
            place.try_room(place.read(self._name, SIZE_LIMIT))

    def create_once(self, value: T, why: str) -> None:
        """Write the document under the lock, unless it exists already."""
        with self._translated(), self.place.locked(why) as place:
            if not place.holds(self._name):
                self.write(place, value)

    def _load(self, place: "OpenPlace") -> T:
        try:
            data = place.read(self._name, SIZE_LIMIT)
        except FileNotFoundError:
            if self._absent:
                return self._absent()
            if not self.place.is_there():
                raise
            raise StoreError(f"{self.path} is missing", code=ErrorCode.STORE_CORRUPT, hint="pro0 doctor") from None
        return self.decoded(data)

    def decoded(self, data: bytes) -> T:
        """Return the document that these bytes hold; raises StoreError when they are corrupt."""
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

    def write(self, place: "OpenPlace", value: T) -> None:
        """Write the document, as a part of a change that the caller has begun."""
        if value.schema_version > SCHEMA_VERSION:
            raise newer(self.path, value.schema_version)
        value = msgspec.structs.replace(value, revision=value.revision + 1)
        data = encode(value)
        if len(data) > SIZE_LIMIT:
            why = f"it would have {len(data)} bytes, more than {SIZE_LIMIT}"
            raise StoreError(f"{self.path} is full: {why}", code=ErrorCode.TOO_LARGE, hint="nothing was changed")
        place.replace(self._name, data)
        self._last = data, value

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.place.translate(error, self._name)


def encode(value: msgspec.Struct) -> bytes:
    """Return a value as JSON for people to read; raises BadInput for invalid Unicode."""
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"
    except UnicodeEncodeError:
        raise BadInput("a text is not valid Unicode", hint="it holds a lone surrogate; pass UTF-8") from None


def _corrupt(path: Path, data: bytes, error: Exception) -> Pro0Error:
    from pro0.rules.repair import salvage  # late: a sound file needs none of it

    if salvage.is_newer(data):
        return newer(path, salvage.version(data))
    message = f"{path} is corrupt: {error}"
    maybe = " use the newer pro0 if one wrote it, else" if "unknown field" in str(error) else ""
    return StoreError(message, code=ErrorCode.STORE_CORRUPT, hint=f"it was left as it is;{maybe} see: pro0 doctor")


def newer(path: Path, version: int) -> StoreError:
    """Return the error for a file of a newer pro0."""
    return StoreError(
        f"{path} has schemaVersion {version}; this pro0 writes {SCHEMA_VERSION}",
        code=ErrorCode.NEWER_SCHEMA,
        hint="use the newer pro0 that wrote it",
    )
