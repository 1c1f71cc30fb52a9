"""Every test here works in memory, on small mailboxes, with a clock that stands; fsync is called but costs nothing."""

import os
from collections.abc import Iterator

import pytest

from tests.crash import worlds
from tests.crash.worlds import Place


@pytest.fixture
def place() -> Iterator[Place]:
    """Where homes are made, used and thrown away."""
    with worlds.folder() as path:
        yield Place(path)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    with worlds.small():
        yield
