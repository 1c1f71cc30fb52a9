"""The bytes of a document, whichever kind of store has it."""

from typing import Any

from pro0.store.files import SIZE_LIMIT, File


def data_of(file: File[Any]) -> bytes:
    """Return them as they are kept."""
    with file.place.open() as place:
        return place.read(file.path.name, SIZE_LIMIT)


def put(file: File[Any], data: bytes) -> None:
    """Keep others in their place."""
    file.place.make()
    with file.place.open() as place:
        place.replace(file.path.name, data)
