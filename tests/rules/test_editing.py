"""Tasks that are changed or deleted, with what names them (rulings 2.5, 2.6)."""

import pytest

from pro0.errors import BadInput, NotFound, Pro0Error, Refused
from pro0.model.caller import THE_HUMAN, Caller
from pro0.model.task import Changes, Gate, Kind, Status, Task, TaskList
from pro0.rules import editing
from pro0.rules.acts import Phase, phase
from pro0.rules.board import Board, why_not_ready
from tests.rules.building import (
    LEAD_AGENT,
    T0,
    at,
    claimed,
    listed,
    standing,
    task,
    update,
)


def test_a_cycle_is_shown() -> None:
    tasks = listed(task(1), task(2, 1), task(3, 2))
    with pytest.raises(Refused, match="task-1 → task-3 → task-2 → task-1"):
        update(tasks, "task-1", Changes(add_dependencies=("3",)))


def test_a_word_that_is_no_gate() -> None:
    with pytest.raises(BadInput, match="'odd' is no gate"):
        update(listed(task(1)), "task-1", Changes(requires="odd"))


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
    assert editing.update(tasks, "task-1", Changes(title="title 1"), THE_HUMAN, at(1)) == (tasks, tasks.tasks[0])


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
    return editing.delete(tasks, id, caller, force=force, now=T0)


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
