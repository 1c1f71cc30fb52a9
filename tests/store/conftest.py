"""The store's tests make thousands of files; those of what it promises run for each kind of store."""

import os
from itertools import count
from pathlib import Path

import pytest

from pro0.model.team import TeamConfig, Wanted
from pro0.store.paths import TeamPaths
from pro0.store.places.documents import Files
from pro0.store.places.place import DocumentPlace
from pro0.store.places.promises import Documents
from pro0.store.teams import Store, TeamStore
from tests.postgres import Postgres
from tests.sharing import founded, joined
from tests.teams import NOW

KINDS = ("files", "database")
NUMBERS = count()


@pytest.fixture
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let fsync cost nothing: no test can see what it does, only that it is called."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what asks for a kind of store with each, but for what is about files alone."""
    if "store_kind" in metafunc.fixturenames:
        only = metafunc.definition.get_closest_marker("files")
        metafunc.parametrize("store_kind", KINDS[:1] if only else KINDS)


@pytest.fixture
def documents(store_kind: str, home: Path, request: pytest.FixtureRequest) -> Documents:
    """The documents of a team of that kind, which has none yet but what it is made with."""
    if store_kind == "files":
        paths = TeamPaths(home, "alpha")
        for folder in (paths.team, paths.tasks, paths.mailboxes):
            folder.mkdir(parents=True)
        return Files(paths)
    url = request.getfixturevalue("database")
    config = TeamConfig(name=f"team-{next(NUMBERS)}", created_at=NOW, uid="uid", project=str(home))
    return Store(home).create(config, Wanted(), url=url).documents


@pytest.fixture
def empty(documents: Documents) -> DocumentPlace:
    """A place of its own, in which nothing is yet."""
    place = documents.mailboxes.within("w1")
    place.make()
    return place


@pytest.fixture
def kept_at(store_kind: str, request: pytest.FixtureRequest) -> str:
    """Where the teams of the test have their documents: the URL of a database of its own, "" for files."""
    if store_kind == "files":
        return ""
    server: Postgres = request.getfixturevalue("server")
    return server.url()


@pytest.fixture
def alpha(home: Path, database: str) -> TeamStore:
    """A team on the machine that made it, with the member w1."""
    return founded(home, database)


@pytest.fixture
def two(alpha: TeamStore) -> TeamStore:
    """The same team as a second machine has it."""
    return joined(alpha, "two")


@pytest.fixture
def three(alpha: TeamStore) -> TeamStore:
    """And as a third one has it."""
    return joined(alpha, "three")
