"""A supervised tree whose session is gone is among the needs, until a person starts it (behaviour 2.8, 3.27)."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0.model.caller import Caller, Who
from pro0.model.need import NeedKind
from pro0.model.runtime import Phase, State
from pro0.model.task import Awaiting, Draft, Status
from pro0.ops.context import Context, lead_context
from pro0.ops.tasks import gates, tasks, trees
from pro0.ops.team.needs import list_needs
from pro0.store.teams import TeamStore
from tests.teams import human, make_team, set_state


@pytest.fixture
def team(home: Path) -> TeamStore:
    """A running team in which t1 waits for the subtask of its task, which asks a person."""
    made = make_team(home, "t1")
    with made.runtime.change("a test") as change:
        change.value = replace(change.value, phase=Phase.RUNNING)
    parent, child = Draft(title="the parser", key="parser"), Draft(title="which grammar?", parent="parser")
    tasks.create(human(made), [parent, replace(child, awaiting=Awaiting.INPUT)])
    trees.start(human(made), "1")
    trees.begin(lead_context(made), "1", "t1", "inc-t1")
    tasks.complete(Context(made, Caller(Who.MEMBER, "t1", "inc-t1")), "1", "planned")
    return made


def stalled(team: TeamStore) -> list[tuple[str, str, str]]:
    needs = [need for need in list_needs(human(team)) if need.kind is NeedKind.STALLED]
    return [(need.subject, need.why, need.command) for need in needs]


def session_ends(team: TeamStore) -> None:
    """What the lead does when a member was shut down by force."""
    set_state(team, "t1", State.EXITED)
    tasks.free(lead_context(team), "t1", "inc-t1", "was ended by force")


STANDS = [("task-1", "its session is gone", "pro0 task start task-1")]


@pytest.mark.parametrize("answered", ["before", "after"])
def test_a_tree_whose_session_ended_is_a_need_until_it_is_started(answered: str, team: TeamStore) -> None:
    """The parent names its ended member still, so that its review waits in that mailbox; nobody goes on by itself."""
    assert stalled(team) == [], "its session waits"
    if answered == "before":
        gates.approve(human(team), "2", "LALR")
        assert stalled(team) == []
    session_ends(team)
    if answered == "after":
        gates.approve(human(team), "2", "LALR")
    parent, child = tasks.show(human(team), "1"), tasks.show(human(team), "2")
    assert (parent.status, parent.claim, parent.assignee, child.status) == (Status.DONE, None, "t1", Status.PENDING)
    assert stalled(team) == STANDS
    trees.start(human(team), "1")
    assert stalled(team) == []


def test_a_supervised_task_that_is_reserved_does_not_stand_still(team: TeamStore) -> None:
    """Its member is offered it."""
    session_ends(team)
    tasks.cancel(human(team), "1")
    set_state(team, "t1", State.IDLE)
    tasks.create(human(team), [Draft(title="the lexer", assignee="t1", policy=tasks.show(human(team), "1").policy)])
    assert stalled(team) == []
    tasks.assign(human(team), "3", None)
    assert stalled(team) == [("task-3", "it does not start by itself", "pro0 task start task-3")]
