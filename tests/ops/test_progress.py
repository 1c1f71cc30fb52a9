"""What is left once nothing moves by itself (behaviour 3.19)."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0 import processes
from pro0.model.runtime import Failure, Phase, Process, State
from pro0.model.task import Awaiting, Draft, Kind, Policy, Status
from pro0.model.team import Seat
from pro0.model.usage import SessionUsage
from pro0.ops.mail import messages
from pro0.ops.tasks import gates, tasks
from pro0.ops.team import costs, teams
from pro0.ops.team.needs import list_needs
from pro0.ops.team.progress import WorkState, progress
from pro0.store.teams import TeamStore
from tests.sharing import founded, joined, seated
from tests.teams import NOW, human, make_team, member, set_state

GONE = Process(pid=2**22 + 1, start="1", boot_id="gone")


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
    alone = "task-1 pending: an epic without open subtasks; close it: pro0 task close"
    assert stands(team) == (WorkState.WAITS, (alone,))
    gates.close(human(team), "1")
    assert stands(team) == (WorkState.ALL_DONE, ())


# When nothing moves any more


def with_a_pool_task(team: TeamStore) -> None:
    """A task that any member takes, and none but a new one, w2, which has not begun."""
    tasks.create(human(team), [Draft(title="pool")])
    set_state(team, "w1", State.SHUTDOWN)
    with team.wanted.change("a test") as change:
        seats = (*change.value.seats, Seat(agent_id="w2", name="w2", agent="claude"))
        change.value = replace(change.value, seats=seats)


def with_a_delegated_task(team: TeamStore) -> None:
    """A task that gets a session of its own."""
    tasks.create(human(team), [Draft(title="in line", policy=Policy.DISPATCH)])


def stopped(team: TeamStore) -> None:
    teams.stop(human(team))


def at_the_limit(team: TeamStore) -> None:
    costs.limit(human(team), 1.0)
    entry = SessionUsage(agent_id="w1", agent="claude", incarnation="inc-w1", cost_usd=1.0)
    with team.usage.change("a test") as change:
        change.value = replace(change.value, sessions=(entry,))


def without_a_lead(team: TeamStore) -> None:
    recorded(team, lead=GONE)


def with_a_failed_start(team: TeamStore) -> None:
    recorded(team, failures=(Failure(agent_id="w2", generation=1, at=NOW, message="no disk"),))


def recorded(team: TeamStore, *, ran_by: Process | None = None, **fields: object) -> None:
    """What a lead has left in its record; with `ran_by` as guard and agent of all sessions."""
    with team.record.change("a test") as change:
        seats = tuple(replace(state, guard=ran_by, agent=ran_by) for state in change.value.seats)
        change.value = replace(change.value, seats=seats, **fields)


ENDS: dict[str, tuple[Callable[[TeamStore], None], Callable[[TeamStore], None]]] = {
    "a stop, a task in line": (with_a_delegated_task, stopped),
    "a stop, a member that has not begun": (with_a_pool_task, stopped),
    "the limit of cost, a task in line": (with_a_delegated_task, at_the_limit),
    "the limit of cost, a member that has not begun": (with_a_pool_task, at_the_limit),
    "a dead lead, a task in line": (with_a_delegated_task, without_a_lead),
    "a dead lead, a member that has not begun": (with_a_pool_task, without_a_lead),
    "a failed start": (with_a_pool_task, with_a_failed_start),
}


@pytest.mark.parametrize(("prepare", "end"), ENDS.values(), ids=ENDS)
def test_work_stands_once_nothing_can_move_by_itself(
    prepare: Callable[[TeamStore], None], end: Callable[[TeamStore], None], home: Path
) -> None:
    """The wait for the team went on for ever, though only a person could make it go on."""
    team = make_team(home, "w1")
    prepare(team)
    assert progress(human(team)).moving
    end(team)
    stand = progress(human(team))
    assert (stand.moving, stand.outcome) == (False, WorkState.WAITS)


def asked_of_the_person(team: TeamStore) -> None:
    tasks.create(human(team), [Draft(title="publish")])
    gates.await_human(human(team), "1", Awaiting.INPUT, "which version?")


def failed(team: TeamStore) -> None:
    tasks.create(human(team), [Draft(title="build")])
    tasks.claim(human(team), "1")
    tasks.fail(human(team), "1", "no disk")


def written_to_the_person(team: TeamStore) -> None:
    messages.send(member(team, "w1"), "human", "red or blue?")


@pytest.mark.parametrize("prepare", [asked_of_the_person, failed, written_to_the_person])
def test_what_needs_the_person_is_named_in_a_stopped_team_too(prepare: Callable[[TeamStore], None], home: Path) -> None:
    team = make_team(home, "w1")
    prepare(team)
    before = list_needs(human(team))
    assert before
    stopped(team)
    set_state(team, "w1", State.SHUTDOWN)
    recorded(team, phase=Phase.STOPPED)
    assert progress(human(team)).needs == before


@pytest.mark.parametrize(
    ("end", "why"),
    [
        (stopped, "ready, but the team is stopped; pro0 team resume lets it go on"),
        (
            lambda team: teams.pause(human(team), paused=True),
            "ready, but the team is paused; pro0 team unpause lets it go on",
        ),
    ],
    ids=["stopped", "paused"],
)
def test_what_only_waits_for_the_team_says_by_which_command_it_goes_on(
    end: Callable[[TeamStore], None], why: str, home: Path
) -> None:
    """Nothing else names it: who has stopped a team needs no reminder, but who waits for it does."""
    team = make_team(home, "w1")
    tasks.create(human(team), [Draft(title="build", run="make")])
    assert progress(human(team)).moving
    end(team)
    assert stands(team) == (WorkState.WAITS, (f"task-1 pending: {why}",))


def test_who_died_together_with_the_lead_is_not_at_work(home: Path) -> None:
    """Nobody is left to free its task; what the person holds is held all the same."""
    team = make_team(home, "w1")
    tasks.create(human(team), [Draft(title="one"), Draft(title="two")])
    tasks.claim(member(team, "w1"), "1")
    me = processes.identify(os.getpid())
    for lead, session, moves in ((me, GONE, True), (GONE, me, True), (GONE, GONE, False)):
        recorded(team, ran_by=session, lead=lead)
        assert progress(human(team)).moving is moves
    assert progress(human(team)).needs, "the person is told"
    tasks.claim(human(team), "2")
    assert progress(human(team)).moving


def test_a_stop_ends_no_wait_before_the_work_has_ended(home: Path) -> None:
    team = make_team(home, "w1")
    tasks.create(human(team), [Draft(title="one")])
    tasks.claim(member(team, "w1"), "1")
    stopped(team)
    assert progress(human(team)).moving
    recorded(team, phase=Phase.STOPPING)
    tasks.release(member(team, "w1"), "1")
    assert not progress(human(team)).moving


def test_whose_lead_is_gone_sees_the_other_machines_work(home: Path, database: str) -> None:
    """Its own lead is dead; the session of the other machine works on, and it cannot see who leads there."""
    alpha = founded(home, database)
    two = joined(alpha, "two")
    seated(two, "w2")
    tasks.create(human(alpha), [Draft(title="one"), Draft(title="two", policy=Policy.DISPATCH)])
    tasks.claim(member(alpha, "w1"), "1")
    recorded(two, ran_by=GONE, lead=GONE)
    assert progress(human(two)).moving
    tasks.complete(member(alpha, "w1"), "1")
    assert progress(human(two)).moving, "a task in line gets its session there"
    tasks.cancel(human(two), "2")
    tasks.create(human(alpha), [Draft(title="three", run="true")])
    assert progress(human(two)).moving, "w1 can take it"
