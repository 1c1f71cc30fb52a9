"""Every act on a task list: whole or not at all, with its consequences and the notices it owes."""

import pytest
from msgspec.structs import replace

from pro0.errors import NotFound, Refused
from pro0.model.caller import THE_HUMAN, Caller
from pro0.model.task import Draft, Gate, Kind, Status, TaskList
from pro0.rules.lead import supervised
from pro0.rules.tasks import changes
from pro0.rules.tasks.acts import Act, TaskPhase, phase
from pro0.rules.tasks.board import Board, claimable, why_not_ready
from tests.rules.building import LEAD_AGENT, T0, W1, W1_LATER, W2, ask, at, claimed, dead, listed, make, standing, task


def statuses(tasks: TaskList) -> dict[str, Status]:
    return {task.id: task.status for task in tasks.tasks}


def cancel(tasks: TaskList, id: str, caller: Caller = THE_HUMAN, text: str = "") -> TaskList:
    return changes.act(tasks, id, ask(Act.CANCEL, caller, text))[0]


def test_cancelling_takes_everything_open_below_with_it() -> None:
    """Rulings 2, cancel: also what is open below a settled subtask; settled ones stay."""
    tasks = listed(
        task(1),
        replace(claimed(task(2), W1), parent="task-1"),
        replace(claimed(task(3), W2), parent="task-2"),
        task(4, parent=1, status=Status.FAILED),
        task(5, parent=4),
        task(6),
    )
    after = cancel(tasks, "task-1", text="not needed")
    gone, kept = {"task-1", "task-2", "task-3", "task-5"}, {"task-4": Status.FAILED, "task-6": Status.PENDING}
    assert statuses(after) == dict.fromkeys(gone, Status.CANCELLED) | kept
    assert [(n.to, n.content) for n in after.outbox] == [
        ("w2", "task-3 was cancelled: not needed"),
        ("w1", "task-2 was cancelled: not needed"),
    ]
    assert all(task.closed_reason == "not needed" and not task.claim for task in after.tasks if task.id in gone)


def test_who_cancels_is_not_told() -> None:
    after = cancel(listed(claimed(task(1), LEAD_AGENT)), "task-1", LEAD_AGENT)
    assert after.outbox == ()


def test_cancelling_is_no_way_around_a_gate_below() -> None:
    tasks = listed(task(1), task(2, parent=1, requires=Gate.REVIEW), task(3, parent=1))
    with pytest.raises(Refused, match="task-2 is gated"):
        cancel(tasks, "task-1", LEAD_AGENT)
    assert set(statuses(cancel(tasks, "task-1")).values()) == {Status.CANCELLED}


def test_cancelling_the_last_open_subtask_ends_a_done_parent() -> None:
    tasks = listed(standing(TaskPhase.DONE), task(2, parent=1))
    assert phase(cancel(tasks, "task-2").tasks[0]) is TaskPhase.COMPLETED


def test_a_dead_session_gives_back_its_claims_and_reservations() -> None:
    """Rulings 2, proved death; 3.9, 3.11: tasks that await a human stay as they are."""
    tasks = listed(
        claimed(task(1), W1),
        claimed(task(2), W1_LATER),
        claimed(task(3), W2),
        task(4, assignee="w1"),
        task(5, assignee="w2"),
        replace(standing(TaskPhase.AWAITING), id="task-6"),
    )
    after = changes.free(tasks, "w1", W1.incarnation, dead("w1 was killed by signal 9", at(3)))
    changed = [new.id for old, new in zip(tasks.tasks, after.tasks, strict=True) if new is not old]
    assert changed == ["task-1", "task-4"]
    for freed in (after.tasks[0], after.tasks[3]):
        assert (phase(freed), freed.assignee, freed.claim) == (TaskPhase.PENDING, None, None)
        assert freed.history[-1].text == "w1 was killed by signal 9"
    assert after.tasks[0].started_at == T0
    assert changes.free(after, "w1", W1.incarnation, dead("again", at(4))) is after
    with pytest.raises(Refused):
        changes.act(after, "task-1", ask(Act.COMPLETE, W1))


def test_an_assignment_reserves_and_is_told_once() -> None:
    tasks, task_ = changes.assign(listed(task(1)), "task-1", ask(Act.ASSIGN, THE_HUMAN, assignee="w1"), "n1")
    assert task_.assignee == "w1"
    assert [(n.id, n.from_, n.to, n.content) for n in tasks.outbox] == [
        ("n1", "human", "w1", "task-1 is assigned to you: title 1")
    ]
    again = changes.assign(tasks, "task-1", ask(Act.ASSIGN, THE_HUMAN, assignee="w1"), "n2")
    assert again == (tasks, task_)
    with pytest.raises(Refused, match="reserved for w1"):
        changes.act(tasks, "task-1", ask(Act.CLAIM, W2))
    assert changes.act(tasks, "task-1", ask(Act.CLAIM, W1))[1].assignee == "w1"
    assert changes.act(tasks, "task-1", ask(Act.CLAIM, THE_HUMAN))[1].assignee == "human"
    dropped, task_ = changes.assign(tasks, "task-1", ask(Act.ASSIGN, THE_HUMAN), "n2")
    assert (task_.assignee, dropped.outbox) == (None, tasks.outbox)


def test_a_task_that_is_assigned_gets_no_session_of_its_own() -> None:
    """Rulings 2.16: it is offered to its member, who was told of it; an assignment to nobody leaves the wish."""
    wished, _ = changes.act(listed(task(1)), "task-1", ask(Act.WISH, THE_HUMAN))
    tasks, assigned = changes.assign(wished, "task-1", ask(Act.ASSIGN, THE_HUMAN, assignee="w2"), "n1")
    assert (assigned.assignee, assigned.start) == ("w2", None)
    assert (supervised.to_start(Board(tasks.tasks)), claimable(Board(tasks.tasks), "w2")) == ([], [assigned])
    _, dropped = changes.assign(wished, "task-1", ask(Act.ASSIGN, THE_HUMAN), "n2")
    assert dropped.start


def test_an_epic_is_not_assigned() -> None:
    """Rulings 2.4: epics are never claimed, started or offered."""
    epic = listed(task(1, type=Kind.EPIC))
    with pytest.raises(Refused, match="is an epic"):
        changes.assign(epic, "task-1", ask(Act.ASSIGN, THE_HUMAN, assignee="w1"), "n1")
    with pytest.raises(Refused, match="is an epic"):
        changes.act(epic, "task-1", ask(Act.CLAIM, W1))


def test_a_refused_claim_lists_what_is_missing() -> None:
    """AC-62: dependency open → refusal listing it; unknown → not found."""
    tasks = listed(task(1), task(2), task(3, 1, 2))
    with pytest.raises(Refused, match="task-3 is blocked: task-1 is pending, task-2 is pending"):
        changes.act(tasks, "task-3", ask(Act.CLAIM, W1))
    with pytest.raises(NotFound):
        changes.act(tasks, "task-9", ask(Act.CLAIM, W1))


def test_a_settled_parent_takes_no_new_subtask() -> None:
    """Rulings 2.4: what is over is over; a person reopens it first."""
    tasks = listed(replace(task(1), status=Status.COMPLETED))
    with pytest.raises(Refused, match="task-1 is completed"):
        make(tasks, Draft(title="late", parent="1"))


@pytest.mark.parametrize("act", [Act.COMPLETE, Act.CLOSE])
def test_what_is_open_far_below_keeps_a_person_from_ticking_a_task_off(act: Act) -> None:
    """Rulings 2.1: nothing below it is open, at any depth."""
    tasks = listed(task(1), task(2, parent=1, status=Status.COMPLETED), task(3, parent=2))
    with pytest.raises(Refused) as refused:
        changes.act(tasks, "task-1", ask(act, THE_HUMAN))
    assert refused.value.hint == "it has open subtasks: pro0 task tree task-1"


def test_an_agents_command_stays_held_when_it_is_cancelled_and_reopened() -> None:
    """Rulings 2.9: only agreeing to its exact text lifts the hold."""
    tasks, made = make(listed(), Draft(title="t", run="rm -rf x"), caller=W1)
    human = ask(Act.CANCEL, THE_HUMAN)
    tasks, cancelled = changes.act(tasks, made[0].id, human)
    assert cancelled.waits is None
    tasks, again = changes.act(tasks, made[0].id, replace(human, act=Act.REOPEN))
    assert again.waits is not None
    assert why_not_ready(Board(tasks.tasks), again)


def test_a_member_that_ended_loses_the_reservation_of_a_held_task() -> None:
    """Rulings 2, proved death: nobody else could ever take it."""
    held = replace(make(listed(), Draft(title="t", run="x"), caller=W1)[1][0], assignee="w2")
    freed = changes.free(listed(held), "w2", "inc-9", dead("w2 crashed", T0))
    assert freed.tasks[0].assignee is None
    assert freed.tasks[0].waits is not None
