"""Teams whose socket is served in this process, and clients of it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pro0.rpc.server import serving
from pro0.store.paths import SOCKET
from pro0.store.teams import TeamStore
from tests.rpc.sockets import Wire
from tests.teams import make_team

Connect = Callable[[], Wire]


@pytest.fixture
def team(home: Path) -> TeamStore:
    """A team with a lead agent and two teammates."""
    return make_team(home, "lead", "w1", "w2")


@pytest.fixture
def path(team: TeamStore) -> Iterator[Path]:
    """Where the team is served."""
    (team.paths.logs).mkdir(exist_ok=True)
    with serving(team):
        yield team.paths.team / SOCKET


@pytest.fixture
def connect(path: Path) -> Iterator[Connect]:
    """Connect to it: `connect()`."""
    opened: list[Wire] = []

    def open_one() -> Wire:
        opened.append(Wire(path))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()
