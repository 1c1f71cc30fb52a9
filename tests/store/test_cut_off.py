"""Whoever loses the connection in the middle of something is told what could not be used."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from pro0.errors import Unwritable
from pro0.store.database.documents import DatabaseDocuments, label_of
from pro0.store.database.pointer import in_database
from tests.postgres import Postgres
from tests.store.test_database import cutting, team_at

pytestmark = pytest.mark.usefixtures("no_sync")


def entered(manager: AbstractContextManager[object]) -> None:
    with manager:
        pass


def read(documents: DatabaseDocuments) -> None:
    with documents.tasks.open() as opened:
        opened.read("tasks.json", 5)


def replaced(documents: DatabaseDocuments) -> None:
    with documents.tasks.open() as opened:
        opened.replace("tasks.json", b"{}")


def tried(documents: DatabaseDocuments) -> None:
    with documents.tasks.open() as opened:
        opened.try_room(b"{}")


SERVER, TASKS = "", "/tasks/alpha"
ASKED: dict[str, tuple[str, Callable[[DatabaseDocuments], object]]] = {
    "read": (TASKS, read),
    "replace": (TASKS, replaced),
    "try room": (TASKS, tried),
    "lock": (TASKS, lambda documents: entered(documents.tasks.locked("a test"))),
    "holds": (TASKS, lambda documents: documents.tasks.holds("tasks.json")),
    "is there": (TASKS, lambda documents: documents.tasks.is_there()),
    "is there, inside": (f"{TASKS}/a-1", lambda documents: documents.tasks.within("a-1").is_there()),
    "names": (TASKS, lambda documents: documents.tasks.names()),
    "make": (f"{TASKS}/a-1", lambda documents: documents.tasks.within("a-1").make()),
    "stamp": (TASKS, lambda documents: documents.tasks.stamp("tasks.json")),
    "teams": (SERVER, lambda documents: documents.names()),
    "uid": (SERVER, lambda documents: documents.uid()),
    "clock": (SERVER, lambda documents: documents.clock_difference()),
    "records": ("/teams/alpha", lambda documents: documents.records()),
    "a new team": (SERVER, lambda documents: entered(documents.founding(Path("/nowhere"), "uid"))),
    "drop": (SERVER, lambda documents: documents.drop("uid")),
    "write": (SERVER, lambda documents: documents.write_to(Path("/nowhere"), "uid", lambda _: True)),
    "last events": ("the events of alpha", lambda documents: documents.events().last(3)),
    "new events": ("the events of alpha", lambda documents: [*documents.events().fresh()]),
    "present": ("the leases of alpha", lambda documents: documents.present(["two"])),
    "keys of a copy": (SERVER, lambda documents: documents.contents("uid").keys()),
    "a copy": (SERVER, lambda documents: documents.contents("uid").read("tasks/tasks.json")),
    "a held copy": (SERVER, lambda documents: entered(documents.contents("uid").held())),
    "a cleared copy": (SERVER, lambda documents: documents.contents("uid").clear()),
    "a filled copy": (SERVER, lambda documents: documents.contents("uid").fill([], [])),
    "a prepared copy": (SERVER, lambda documents: documents.contents("uid").prepare()),
}
"""What is asked of the documents of a team, and what is named: a place of the database, or what words say."""


@pytest.mark.parametrize("what", ASKED)
def test_whoever_is_cut_off_is_told_from_what(home: Path, server: Postgres, what: str) -> None:
    """Issue 19: exit 5, and nothing was changed."""
    place, ask = ASKED[what]
    with cutting(server) as proxy:
        url = server.url(host=str(proxy.at))
        team_at(home, url)
        documents = in_database(home, "alpha", url)
        documents.names()  # so that a connection is open
        proxy.cut_after = proxy.sent
        with pytest.raises(Unwritable) as cut:
            ask(documents)
    named = place if place.startswith("the ") else f"{label_of(url)}{place}"
    assert cut.value.message.startswith(f"cannot use {named}: ")
    assert (cut.value.exit_code, cut.value.hint) == (5, "nothing was changed")
