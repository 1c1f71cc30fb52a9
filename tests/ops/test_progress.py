"""What is left once nothing moves by itself (behaviour 3.19)."""

from pathlib import Path

import pytest

from pro0.model.task import Awaiting, Draft, Kind, Status
from pro0.ops.tasks import gates, tasks
from pro0.ops.team.progress import WorkState, progress
from pro0.store.teams import TeamStore
from tests.teams import human, make_team


@pytest.fixture
def team(home: Path) -> TeamStore:
    """A team without members, and an epic with one subtask."""
    made = make_team(home)
    tasks.create(human(made), [Draft(title="release", type=Kind.EPIC, key="e"), Draft(title="build", parent="e")])
    return made


def stands(team: TeamStore) -> tuple[WorkState, tuple[str, ...]]:
    found = progress(human(team))
    return found.outcome, found.left


def test_an_epic_is_left_with_what_is_open_below_it(team: TeamStore) -> None:
    assert stands(team) == (WorkState.WAITS, ("task-2 pending: ready, but nobody takes it",))


def test_an_epic_with_a_failed_subtask_is_left_with_that(team: TeamStore) -> None:
    tasks.claim(human(team), "2")
    tasks.fail(human(team), "2", "no disk")
    assert stands(team) == (WorkState.SOMETHING_FAILED, ("task-2 failed: no disk",))


def test_an_epic_that_was_held_is_over_with_its_answer(team: TeamStore) -> None:
    """It stayed pending for ever, and the wait for the team said that nothing was left to do, and no success."""
    gates.await_human(human(team), "1", Awaiting.INPUT, "which version?")
    tasks.complete(human(team), "2")
    assert stands(team) == (WorkState.WAITS, ("task-1 pending: awaiting input: which version?",))
    assert gates.approve(human(team), "1", "2.0").status is Status.COMPLETED
    assert stands(team) == (WorkState.ALL_DONE, ())


def test_an_epic_that_is_open_by_itself_is_left_and_says_so(team: TeamStore) -> None:
    """Else nothing would be named: a person reopened it, and has not yet made the subtask that it is to have."""
    tasks.complete(human(team), "2")
    assert stands(team) == (WorkState.ALL_DONE, ())
    assert tasks.reopen(human(team), "1").status is Status.PENDING
    alone = "task-1 pending: an epic with nothing left below it; pro0 task close ends it"
    assert stands(team) == (WorkState.WAITS, (alone,))
    gates.close(human(team), "1")
    assert stands(team) == (WorkState.ALL_DONE, ())
