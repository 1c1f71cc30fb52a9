"""What leaves tasks.json and what comes back: nothing lost, nothing twice, nothing that an open task needs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.errors import Refused
from pro0.model.caller import THE_HUMAN
from pro0.model.task import SETTLED, Archived, Entry, Status, Task, TaskList, TaskSegment
from pro0.rules.tasks import archive, changes
from pro0.rules.tasks.acts import Act
from pro0.rules.tasks.archive import HISTORY_COUNT, SEGMENT_COUNT, SETTLED_COUNT
from pro0.rules.tasks.board import Board, why_not_ready
from tests.rules.building import ask, at, listed, task

ENDS = (Status.COMPLETED, Status.FAILED, Status.CANCELLED)


def over(number: int, *depends_on: int, status: Status = Status.COMPLETED, **fields: object) -> Task:
    return task(number, *depends_on, status=status, updated_at=at(number), **fields)


def entries(number: int) -> tuple[Entry, ...]:
    return tuple(Entry(at=at(n), actor="w1", act="update", text=str(n)) for n in range(number))


@pytest.mark.parametrize("number", [0, 1, HISTORY_COUNT, HISTORY_COUNT + 1, 3 * HISTORY_COUNT + 7])
def test_the_newest_entries_stay(number: int) -> None:
    """Rulings 2: the newest 50, older ones in the task's folder."""
    whole = entries(number)
    kept, old = archive.spill(task(1, history=whole, earlier=5))
    assert (*old, *kept.history) == whole
    assert len(kept.history) == min(number, HISTORY_COUNT)
    assert kept.earlier == 5 + len(old)


def test_a_thousand_settled_tasks_stay() -> None:
    """Rulings 3.5."""
    full = listed(*(over(number) for number in range(1, SETTLED_COUNT + 1)))
    assert archive.overflow(full) == (full, [])


def test_past_that_the_older_half_moves_in_parts() -> None:
    full = listed(*(over(number, status=ENDS[number % 3]) for number in range(2300, 0, -1)))
    left, parts = archive.overflow(full)
    moved = [one for part in parts for one in part]
    assert [one.id for one in moved] == [f"task-{number}" for number in range(1, 1801)]
    assert {one.id for one in left.tasks} == {f"task-{number}" for number in range(1801, 2301)}
    assert max(map(len, parts)) == SEGMENT_COUNT
    assert (left.sealed, left.archived) == (4, Archived(600, 600, 600))


def test_what_open_tasks_name_stays() -> None:
    """Rulings 3.5: dependencies, and whatever is above an open task."""
    old = [over(number) for number in range(1, 1201)]
    old[4] = replace(old[4], status=Status.FAILED)
    old[5] = replace(old[5], parent="task-5")
    wanting = [task(1301, 1, 2), task(1302, parent=6), over(1303, 3)]
    _, parts = archive.overflow(listed(*old, *wanting))
    moved = {one.id for part in parts for one in part}
    assert moved.isdisjoint({"task-1", "task-2", "task-5", "task-6"})
    assert "task-3" in moved
    assert len(moved) == 1201 - SETTLED_COUNT // 2


def test_nothing_moves_when_all_are_named() -> None:
    old = [over(number) for number in range(1, 1101)]
    full = listed(*old, task(2000, *range(1, 1101)))
    assert archive.overflow(full) == (full, [])


def test_what_is_looked_for_in_the_archive() -> None:
    tasks = replace(listed(over(9, 3, parent=4), over(8, 2)), next_id=10, sealed=1, recalled=("task-7",))
    assert archive.absent(tasks, {"task-1", "task-7", "task-8", "task-10", "else"}) == {"task-1"}
    assert archive.absent(tasks, {"task-9"}) == set()
    assert archive.absent(tasks, {"task-9"}, with_relatives=True) == {"task-3", "task-4"}
    assert archive.absent(replace(tasks, sealed=0), {"task-1"}) == set()


def test_recalled_copies_count_no_more() -> None:
    tasks = replace(listed(), next_id=10, sealed=1, archived=Archived(completed=2, failed=1))
    back = archive.recall(tasks, [over(1), over(2, status=Status.FAILED)])
    assert (back.archived, back.recalled) == (Archived(completed=1), ("task-1", "task-2"))
    assert [one.id for one in archive.recall(listed(task(3)), [over(1)]).tasks] == ["task-3", "task-1"]
    assert archive.recall(back, []) is back


def test_what_settled_first_moves_first() -> None:
    """By its last change, else by when it was made, else by its number."""
    never = replace(over(3000), updated_at=None, created_at=None)
    made = replace(over(2000), updated_at=None, created_at=at(-1))
    twins = [replace(over(number), updated_at=at(5)) for number in (12, 2)]
    rest = [over(number) for number in range(100, 100 + SETTLED_COUNT)]
    _, [moved, *_] = archive.overflow(listed(*rest, *twins, made, never))
    assert [one.id for one in moved[:4]] == ["task-3000", "task-2000", "task-2", "task-12"]


def test_what_is_open_in_the_archive_is_named() -> None:
    assert archive.fault(TaskSegment(tasks=(over(1), *(over(2, status=status) for status in ENDS)))) == ""
    wrong = TaskSegment(tasks=(over(1), task(2), task(3)))
    assert archive.fault(wrong) == "task-2 is pending, a status that no archived task has"


def test_what_comes_back_and_settles_again_is_no_longer_recalled_when_it_moves() -> None:
    full = listed(*(over(number) for number in range(1, SETTLED_COUNT + 2)))
    left, [moved, *_] = archive.overflow(replace(full, recalled=("task-1", f"task-{SETTLED_COUNT + 1}")))
    assert moved[0].id == "task-1"
    assert left.recalled == (f"task-{SETTLED_COUNT + 1}",)


def test_recalled_tasks_are_listed_by_their_numbers() -> None:
    segment = [over(number) for number in (10, 2, 1)]
    made = archive.counted(TaskList(tasks=(over(10), over(2))), [segment])
    assert made.recalled == ("task-2", "task-10")


def test_a_lost_count_is_made_again_from_the_segments() -> None:
    segments = [(over(1), over(2), over(3)), (over(2, status=Status.FAILED),)]
    made = archive.counted(TaskList(tasks=(over(3),), next_id=4), segments)
    assert (made.sealed, made.archived, made.recalled) == (2, Archived(completed=1, failed=1), ("task-3",))


def test_a_reopened_task_may_not_close_a_circle() -> None:
    """What waited for nothing any more waits again: not for what waits for it by now; what is over waits for none."""
    tasks = listed(over(1, 2), over(2, 3), task(3, 1))
    tasks, opened = changes.act(tasks, "task-1", ask(Act.REOPEN, THE_HUMAN))
    assert why_not_ready(Board(tasks.tasks), opened) is None
    with pytest.raises(Refused, match="cycle"):
        changes.act(tasks, "task-2", ask(Act.REOPEN, THE_HUMAN))
    done = listed(over(1, 2), over(2))
    assert changes.act(done, "task-1", ask(Act.REOPEN, THE_HUMAN))[1].status is Status.PENDING


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_moves_and_comes_back_each_task_is_once_somewhere(data: st.DataObject) -> None:
    """With a small limit: settled, named, recalled, reopened, deleted tasks in any order."""
    tasks, segments, deleted = TaskList(), list[tuple[Task, ...]](), set[str]()
    archive_limits = pytest.MonkeyPatch()
    archive_limits.setattr(archive, "SETTLED_COUNT", 3)
    try:
        for step in range(data.draw(st.integers(1, 30))):
            tasks = one_step(tasks, segments, deleted, data, step)
            tasks, parts = archive.overflow(tasks)
            segments += parts
            everywhere(tasks, segments, deleted)
    finally:
        archive_limits.undo()


def one_step(
    tasks: TaskList, segments: list[tuple[Task, ...]], deleted: set[str], data: st.DataObject, step: int
) -> TaskList:
    id = f"task-{data.draw(st.integers(1, max(1, tasks.next_id - 1)))}"
    what = data.draw(st.sampled_from(["new", "new", "end", "end", "reopen", "delete"]))
    if what == "new":
        named = [id] if tasks.next_id > 1 and id not in deleted and data.draw(st.booleans()) else []
        tasks = recalled(tasks, segments, *named)
        new = task(tasks.next_id, *(int(name.removeprefix("task-")) for name in named), updated_at=at(step))
        return replace(tasks, tasks=(*tasks.tasks, new), next_id=tasks.next_id + 1)
    tasks = recalled(tasks, segments, id)
    found = Board(tasks.tasks).get(id)
    if found is None:
        return tasks
    if what == "delete":
        deleted.add(id)
        kept = (replace(one, dependencies=()) if id in one.dependencies else one for one in tasks.tasks)
        return replace(tasks, tasks=tuple(one for one in kept if one.id != id))
    status = Status.PENDING if what == "reopen" else data.draw(st.sampled_from(ENDS))
    changed = replace(found, status=status, updated_at=at(step))
    return replace(tasks, tasks=tuple(changed if one.id == id else one for one in tasks.tasks))


def recalled(tasks: TaskList, segments: list[tuple[Task, ...]], *ids: str) -> TaskList:
    asked: set[str] = set()
    while wanted := archive.absent(tasks, ids, with_relatives=True) - asked:
        asked |= wanted
        newest = {one.id: one for part in segments[: tasks.sealed] for one in part}
        tasks = archive.recall(tasks, [newest[id] for id in sorted(wanted) if id in newest])
    return tasks


def everywhere(tasks: TaskList, segments: list[tuple[Task, ...]], deleted: set[str]) -> None:
    live = {one.id for one in tasks.tasks}
    stored = {one.id: one for part in segments for one in part}
    counting = {id: one for id, one in stored.items() if id not in tasks.recalled}
    assert live.isdisjoint(counting)
    assert live | set(counting) == {f"task-{number}" for number in range(1, tasks.next_id)} - deleted
    assert tasks.sealed == len(segments)
    for status in ENDS:
        assert getattr(tasks.archived, status) == sum(one.status is status for one in counting.values())
    for one in tasks.tasks:
        assert one.status in SETTLED or (live | deleted).issuperset(one.dependencies)
    named = {id for one in tasks.tasks if one.status not in SETTLED for id in one.dependencies}
    assert sum(one.status in SETTLED and one.id not in named for one in tasks.tasks) <= 3 + len(named)
