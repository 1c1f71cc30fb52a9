"""The interface of every kind of place of documents: only types."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import NoReturn, Protocol


class OpenPlace(Protocol):
    """A place opened for one act; under a lock, the act is all replacements until the place is closed."""

    def read(self, name: str, limit: int) -> bytes:
        """Return a document's bytes; raises FileNotFoundError, or OSError for more than `limit` of them."""
        ...

    def replace(self, name: str, data: bytes) -> None:
        """Replace one document whole, durably."""
        ...

    def try_room(self, data: bytes) -> None:
        """Raise the OSError that replacing a document by this data would raise; change nothing."""
        ...

    def holds(self, name: str) -> bool:
        """Return True when there is a document of that name."""
        ...

    def within(self, name: str) -> "AbstractContextManager[OpenPlace]":
        """Open a place inside this one, which is made durably if it is missing."""
        ...

    def tidy(self) -> None:
        """Remove what killed writers left; the caller holds the lock."""
        ...

    def sync(self) -> None:
        """Make durable the places made inside this one, by any process."""
        ...


class DocumentPlace(Protocol):
    """Where documents of one kind are: the tasks of a team, one mailbox."""

    @property
    def path(self) -> Path:
        """Return the name of the place in errors."""
        ...

    def open(self) -> AbstractContextManager[OpenPlace]:
        """Open the place without a lock; raises FileNotFoundError when the place is missing."""
        ...

    def locked(self, why: str) -> AbstractContextManager[OpenPlace]:
        """Hold the lock of the place; raises FileNotFoundError, or StoreError naming the holder."""
        ...

    def within(self, name: str) -> "DocumentPlace":
        """Return the place of this name inside this one."""
        ...

    def is_there(self) -> bool:
        """Return True when the place exists."""
        ...

    def holds(self, name: str) -> bool:
        """Return True when there is a document of that name; raises StoreError when the answer is unknown."""
        ...

    def names(self) -> list[str]:
        """Return the names of the documents and places inside, in no order; none when the place is missing.

        Raises StoreError when they cannot be known.
        """
        ...

    def folders(self) -> list[str]:
        """Return the names of the places inside, in order; raises StoreError as `names` does."""
        ...

    def make(self) -> None:
        """Make the place unless it exists; raises NotFound when the place around it is gone."""
        ...

    def stamp(self, name: str) -> object:
        """Return a value that differs after each change of a document; raises OSError when it is missing."""
        ...

    def translate(self, error: OSError, name: str) -> NoReturn:
        """Translate an error about a document for a person, and raise it."""
        ...
