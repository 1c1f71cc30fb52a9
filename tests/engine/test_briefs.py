"""What a session for one task is told at its start."""

from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from pro0.agents import adapter_named
from pro0.engine.opening.briefs import Briefs
from pro0.model.caller import THE_HUMAN
from pro0.model.runtime import SeatState, State
from pro0.model.task import Awaiting, Draft
from pro0.model.team import Seat
from pro0.ops.tasks import gates, roles, tasks
from pro0.store.teams import Store
from tests.teams import human, make_team, member

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def told(home: Path, id: str, **fields: object) -> str:
    """The first prompt of a session for a task."""
    team = Store(home).team("alpha")
    seat = replace(Seat(agent_id="engineer-t2", name="engineer-t2", agent="claude", task=id), **fields)
    state = SeatState(
        agent_id=seat.agent_id, generation=1, incarnation="inc-1", state=State.STARTING, since=NOW, started_at=NOW
    )
    task = tasks.show(human(team), id)
    return Briefs(team, team.config.read()).brief(seat, adapter_named("claude"), state, {}, task).prompt


def test_it_begins_with_its_role_and_the_board_of_the_task_above(home: Path) -> None:
    """S000-006, S000-045, S000-064, S000-124: what a sibling left there, the role as it is now, a person's words."""
    team = make_team(home, "w1")
    tasks.create(human(team), [Draft(title="root", key="root"), Draft(title="sub", parent="root", role="engineer")])
    tasks.comment(member(team, "w1"), "1", "the specs are in docs/ui.md")
    gates.hold(human(team), "2", Awaiting.APPROVAL)
    gates.reject(human(team), "2", "with tests, please")
    roles.edit(Store(home), THE_HUMAN, "engineer", {"prompt": "You write Rust."})
    text = told(home, "task-2")
    for part in ("TASK_ID=task-2", "PARENT_TASK_ID=task-1", "You write Rust.", "w1: the specs are in docs/ui.md"):
        assert part in text
    assert "human: rejected the APPROVAL: change what they object to. They say: with tests, please" in text
    assert text.endswith("Your task, task-2: sub\nsub")


def test_a_role_that_is_gone_says_nothing(home: Path) -> None:
    """The task goes on without it."""
    tasks.create(human(make_team(home)), [Draft(title="alone", role="designer")])
    team = Store(home).team("alpha")
    with team.tasks.change("a test") as change:
        change.value = replace(change.value, tasks=tuple(replace(t, role="gone") for t in change.value.tasks))
    text = told(home, "task-1")
    assert "Your role" not in text
    assert "PARENT_TASK_ID" not in text
