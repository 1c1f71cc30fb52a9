"""What is told of workers, and what they are told (S002-033, 064, 067, 069, 070)."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.model.decision import Harvest
from pro0.model.runtime import Exit, State
from pro0.model.task import Status
from pro0.rules.lead import dispatch
from pro0.rules.words import assignment, leftovers, prompts, welcome
from pro0.rules.words.assignment import Assignment
from pro0.rules.words.welcome import Welcome
from pro0.store.paths import trees_of, worktree
from tests.rules.building import at, claimed, task
from tests.rules.supervising import session

HARVEST = Harvest("t1", "inc-t1", "task-1", how="crashed: worker process died unexpectedly: exit code 1")
CROP = ("teams/t1/task-1", 2, "1 file changed", "")
NOTHING = ("", 0, "", "")


def test_one_that_is_through() -> None:
    done = task(1, status=Status.COMPLETED, result="all of it\n")
    assert prompts.harvested(HARVEST, done, "noise", CROP).splitlines() == [
        "Worker t1 completed task-1: title 1",
        "all of it",
        "2 commits on teams/t1/task-1: 1 file changed",
        "merge it: pro0 worker merge t1",
    ]
    more = [leftovers.not_merged_either("b"), leftovers.stash_kept("t1", "1a2b3c4")]
    assert prompts.harvested(HARVEST, done, "", NOTHING, more).splitlines()[2:] == [
        "b is not merged either; if it is good: git merge b",
        "a stash of t1 is kept; if it is good: git stash apply 1a2b3c4",
    ]
    one = prompts.harvested(HARVEST, replace(done, result=None), "", ("b", 1, "", "/t stays: it is full"))
    assert one.splitlines()[1:] == [
        "1 commit on b: no difference",
        "/t stays: it is full",
    ]


def test_one_that_crashed_says_its_last_words() -> None:
    """AC-86"""
    failed = task(1, status=Status.FAILED, result="half", closed_reason="t1 crashed: worker process died unexpectedly")
    said = prompts.harvested(HARVEST, failed, "out of cheese", NOTHING)
    assert said == (
        "Worker t1 crashed on task-1: t1 crashed: worker process died unexpectedly\nits last output:\nout of cheese"
    )


def test_one_that_failed_or_was_sent_away() -> None:
    ended = replace(HARVEST, how="exited without closing its task")
    assert prompts.harvested(ended, task(1, status=Status.FAILED), "", NOTHING) == (
        "Worker t1 failed on task-1: exited without closing its task"
    )
    assert "is gone, task-1 is in progress: " in prompts.harvested(ended, claimed(task(1)), "", NOTHING)
    assert prompts.harvested(ended, task(1, status=Status.CANCELLED), "", NOTHING) == (
        "Worker t1 is gone, task-1 is cancelled: title 1"
    )


@pytest.mark.parametrize(("seconds", "said"), [(60, "60 seconds"), (89, "89 seconds"), (300, "5 minutes")])
def test_one_that_may_be_stuck(seconds: float, said: str) -> None:
    assert f"may be stuck on task-1 (no activity for {said})" in prompts.stuck("t1", "task-1", seconds)


@pytest.mark.parametrize(
    ("disposable", "code", "how"),
    [
        (True, 0, "exited without closing its task"),
        (True, 1, "exited: worker process died unexpectedly: of a test"),
        (False, 0, "exited: of a test"),
    ],
)
def test_how_a_session_ended(disposable: bool, code: int, how: str) -> None:
    """AC-86, AC-88"""
    state = session("t1", State.EXITED, exit=Exit(at=at(0), code=code), note="of a test")
    assert dispatch.how_it_ended(disposable, state) == how


def test_who_may_not_be_idle_is_told_why() -> None:
    assert "3 tests fail" in prompts.not_idle("3 tests fail")


def test_a_worker_is_told_what_it_is_and_where() -> None:
    """S002-033, 039"""
    asked = Assignment(team="alpha", agent_id="t1", project="/p", task=task(1))
    assert "blocked:" not in assignment.first_prompt(asked)
    said = assignment.first_prompt(replace(asked, disposable=True, branch="teams/t1/task-1"))
    for part in ("You are a worker", "`blocked:`", "`pro0 task show task-1` from time to time", "teams/t1/task-1"):
        assert part in said


def test_a_teammate_is_told_of_its_worktree() -> None:
    asked = Welcome(team="alpha", agent_id="w1", project="/p", branch="teams/alpha/w1")
    assert "on the branch teams/alpha/w1" in welcome.first_prompt(asked, leads=False)
    assert "worktree" not in welcome.first_prompt(replace(asked, branch=""), leads=False)


def test_where_worktrees_are() -> None:
    """S002-054, AC-91: the same place each time, another one for a later team of that name"""
    home = Path("/home")
    assert worktree(home, "alpha", "0123456789", "w1") == home / "worktrees" / "alpha-01234567" / "w1"
    assert trees_of(home, "alpha", "") == home / "worktrees" / "alpha"
