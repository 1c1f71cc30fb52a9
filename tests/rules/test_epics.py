"""An epic over its life: it settles with its subtasks, stays open once reopened, and outlives a person's hold (2.4)."""

import pytest
from msgspec.structs import replace

from pro0.errors import Refused
from pro0.model.caller import THE_HUMAN, THE_LEAD
from pro0.model.task import Awaiting, Changes, Draft, Gate, Kind, Status, TaskList
from pro0.rules.lead import supervised
from pro0.rules.tasks import changes, editing
from pro0.rules.tasks.acts import Act, TaskPhase, phase
from pro0.rules.tasks.board import Board, why_not_ready
from tests.rules.building import T0, W1, ask, at, listed, make, task


def acted(tasks: TaskList, number: int, act: Act, **more: object) -> TaskList:
    """The list after an act of a person."""
    return changes.act(tasks, f"task-{number}", replace(ask(act, THE_HUMAN, "", T0), **more))[0]


def phases(tasks: TaskList) -> list[TaskPhase]:
    return [phase(one) for one in tasks.tasks]


def epic(**fields: object) -> TaskList:
    """An epic, and below it a task that is pending."""
    return listed(task(1, type=Kind.EPIC, **fields), task(2, parent=1))


PENDING, AWAITING, DONE, COMPLETED = TaskPhase.PENDING, TaskPhase.AWAITING, TaskPhase.DONE, TaskPhase.COMPLETED


@pytest.mark.parametrize("end", [Act.COMPLETE, Act.CANCEL])
def test_an_epic_that_is_reopened_stays_open_until_a_subtask_changes(end: Act) -> None:
    """What a settled parent's refusal tells to do is done: the late subtask is made, and the epic ends with it."""
    tasks = acted(epic(), 2 if end is Act.COMPLETE else 1, end)
    with pytest.raises(Refused, match="takes no new subtasks") as refused:
        make(tasks, Draft(title="late", parent="1"))
    assert refused.value.hint == "reopen it first: pro0 task reopen task-1"
    tasks = acted(tasks, 1, Act.REOPEN)
    assert phases(tasks)[0] is PENDING
    tasks = acted(listed(*tasks.tasks, task(3)), 3, Act.COMPLETE)
    assert phases(tasks)[0] is PENDING, "something else ended"
    tasks, _ = editing.update(tasks, "task-1", Changes(title="more"), THE_HUMAN, at(1))
    assert changes.follow(tasks, at(2)) is tasks
    tasks, [late] = make(tasks, Draft(title="late", parent="1"))
    assert phases(tasks)[0] is PENDING
    assert phases(acted(tasks, int(late.id[-1]), Act.COMPLETE))[0] is COMPLETED


def test_a_reopened_epic_ends_too_when_its_last_open_subtask_is_deleted() -> None:
    tasks = acted(acted(epic(), 2, Act.COMPLETE), 1, Act.REOPEN)
    tasks, [late] = make(tasks, Draft(title="late", parent="1"))
    tasks = editing.delete(tasks, late.id, THE_HUMAN, force=False, now=at(3))
    assert phases(tasks) == [COMPLETED, COMPLETED]


def test_an_epic_above_a_reopened_one_ends_with_it() -> None:
    """Each is reopened; the lower one ends with its subtask, and that is a change below the upper one."""
    tree = listed(task(1, type=Kind.EPIC), task(2, parent=1, type=Kind.EPIC), task(3, parent=2))
    tasks = acted(tree, 3, Act.COMPLETE)
    assert phases(tasks) == [COMPLETED] * 3
    tasks = acted(acted(tasks, 1, Act.REOPEN), 2, Act.REOPEN)
    assert phases(tasks) == [PENDING, PENDING, COMPLETED]
    tasks = acted(tasks, 3, Act.REOPEN)
    assert phases(tasks) == [PENDING] * 3
    assert phases(acted(tasks, 3, Act.COMPLETE)) == [COMPLETED] * 3


@pytest.mark.parametrize("act", [Act.COMPLETE, Act.CLOSE])
def test_a_person_ends_a_reopened_epic_by_hand(act: Act) -> None:
    tasks = acted(acted(epic(), 2, Act.COMPLETE), 1, Act.REOPEN)
    assert phases(acted(tasks, 1, act)) == [COMPLETED, COMPLETED]


LIFTS = {
    "an answer": (Awaiting.INPUT, Act.APPROVE),
    "a rejection": (Awaiting.CHECKPOINT, Act.REJECT),
    "no verdict": (Awaiting.REVIEW, Act.CLEAR),
}


@pytest.mark.parametrize("how", LIFTS)
@pytest.mark.parametrize("gate", [None, Gate.APPROVAL])
def test_an_epic_that_was_held_ends_when_the_hold_is_lifted(how: str, gate: Gate | None) -> None:
    """Its last subtask ended meanwhile: nothing else would look at it again."""
    kind, lift = LIFTS[how]
    tasks = acted(acted(epic(requires=gate), 1, Act.HOLD, kind=kind), 2, Act.COMPLETE)
    assert phases(tasks) == [AWAITING, COMPLETED]
    tasks = acted(tasks, 1, lift)
    assert phases(tasks) == [AWAITING if gate else COMPLETED, COMPLETED]


@pytest.mark.parametrize("refusal", [Act.REJECT, Act.CLEAR])
def test_an_epic_that_is_not_let_through_its_gate_waits_for_what_mends_it(refusal: Act) -> None:
    """Rulings 2.13: handed back it does not ask again at once; a subtask that mends it is ready."""
    tasks = acted(epic(requires=Gate.REVIEW), 2, Act.COMPLETE)
    assert phases(tasks) == [AWAITING, COMPLETED]
    tasks = acted(tasks, 1, refusal)
    assert phases(tasks) == [PENDING, COMPLETED]
    tasks, [mends] = make(tasks, Draft(title="mend it", parent="1"))
    assert why_not_ready(Board(tasks.tasks), mends) is None
    assert phases(acted(tasks, 3, Act.COMPLETE)) == [AWAITING, COMPLETED, COMPLETED]
    assert phases(acted(acted(tasks, 3, Act.COMPLETE), 1, Act.APPROVE))[0] is COMPLETED


def test_an_epic_that_is_reopened_stays_open_also_after_a_hold() -> None:
    """Rulings 2.4: only a change of a subtask ends it, here one that comes while it is held."""
    tasks = acted(acted(epic(), 2, Act.COMPLETE), 1, Act.REOPEN)
    held = acted(tasks, 1, Act.HOLD, kind=Awaiting.INPUT)
    assert phases(acted(held, 1, Act.CLEAR))[0] is PENDING
    held = acted(held, 2, Act.REOPEN, now=at(1))
    held = acted(held, 2, Act.COMPLETE, now=at(2))
    assert phases(held) == [AWAITING, COMPLETED]
    assert phases(acted(held, 1, Act.CLEAR))[0] is COMPLETED


def test_an_epic_that_was_held_goes_on_with_what_is_open_below() -> None:
    tasks = acted(acted(epic(), 1, Act.HOLD, kind=Awaiting.INPUT), 1, Act.APPROVE)
    assert phases(tasks) == [PENDING, PENDING]
    assert phases(acted(tasks, 2, Act.COMPLETE)) == [COMPLETED, COMPLETED]


def test_an_epic_is_not_started_also_when_it_is_done() -> None:
    """A person approved its hold as work while a subtask was open."""
    tasks = acted(acted(epic(), 1, Act.HOLD, kind=Awaiting.REVIEW), 1, Act.APPROVE)
    assert phases(tasks) == [DONE, PENDING]
    for act, caller in ((Act.WISH, THE_HUMAN), (Act.START, THE_LEAD)):
        with pytest.raises(Refused, match="is an epic, which only groups tasks") as refused:
            changes.act(tasks, "task-1", ask(act, caller, holder=W1))
        assert refused.value.code == "not_ready"
    assert phases(acted(tasks, 2, Act.COMPLETE)) == [COMPLETED, COMPLETED]


def test_an_epic_with_a_wish_of_old_gets_no_session() -> None:
    """Before, a person could wish for one: the lead would try again for ever."""
    tasks = acted(acted(listed(task(1), task(2, parent=1)), 1, Act.HOLD, kind=Awaiting.REVIEW), 1, Act.APPROVE)
    wished = acted(tasks, 1, Act.WISH)
    assert [one.id for one in supervised.to_start(Board(wished.tasks))] == ["task-1"]
    old = replace(wished, tasks=(replace(wished.tasks[0], type=Kind.EPIC), wished.tasks[1]))
    assert supervised.to_start(Board(old.tasks)) == []
    assert old.tasks[0].status is Status.DONE
