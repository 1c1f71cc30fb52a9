"""Runs as members: in which seat one is started, who is abandoned, what a task has cost (build 3)."""

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from pro0.errors import Refused
from pro0.model.ids import HUMAN, LEAD
from pro0.model.run import RUNNER, RunOptions
from pro0.model.runtime import State
from pro0.model.stored import Process
from pro0.model.task import Draft
from pro0.model.team import OutsideAgent, Seat
from pro0.model.usage import Usage
from pro0.ops.tasks import tasks
from pro0.ops.team.members import SeatDraft
from pro0.ops.work import runs
from pro0.store.teams import TeamStore
from tests.teams import NOW, human, make_team, member, set_state

GONE = Process(pid=2**22 - 1, start="1", boot_id="none")
OPTIONS = RunOptions(client=GONE, epic="task-1")


@pytest.fixture
def team(home: Path) -> TeamStore:
    """The team alpha with the member w1."""
    return make_team(home, "w1")


def start(team: TeamStore) -> Seat:
    return runs.start(human(team), OPTIONS, SeatDraft(name=RUNNER, model="m"), 10)


def test_a_run_gets_the_first_free_seat(team: TeamStore) -> None:
    """AC-40: two at once are two members; one that has ended makes room"""
    first, second = start(team), start(team)
    assert [first.agent_id, second.agent_id] == ["runner", "runner-2"]
    assert (first.agent, first.model) == (RUNNER, "m")
    assert msgspec.json.decode(first.argv[0], type=RunOptions) == OPTIONS
    set_state(team, "runner", State.EXITED)
    again = start(team)
    assert (again.agent_id, again.generation) == ("runner", first.generation + 1)


def test_a_seat_of_that_name_that_is_no_runners_is_left_alone(team: TeamStore) -> None:
    with team.wanted.change("a test") as change:
        seats = (*change.value.seats, Seat(agent_id=RUNNER, name="Runner", agent="shell"))
        change.value = replace(change.value, seats=seats)
    set_state(team, RUNNER, State.EXITED)
    assert start(team).agent_id == "runner-2"


def test_what_else_stands_in_the_way_is_said(team: TeamStore) -> None:
    with pytest.raises(Refused, match="has 1 member already"):
        runs.start(human(team), OPTIONS, SeatDraft(name=RUNNER), 1)


def test_a_living_run_whose_asker_is_gone_is_abandoned(team: TeamStore) -> None:
    start(team)
    assert runs.abandoned(human(team)) == [RUNNER], "also before it is started"
    set_state(team, RUNNER, State.WORKING)
    assert runs.abandoned(human(team)) == [RUNNER]
    set_state(team, RUNNER, State.EXITED)
    assert runs.abandoned(human(team)) == []


def test_who_is_not_over(team: TeamStore) -> None:
    outside = OutsideAgent(incarnation="inc-outside", process=GONE, since=NOW)
    with team.wanted.change("a test") as change:
        change.value = replace(change.value, outside=outside)
    assert runs.living(human(team)) == {"inc-w1", "inc-outside"}
    set_state(team, "w1", State.CRASHED)
    assert runs.living(human(team)) == {"inc-outside"}


def test_turns_add_up_on_the_task_that_the_caller_holds(team: TeamStore) -> None:
    w1, used = member(team, "w1"), Usage(input_tokens=5, output_tokens=2, cache_read_tokens=3)
    [task] = tasks.create(human(team), [Draft(title="t")])
    with pytest.raises(Refused, match="task-1 is not claimed by w1"):
        runs.counted(w1, task.id, used, 0.5)
    tasks.claim(w1, task.id)
    runs.counted(w1, task.id, used, 0.5)
    now = runs.counted(w1, task.id, used, 0.25)
    assert (now.iterations, now.input_tokens, now.output_tokens, now.cost_usd) == (2, 16, 4, 0.75)
    tasks.complete(w1, task.id)  # M10: the agent has completed it by itself, and its turn is booked all the same
    assert runs.counted(w1, task.id, Usage(), 0.0).iterations == 3


def test_lead_agent_and_person_hear_once_each_that_a_run_has_stopped(home: Path) -> None:
    team = make_team(home / "led", "lead", "w1")
    for _ in range(2):  # as after a crash
        runs.stopped(member(team, "w1"), "cost limit reached")
    boxes = [team.mailbox(to).head.read().messages for to in (LEAD, HUMAN)]
    assert [[message.content for message in box] for box in boxes] == [["w1 has stopped: cost limit reached"]] * 2
    assert not team.wanted.read().outbox
