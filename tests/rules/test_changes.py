"""Every change of a task list: whole or not at all, with its consequences and the notices it owes."""

from itertools import count

import pytest
from msgspec.structs import replace

from pro0.errors import BadInput, NotFound, Pro0Error, Refused
from pro0.model.caller import THE_HUMAN, Caller
from pro0.model.task import Awaiting, Changes, Draft, Gate, Kind, Status, Task, TaskList, Wait
from pro0.rules import changes
from pro0.rules.board import Board, why_not_ready
from pro0.rules.lifecycle import Act, Phase, phase
from tests.rules.building import LEAD_AGENT, T0, W1, W1_LATER, W2, ask, at, claimed, listed, standing, task

AGENTS = [pytest.param(caller, id=caller.who) for caller in (W1, LEAD_AGENT)]


def make(tasks: TaskList, *drafts: Draft, caller: Caller = THE_HUMAN) -> tuple[TaskList, list[Task]]:
    return changes.create(tasks, drafts, caller, T0, map("n{}".format, count(1)).__next__)


def update(tasks: TaskList, id: str, fields: Changes, caller: Caller = THE_HUMAN) -> Task:
    changed, task = changes.update(tasks, id, fields, caller, at(7))
    assert changes.find(changed, id) is task
    return task


def statuses(tasks: TaskList) -> dict[str, Status]:
    return {task.id: task.status for task in tasks.tasks}


# --- create


def test_created_tasks_name_each_other_by_key_and_others_by_id() -> None:
    """Rulings 2.6: dependencies are given at creation, forwards too; ids count on."""
    tasks, made = make(
        listed(task(1)),
        Draft(title="a", key="a", blocked_by=("b", "task-1", "1")),
        Draft(title="b", key="b"),
        Draft(title="c", parent="a", blocked_by=("3",)),
    )
    assert [task.id for task in made] == ["task-2", "task-3", "task-4"]
    assert made[0].dependencies == ("task-3", "task-1")
    assert (made[2].parent, made[2].dependencies) == ("task-2", ("task-3",))
    assert tasks.next_id == 5
    assert all(task.created_by == "human" and task.history[0].act == "create" for task in made)


WRONG = [
    ("unknown dependency", (Draft(title="a", blocked_by=("task-9",)),), NotFound),
    ("unknown key", (Draft(title="a", blocked_by=("nobody",)),), BadInput),
    ("unknown parent", (Draft(title="a", parent="77"),), NotFound),
    ("itself", (Draft(title="a", key="a", blocked_by=("a",)),), Refused),
    ("itself by its coming id", (Draft(title="a", blocked_by=("task-2",)),), Refused),
    ("its own parent", (Draft(title="a", key="a"), Draft(title="b", parent="a", blocked_by=("a",))), Refused),
    ("cycle", (Draft(title="a", key="a", blocked_by=("b",)), Draft(title="b", key="b", blocked_by=("a",))), Refused),
    ("parent cycle", (Draft(title="a", key="a", parent="b"), Draft(title="b", key="b", parent="a")), Refused),
    ("own parent", (Draft(title="a", key="a", parent="a"),), Refused),
    ("one key twice", (Draft(title="a", key="a"), Draft(title="b", key="a")), BadInput),
    ("no title", (Draft(title="  "),), BadInput),
    ("title of two lines", (Draft(title="a\nb"),), BadInput),
    ("lone surrogate", (Draft(title="a", description="\udc80"),), BadInput),
    ("NUL in a command", (Draft(title="a", run="a\0b"),), BadInput),
    ("no time", (Draft(title="a", timeout=0),), BadInput),
    ("not a number", (Draft(title="a", timeout=float("nan")),), BadInput),
    ("too long", (Draft(title="a", description="x" * (256 * 1024 + 1)),), BadInput),
    ("no priority", (Draft(title="a", priority=10**9),), BadInput),
]


@pytest.mark.parametrize(("drafts", "error"), [pytest.param(*case[1:], id=case[0]) for case in WRONG])
def test_one_bad_task_and_none_is_made(drafts: tuple[Draft, ...], error: type[Pro0Error]) -> None:
    """Rulings 2.6, reliability 5: exit 3 for unknown, 4 for self and cycles, 2 for bad words."""
    with pytest.raises(error):
        make(listed(task(1)), *drafts, Draft(title="fine"))


def test_a_cycle_is_shown() -> None:
    tasks = listed(task(1), task(2, 1), task(3, 2))
    with pytest.raises(Refused, match="task-1 → task-3 → task-2 → task-1"):
        update(tasks, "task-1", Changes(add_dependencies=("3",)))


def test_a_created_reservation_is_told_like_an_assignment() -> None:
    """Rulings 2, assign: the member gets one message; members themselves may not assign."""
    tasks, _ = make(listed(), Draft(title="a", assignee="w1"), Draft(title="b"), Draft(title="c", assignee="w2"))
    assert [(n.id, n.to, n.content) for n in tasks.outbox] == [
        ("n1", "w1", "task-1 is assigned to you: a"),
        ("n2", "w2", "task-3 is assigned to you: c"),
    ]
    with pytest.raises(Refused) as refused:
        make(listed(), Draft(title="a", assignee="w2"), caller=W1)
    assert refused.value.code == "not_allowed"


# --- commands that agents make (rulings 2.9)


@pytest.mark.parametrize("caller", AGENTS)
def test_a_command_an_agent_makes_waits_for_a_human(caller: Caller) -> None:
    tasks, made = make(listed(), Draft(title="a", run="rm -rf x"), Draft(title="b"), caller=caller)
    wait = made[0].awaiting
    assert wait == Wait(kind=Awaiting.ESCALATION, since=T0, by=caller.agent_id, reason="agent-made command")
    assert made[1].awaiting is None
    assert why_not_ready(Board(tasks.tasks), made[0]) == "is awaiting a human (escalation: agent-made command)"
    with pytest.raises(Refused):
        changes.act(tasks, "task-1", ask(Act.CLAIM, W1))


def test_a_humans_command_does_not_wait() -> None:
    assert make(listed(), Draft(title="a", run="make"))[1][0].awaiting is None


@pytest.mark.parametrize("run", ["make", "other"])
def test_a_human_who_sets_the_command_lifts_the_hold(run: str) -> None:
    tasks, _ = make(listed(), Draft(title="a", run="make"), caller=W1)
    after = update(tasks, "task-1", Changes(run=run))
    assert (after.awaiting, after.run) == (None, run)


@pytest.mark.parametrize(
    "fields", [Changes(title="b"), Changes(description="d"), Changes(priority=1), Changes(timeout=5.0)]
)
def test_a_human_who_changes_something_else_does_not(fields: Changes) -> None:
    tasks, _ = make(listed(), Draft(title="a", run="make"), caller=W1)
    assert update(tasks, "task-1", fields).awaiting is not None


def test_an_agent_who_changes_a_command_puts_it_on_hold() -> None:
    tasks, _ = make(listed(), Draft(title="a", run="make"))
    assert update(tasks, "task-1", Changes(run="make"), LEAD_AGENT).awaiting is None
    assert update(tasks, "task-1", Changes(title="b"), LEAD_AGENT).awaiting is None
    assert update(tasks, "task-1", Changes(run="make -B"), LEAD_AGENT).awaiting is not None
    none, _ = make(listed(), Draft(title="a"))
    assert update(none, "task-1", Changes(run=""), LEAD_AGENT).awaiting is None
    held, _ = make(listed(), Draft(title="a", run="make"), caller=W1)
    assert update(held, "task-1", Changes(run="make all"), LEAD_AGENT).awaiting is not None


def test_the_command_of_a_claimed_task_stays_as_it_is() -> None:
    tasks = listed(claimed(task(1, run="make"), W2))
    with pytest.raises(Refused, match="being worked on"):
        update(tasks, "task-1", Changes(run="make -B"), LEAD_AGENT)


def test_a_hold_does_not_take_the_place_of_a_gate() -> None:
    """Rulings 2.2: else a human's update of the command would lift a review, and leave a claimless task in progress."""
    tasks = listed(standing(Phase.AWAITING))
    with pytest.raises(Refused, match="waits for a human"):
        update(tasks, "task-1", Changes(run="make"), LEAD_AGENT)
    after = update(tasks, "task-1", Changes(run="make"))
    assert after.awaiting is not None
    assert after.awaiting.kind is Awaiting.REVIEW


# --- update


def test_dependencies_are_added_once_and_dropped() -> None:
    """Rulings 2.5: dropping a failed one releases the dependent."""
    tasks = listed(task(1, 2, 3), task(2, status=Status.FAILED), task(3, status=Status.COMPLETED), task(4))
    after = update(tasks, "task-1", Changes(add_dependencies=("4", "task-4", "task-3"), drop_dependencies=("2", "99")))
    assert after.dependencies == ("task-3", "task-4")
    assert why_not_ready(Board((after, *tasks.tasks[1:])), after) == "is blocked: task-4 is pending"


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        (Changes(add_dependencies=("9",)), NotFound),
        (Changes(add_dependencies=("x",)), BadInput),
        (Changes(add_dependencies=("1",)), Refused),
        (Changes(add_dependencies=("2",)), Refused),
        (Changes(title=""), BadInput),
        (Changes(run="a\0"), BadInput),
        (Changes(timeout=-1.0), BadInput),
    ],
)
def test_a_bad_update_changes_nothing(fields: Changes, error: type[Pro0Error]) -> None:
    with pytest.raises(error):
        update(listed(task(1), task(2, 1)), "task-1", fields)


def test_an_update_that_changes_nothing_is_none() -> None:
    tasks = listed(task(1))
    assert changes.update(tasks, "task-1", Changes(title="title 1"), THE_HUMAN, at(1)) == (tasks, tasks.tasks[0])


@pytest.mark.parametrize("now", [Phase.COMPLETED, Phase.FAILED, Phase.CANCELLED])
def test_a_settled_task_stays_as_it_is(now: Phase) -> None:
    with pytest.raises(Refused, match="its fields stay"):
        update(listed(standing(now)), "task-1", Changes(title="b"))


def test_an_update_says_what_it_changed() -> None:
    after = update(listed(task(1)), "task-1", Changes(title="b", priority=0))
    assert (after.history[-1].act, after.history[-1].text) == ("update", "title, priority")
    assert after.updated_at == at(7)


# --- delete


def delete(tasks: TaskList, id: str, caller: Caller = THE_HUMAN, *, force: bool = False) -> TaskList:
    return changes.delete(tasks, id, caller, force=force, now=T0)


def test_what_others_name_goes_only_by_force() -> None:
    """Rulings 2.6."""
    tasks = listed(task(1), task(2, 1), task(3, parent=1))
    with pytest.raises(Refused, match="task-1 is named by task-2, task-3"):
        delete(tasks, "task-1")
    left = delete(tasks, "task-1", force=True)
    assert [(task.id, task.dependencies, task.parent) for task in left.tasks] == [
        ("task-2", (), None),
        ("task-3", (), None),
    ]
    assert left.next_id == tasks.next_id


def test_what_is_claimed_goes_only_by_force() -> None:
    tasks = listed(claimed(task(1)))
    with pytest.raises(Refused, match="claimed by w1"):
        delete(tasks, "task-1")
    assert delete(tasks, "task-1", force=True).tasks == ()


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("gated", [standing(Phase.AWAITING), task(1, requires=Gate.REVIEW)])
def test_deleting_is_no_way_around_a_gate(gated: Task, force: bool) -> None:
    """Rulings 2.2: with --force it would also free the dependents."""
    with pytest.raises(Refused, match="only a human"):
        delete(listed(gated), "task-1", LEAD_AGENT, force=force)
    assert delete(listed(gated), "task-1").tasks == ()


def test_a_done_parent_ends_with_the_deletion_of_its_last_open_subtask() -> None:
    """Rulings 2.4: "a subtask settled or was deleted", also when it was the only one."""
    tasks = listed(standing(Phase.DONE), task(2, parent=1), task(3, parent=1, status=Status.FAILED))
    assert phase(delete(tasks, "task-2").tasks[0]) is Phase.COMPLETED
    alone = listed(standing(Phase.DONE), task(2, parent=1))
    assert phase(delete(alone, "task-2").tasks[0]) is Phase.COMPLETED


def test_an_epic_without_subtasks_has_yet_to_begin() -> None:
    tasks = listed(task(1, type=Kind.EPIC), task(2, parent=1))
    assert phase(delete(tasks, "task-2").tasks[0]) is Phase.PENDING


def test_deleting_what_is_not_there() -> None:
    with pytest.raises(NotFound, match="there is no task-9"):
        delete(listed(), "task-9")


# --- cancel, free, assign


def cancel(tasks: TaskList, id: str, caller: Caller = THE_HUMAN, text: str = "") -> TaskList:
    ids = map("n{}".format, count(1)).__next__
    return changes.cancel(tasks, id, ask(Act.CANCEL, caller, text), ids)[0]


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
    tasks = listed(standing(Phase.DONE), task(2, parent=1))
    assert phase(cancel(tasks, "task-2").tasks[0]) is Phase.COMPLETED


def test_a_dead_session_gives_back_its_claims_and_reservations() -> None:
    """Rulings 2, proved death; 3.9, 3.11: tasks that await a human stay as they are."""
    tasks = listed(
        claimed(task(1), W1),
        claimed(task(2), W1_LATER),
        claimed(task(3), W2),
        task(4, assignee="w1"),
        task(5, assignee="w2"),
        replace(standing(Phase.AWAITING), id="task-6"),
    )
    after = changes.free(tasks, "w1", W1.incarnation, "was killed by signal 9", at(3))
    changed = [new.id for old, new in zip(tasks.tasks, after.tasks, strict=True) if new is not old]
    assert changed == ["task-1", "task-4"]
    for freed in (after.tasks[0], after.tasks[3]):
        assert (phase(freed), freed.assignee, freed.claim) == (Phase.PENDING, None, None)
        assert freed.history[-1].text == "w1 was killed by signal 9"
    assert after.tasks[0].started_at == T0
    assert changes.free(after, "w1", W1.incarnation, "again", at(4)) is after
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


def test_an_agents_command_stays_held_when_it_is_cancelled_and_reopened() -> None:
    """Rulings 2.9: only agreeing to its exact text lifts the hold."""
    tasks, made = make(listed(), Draft(title="t", run="rm -rf x"), caller=W1)
    human = ask(Act.CANCEL, THE_HUMAN)
    tasks, cancelled = changes.cancel(tasks, made[0].id, human, new_id=lambda: "n")
    assert cancelled.waits is None
    tasks, again = changes.act(tasks, made[0].id, replace(human, act=Act.REOPEN))
    assert again.waits is not None
    assert why_not_ready(Board(tasks.tasks), again)


def test_a_member_that_ended_loses_the_reservation_of_a_held_task() -> None:
    """Rulings 2, proved death: nobody else could ever take it."""
    held = replace(make(listed(), Draft(title="t", run="x"), caller=W1)[1][0], assignee="w2")
    freed = changes.free(listed(held), "w2", "inc-9", "crashed", T0)
    assert freed.tasks[0].assignee is None
    assert freed.tasks[0].waits is not None
