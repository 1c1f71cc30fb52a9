"""The bytes of documents, whichever kind of store has them."""

from typing import Any

from pro0.store.database.place import Rows
from pro0.store.database.pointer import in_database, pointer_in
from pro0.store.database.server import lock_of
from pro0.store.files import SIZE_LIMIT, File
from pro0.store.moving.copy import Contents
from pro0.store.moving.files import FileContents
from pro0.store.teams import TeamStore

DELETE = """
delete from pro0.documents d using pro0.teams t where t.id = d.team and t.name = %s and d.name = %s
"""


def data_of(file: File[Any]) -> bytes:
    """Return them as they are kept."""
    with file.place.open() as place:
        return place.read(file.path.name, SIZE_LIMIT)


def put(file: File[Any], data: bytes) -> None:
    """Keep others in their place."""
    file.place.make()
    with file.place.open() as place:
        place.replace(file.path.name, data)


def drop(file: File[Any]) -> None:
    """Keep none in their place."""
    if not isinstance(file.place, Rows):
        file.path.unlink()
        return
    team = file.place.team
    with team.server.act(lock_of(team.name), "a test", "drop a document") as act:
        act.write(DELETE, (team.name, file.place.key(file.path.name)))


def all_of(team: TeamStore) -> dict[str, bytes]:
    """Return all documents of a team by name."""
    pointer = pointer_in(team.paths.team)
    contents: Contents = FileContents(team.paths)
    if pointer and pointer.url:
        contents = in_database(team.paths.home, team.name, pointer.url).contents(pointer.uid)
    return {key: contents.read(key) for key in contents.keys()}  # noqa: SIM118 - no mapping
