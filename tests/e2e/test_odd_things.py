"""A lead at work: pipes and folders in the place of its files, one after the other, neither stop nor hang it (30)."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.crash.lanes import LANES, SOAK, counted
from tests.e2e.conftest import Team
from tests.hostile.test_paths import folder, pipe
from tests.waiting import wait_until

ODD = {"pipe": pipe, "folder": folder}
ODD_THINGS = "odd things under a lead"
FEW = 7
"""In the short lane only every so many-th place is tried."""


@contextmanager
def in_the_place_of(path: Path, odd: str, aside: Path) -> Iterator[None]:
    """Put something odd in the place of a file or folder, and afterwards back what was there."""
    path.rename(aside)
    try:
        ODD[odd](path, aside)
        yield
    finally:
        path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        aside.rename(path)


def places(team: Team) -> list[Path]:
    """Return every file and folder of the team but sockets, and the folder that says that there is a team."""
    roots = [team.home / noun / team.name for noun in ("teams", "tasks", "mailboxes")]
    found = sorted(path for root in roots for path in (root, *root.rglob("*")) if path != roots[0])
    return [path for path in found if not path.is_socket()]


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("odd", ODD)
def test_whatever_stands_there_the_lead_goes_on(odd: str, lane: str, team: Team, tmp_path: Path) -> None:
    team.start("headless", "w1", "w2")
    lead = team.json("team", "status")["lead"]["pid"]
    team("task", "create", "x", "--run", "exec sleep 600")
    team.worker()
    tried = places(team)[:: 1 if lane == SOAK else FEW]
    for path in filter(os.path.lexists, tried):
        with in_the_place_of(path, odd, tmp_path / "aside"):
            team.cli("task", "comment", "1", "wakes the lead", cwd=team.project)
            team.cli("member", "list", cwd=team.project)
    assert len(tried) > 3
    counted(lane, ODD_THINGS, odd, len(tried))
    team("task", "create", "y", "--run", "true")
    wait_until(lambda: team.tasks()["task-2"]["status"] == "completed", 60, "the team goes on")
    assert team.json("team", "status")["lead"] == {"pid": lead, "state": "running"}
