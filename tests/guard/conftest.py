"""A session per test, of which nothing is left afterwards."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.guard.sessions import Session


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    one = Session(tmp_path)
    yield one
    one.clean()
