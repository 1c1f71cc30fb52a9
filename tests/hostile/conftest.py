"""A team in which everything that can be stored is stored."""

from pathlib import Path

import pytest

from tests.cli.conftest import Pro0, become, make, pro0, project, seat, team
from tests.hostile.furnished import Furnished, furnish

__all__ = ["Pro0", "become", "make", "pro0", "project", "seat", "team"]


@pytest.fixture
def full(home: Path, project: Path) -> Furnished:
    """The team alpha with members, sessions, tasks, mail, comments and failures, all of them only written down."""
    return furnish(home, project)
