"""The archive changes no rule: what they ask about below an open task stays out of it (behaviour 2.4, 2.7, 3.5)."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.errors import Pro0Error, Refused
from pro0.model.caller import THE_HUMAN, THE_LEAD, Caller
from pro0.model.task import SETTLED, Awaiting, Draft, Kind, Policy, Status, Task, TaskList
from pro0.rules.tasks import archive, changes
from pro0.rules.tasks.acts import Act, TaskPhase, phase
from pro0.rules.tasks.archive import SETTLED_COUNT
from pro0.rules.tasks.board import Board, why_not_ready
from pro0.rules.tasks.limits import Limits
from tests.rules.building import T0, W1, ask, at, listed, make, task
from tests.rules.test_archive import over, recalled

LATER = tuple(over(number) for number in range(100, 102 + SETTLED_COUNT))
"""More than a thousand tasks that settled after all others."""


def archived(*tasks: Task) -> TaskList:
    """The list with these tasks once many others have settled."""
    left, parts = archive.overflow(listed(*tasks, *LATER))
    assert parts
    return replace(left, tasks=tuple(one for one in left.tasks if one not in LATER), next_id=2000)


def names(tasks: TaskList) -> set[str]:
    return {one.id for one in tasks.tasks}


def test_an_epic_waits_for_a_word_about_a_failed_subtask_however_long_ago_it_failed() -> None:
    tasks = archived(task(1, type=Kind.EPIC), over(2, parent=1, status=Status.FAILED), task(3, parent=1))
    tasks, _ = changes.act(tasks, "task-3", ask(Act.COMPLETE, THE_HUMAN))
    assert tasks.tasks[0].status is Status.PENDING
    tasks, _ = changes.act(tasks, "task-2", ask(Act.CLOSE, THE_HUMAN))
    assert tasks.tasks[0].status is Status.COMPLETED


def test_a_supervised_parent_does_not_review_an_old_failure_as_deleted() -> None:
    parent = task(1, policy=Policy.SUPERVISED, status=Status.DONE, waits_for=("task-2", "task-3"))
    tasks = archived(parent, over(2, parent=1, status=Status.FAILED), task(3, parent=1))
    tasks, _ = changes.act(tasks, "task-3", ask(Act.CANCEL, THE_HUMAN))
    assert tasks.tasks[0].waits_for == ("task-2",)


def test_a_failure_below_a_cancelled_group_still_holds_back_what_is_beside_it() -> None:
    parent = task(1, policy=Policy.SUPERVISED, status=Status.DONE)
    group, failed = over(2, parent=1, type=Kind.EPIC, status=Status.CANCELLED), over(3, parent=2, status=Status.FAILED)
    assert names(archived(parent, group, failed, task(4, parent=1))) == {"task-1", "task-2", "task-3", "task-4"}
    ended = replace(parent, status=Status.COMPLETED)
    assert names(archived(ended, group, failed)) == set(), "nobody above it goes on"


def test_old_subtasks_still_count() -> None:
    """Behaviour 2.7."""
    tasks = archived(task(1), over(2, parent=1), over(3, parent=1))
    with pytest.raises(Refused, match="more subtasks than maxSubtasksPerParent"):
        make(tasks, Draft(title="one more", parent="1"), bounds=Limits(subtasks=2))


def test_of_a_huge_open_epic_failed_subtasks_stay_and_one_more() -> None:
    below = [over(number, parent=1) for number in range(2, 60)]
    below[3] = replace(below[3], started_at=T0)
    below[5] = replace(below[5], status=Status.FAILED)
    assert names(archived(task(1, type=Kind.EPIC), *below, task(70, parent=1))) == {
        "task-1",
        below[3].id,
        below[5].id,
        "task-70",
    }


def test_an_epic_that_was_held_ends_although_its_subtasks_are_old() -> None:
    held, _ = changes.act(listed(task(1, type=Kind.EPIC)), "task-1", ask(Act.HOLD, THE_HUMAN, kind=Awaiting.INPUT))
    tasks = archived(held.tasks[0], over(2, parent=1), over(3, parent=1))
    assert changes.act(tasks, "task-1", ask(Act.APPROVE, THE_HUMAN))[1].status is Status.COMPLETED


SUITS: dict[TaskPhase, list[tuple[Act, Caller]]] = {
    TaskPhase.PENDING: [
        *[(Act.CLAIM, W1)] * 4,
        (Act.COMPLETE, THE_HUMAN),
        (Act.HOLD, THE_HUMAN),
        (Act.CANCEL, THE_HUMAN),
    ],
    TaskPhase.WORKING: [(Act.COMPLETE, W1), (Act.FAIL, W1), (Act.HAND_OFF, W1)],
    TaskPhase.AWAITING: [(Act.APPROVE, THE_HUMAN), (Act.CLEAR, THE_HUMAN)],
    TaskPhase.DONE: [(Act.CANCEL, THE_HUMAN), (Act.START, THE_LEAD)],
    TaskPhase.FAILED: [(Act.RETRY, THE_HUMAN), (Act.CLOSE, THE_HUMAN)],
}
"""What is done to a task by whom; completed and cancelled ones are left as they are."""


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_list_with_an_archive_goes_on_like_one_without(data: st.DataObject) -> None:
    """All that may leave leaves after each change: what stays is the same, and the same is allowed."""
    whole, parts, segments = TaskList(), TaskList(), list[tuple[Task, ...]]()
    limits = pytest.MonkeyPatch()
    limits.setattr(archive, "SETTLED_COUNT", 0)
    try:
        for step in range(data.draw(st.integers(10, 60))):
            whole, parts = one_change(whole, parts, segments, data, step)
            parts, moved = archive.overflow(parts)
            segments += moved
            alike(whole, parts)
    finally:
        limits.undo()


def one_change(
    whole: TaskList, parts: TaskList, segments: list[tuple[Task, ...]], data: st.DataObject, step: int
) -> tuple[TaskList, TaskList]:
    """The same change of both lists, or none of either: a new task, or an act of a person or of w1."""
    live = sorted(one.id for one in parts.tasks)
    if not live or data.draw(st.integers(0, 2)) == 0:
        above = [id for id in live if changes.find(parts, id).status not in SETTLED] * 2
        draft = Draft(
            title="t",
            priority=2,
            type=data.draw(st.sampled_from(Kind)),
            policy=data.draw(st.sampled_from([None, None, Policy.SUPERVISED])),
            parent=data.draw(st.sampled_from([None, *above])),
            blocked_by=tuple(data.draw(st.lists(st.sampled_from(live), max_size=1))) if live else (),
        )
        return alike_or_not(whole, parts, lambda tasks: make(tasks, draft, bounds=Limits(depth=9, subtasks=3))[0])
    id = data.draw(st.sampled_from(live))
    now = phase(changes.find(parts, id))
    if now not in SUITS:
        return whole, parts
    act, caller = data.draw(st.sampled_from(SUITS[now]))
    if now is TaskPhase.FAILED and Board(whole.tasks).children(id):
        return whole, parts  # it was over, and so its subtasks may be in the archive: no act looks for them there
    if now is TaskPhase.FAILED:
        parts = recalled(parts, segments, id)
    kind = data.draw(st.sampled_from([Awaiting.INPUT, Awaiting.REVIEW]))
    request = ask(act, caller, "said", at(step), kind=kind, holder=W1 if act is Act.START else None)
    return alike_or_not(whole, parts, lambda tasks: changes.act(tasks, id, request)[0])


def alike_or_not(whole: TaskList, parts: TaskList, change: Callable[[TaskList], TaskList]) -> tuple[TaskList, TaskList]:
    changed, refusal = tried(whole, change)
    again, as_well = tried(parts, change)
    assert refusal == as_well
    return changed, again


def tried(tasks: TaskList, change: Callable[[TaskList], TaskList]) -> tuple[TaskList, str]:
    """The changed list, or the old one with the kind of its refusal."""
    try:
        return change(tasks), ""
    except Pro0Error as error:
        return tasks, error.code


def alike(whole: TaskList, parts: TaskList) -> None:
    every, live = Board(whole.tasks), Board(parts.tasks)
    for one in live:
        assert one == every.tasks[one.id]
        assert why_not_ready(live, one) == why_not_ready(every, every.tasks[one.id])
    assert all(one.id in live.tasks for one in every if one.status not in SETTLED)
