"""A supervised tree of three levels runs to its end unattended (issue 6, must show 3 and 5)."""

import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pro0 import processes
from pro0.model.task import SETTLED, Status
from pro0.ops.tasks import gates
from tests.crash.lanes import LANES, SOAK, TEST, counted
from tests.engine.crew import PATIENCE, Crew, crew, kill
from tests.scenarios.conftest import EVERY_MODE
from tests.scenarios.trees import ROOT, acts, begin, journal, plan, shuffled, told, work
from tests.waiting import wait_until

LONG = 240
"""Seconds: two dozen sessions, one after the other, on a busy machine."""
KILLS = {TEST: 3, SOAK: 50}


@pytest.fixture
def quiet(brief: None, home: Path, tmp_path: Path) -> Iterator[Crew]:
    """A team without a terminal."""
    with crew(home, tmp_path, "headless") as made:
        made.lead()
        yield made


def over(team: Crew) -> None:
    """Wait until the root is over and nobody is left."""
    team.settled(ROOT, seconds=LONG)
    wait_until(lambda: team.team.wanted.read().seats == (), PATIENCE, "nobody has a seat")
    assert team.left() == []


def test_three_levels_and_twenty_subtasks_stop_at_a_failure_and_go_on(quiet: Crew) -> None:
    """Must show 3, AC-42 to AC-44, AC-46: in priority order, one at a time, said once, continued where it was."""
    missing = quiet.project / "compiler"
    wide = plan("wide", *shuffled(20, w07=str(missing)), priority=5)
    begin(quiet, plan("root", wide, plan("narrow", work("first"), work("second"), priority=1)))
    wait_until(lambda: told(quiet, "lead", "has failed"), LONG, "the tree has stopped")
    assert quiet.at_rest(PATIENCE).outcome.value == 1
    done = ["first", "second", *(f"w{number:02}" for number in range(7))]
    assert journal(quiet) == done
    board = {task.title: task for task in quiet.team.tasks.read().tasks}
    assert [status for title, task in board.items() if (status := task.status) is Status.FAILED] == [Status.FAILED]
    failed = board["w07"]
    for name in ("lead", board["wide"].assignee or ""):
        assert len(told(quiet, name, f"{failed.id} has failed ({missing} is missing)")) == 1
    missing.touch()
    gates.go_on(quiet.context, failed.id)
    over(quiet)
    assert journal(quiet) == [*done, *(f"w{number:02}" for number in range(7, 20))]
    assert {task.status for task in quiet.team.tasks.read().tasks} == {Status.COMPLETED}
    assert quiet.task(failed.id).session == failed.session
    assert acts(quiet, board["wide"].id).count("review") == 20
    assert len({entry.incarnation for entry in board["wide"].history if entry.act == "complete"}) == 1


@pytest.mark.parametrize("alpha", EVERY_MODE, indirect=True)
def test_a_tree_in_panes(alpha: Crew) -> None:
    """Must show 3, on both backends: the seats of tasks come and go."""
    begin(alpha, plan("root", plan("middle", *shuffled(3))))
    over(alpha)
    assert journal(alpha) == ["w00", "w01", "w02"]


@pytest.mark.parametrize("lane", LANES)
def test_the_lead_is_killed_in_the_middle_of_a_tree(lane: str, quiet: Crew) -> None:
    """Must show 5: nothing runs twice, nothing is forgotten, wherever it was."""
    chance = random.Random(lane)
    width = 4 if lane == TEST else 20
    branches = [plan(f"branch {number}", *shuffled(width, number)) for number in range(1 if lane == TEST else 5)]
    begin(quiet, plan("root", *branches))
    killed = 0
    while quiet.task(ROOT).status not in SETTLED:
        if killed < KILLS[lane]:
            time.sleep(chance.uniform(0, 1.2))
            kill_the_lead(quiet)
            killed += 1
            quiet.lead()
        else:
            quiet.settled(ROOT, seconds=LONG)
    over(quiet)
    assert journal(quiet) == [f"w{number:02}" for _ in branches for number in range(width)]
    for task in quiet.team.tasks.read().tasks:
        assert (task.status, task.epoch, acts(quiet, task.id).count("start")) == (Status.COMPLETED, 1, 1)
        if task.parent:
            parent = quiet.task(task.parent)
            assert len(told(quiet, parent.assignee or "", f"completed {task.id} ")) == 1
    counted(lane, "kills of the lead in a tree", "all", killed)


def kill_the_lead(team: Crew) -> None:
    """End the lead with kill -9."""
    lead = team.team.runtime.read().lead
    assert lead
    kill(lead, signal.SIGKILL)
    team.leads[-1].wait()
    wait_until(lambda: not processes.alive(lead), PATIENCE, "the lead is dead")
