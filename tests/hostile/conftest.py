"""A team in which everything that can be stored is stored."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pro0 import processes
from pro0.store.paths import HOME_VARIABLE
from tests.cli.conftest import Pro0, become, make, pro0, project, seat, team
from tests.hostile.furnished import Furnished, furnish

__all__ = ["Pro0", "become", "make", "pro0", "project", "seat", "team"]


@pytest.fixture
def full(home: Path, project: Path) -> Furnished:
    """The team alpha with members, sessions, tasks, mail, comments and failures, all of them only written down."""
    return furnish(home, project)


@pytest.fixture(autouse=True)
def ended(home: Path) -> Iterator[None]:
    """End whatever a test started in its home: what is odd may keep a lead from being stopped."""
    yield
    processes.end(lambda: processes.tagged(HOME_VARIABLE, [str(home)])[str(home)], 2)
