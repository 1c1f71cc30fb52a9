"""The archive keeps tasks.json small: older history and older settled tasks move out (behaviour 3.5).

Laws:

* Older entries and tasks are written first, then the list with their count. An uncounted entry is ignored.
* The tasks that the rules ask about for an open task are never in the archive: its dependencies, the tasks above it,
  and some of those below it.
* The list counts the archive: its segments, its tasks of each status, and its recalled tasks.
* The archive copy of a recalled task is ignored.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from pro0.model.ids import task_number
from pro0.model.task import SETTLED, Archived, Entry, Kind, Status, Task, TaskList, TaskSegment
from pro0.rules.tasks.board import Board

HISTORY_COUNT = 50
"""The most history entries of one task in tasks.json, and in one segment of its folder."""
SETTLED_COUNT = 1000
"""The most settled tasks in tasks.json. Past it the older half moves; what open tasks ask for stays."""
SEGMENT_COUNT = 500
"""The most tasks in one segment of the archive."""

_START = datetime.min.replace(tzinfo=UTC)


def numbered(tasks: TaskList) -> TaskList:
    """Set the next task number of a list without a revision: another program wrote that list."""
    if tasks.revision:
        return tasks
    return replace(
        tasks, next_id=max(tasks.next_id, 1 + max((task_number(task.id) for task in tasks.tasks), default=0))
    )


def spill(task: Task) -> tuple[Task, tuple[Entry, ...]]:
    """Split off the oldest entries of a history over HISTORY_COUNT."""
    cut = max(0, len(task.history) - HISTORY_COUNT)
    if not cut:
        return task, ()
    return replace(task, history=task.history[cut:], earlier=task.earlier + cut), task.history[:cut]


def overflow(tasks: TaskList) -> tuple[TaskList, list[tuple[Task, ...]]]:
    """Split off settled tasks for the archive, oldest first, in parts of one segment each."""
    settled = [task for task in tasks.tasks if task.status in SETTLED]
    if len(settled) <= SETTLED_COUNT:
        return tasks, []
    needed = _asked_for(tasks)
    movable = sorted((task for task in settled if task.id not in needed), key=_settled_order)
    moved = movable[: len(settled) - SETTLED_COUNT // 2]
    if not moved:
        return tasks, []
    gone = {task.id for task in moved}
    parts = [tuple(moved[start : start + SEGMENT_COUNT]) for start in range(0, len(moved), SEGMENT_COUNT)]
    remaining = replace(
        tasks,
        tasks=tuple(task for task in tasks.tasks if task.id not in gone),
        sealed=tasks.sealed + len(parts),
        archived=_counted(tasks.archived, moved, 1),
        recalled=tuple(id for id in tasks.recalled if id not in gone),
    )
    return remaining, parts


def absent(tasks: TaskList, ids: Iterable[str], *, with_relatives: bool = False) -> set[str]:
    """Return ids from `ids` that may be in the archive; `with_relatives` adds their dependencies and ancestors."""
    if not tasks.sealed:
        return set()
    board, required = Board(tasks.tasks), set(ids)
    for task in filter(None, map(board.get, tuple(required) if with_relatives else ())):
        required.update(task.dependencies)
        required.update(relative.parent for relative in (task, *board.ancestors(task)) if relative.parent)
    return {id for id in required if id not in board.tasks and _was_given(id, tasks)}.difference(tasks.recalled)


def recall(tasks: TaskList, archived: Sequence[Task]) -> TaskList:
    """Take tasks back out of the archive; from then on their archive copies are ignored."""
    if not archived:
        return tasks
    return replace(
        tasks,
        tasks=(*tasks.tasks, *archived),
        archived=_counted(tasks.archived, archived, -1),
        recalled=(*tasks.recalled, *(task.id for task in archived)),
    )


def counted(tasks: TaskList, segments: Iterable[Sequence[Task]]) -> TaskList:
    """Recount the archive from all of its segments, for a list without its own count."""
    parts = list(segments)
    live = {task.id for task in tasks.tasks}
    newest = {task.id: task for part in parts for task in part if task.id not in live}
    archived_ids = {task.id for part in parts for task in part}
    recalled = tuple(sorted((live | set(tasks.recalled)) & archived_ids, key=task_number))
    archived = _counted(Archived(), [task for id, task in newest.items() if id not in recalled], 1)
    return replace(tasks, sealed=len(parts), archived=archived, recalled=recalled)


def fault(segment: TaskSegment) -> str:
    """Describe an unsettled task in a segment; such a segment cannot be in the archive. Empty for a sound segment."""
    unsettled = next((task for task in segment.tasks if task.status not in SETTLED), None)
    return f"{unsettled.id} is {unsettled.status}, a status that no archived task has" if unsettled else ""


def _asked_for(tasks: TaskList) -> set[str]:
    """Return the tasks that the rules ask about for an open task."""
    board = Board(tasks.tasks)
    ids: set[str] = set()
    for task in board:
        if task.status not in SETTLED:
            ids.update(task.dependencies)
            ids.update(above.id for above in board.ancestors(task))
            ids.update(_kept_below(board, task))
        elif task.status is Status.FAILED:
            ids.update(_up_to_an_open_one(board, task))
    return ids


def _kept_below(board: Board, task: Task) -> set[str]:
    """Return the settled subtasks that stay for an open task, besides failed ones.

    All subtasks of a task stay: they count against maxSubtasksPerParent, which also keeps them few. An epic may have
    any number, so only one stays, a begun one if possible: an epic settles only with a subtask, and counts as begun
    only with a begun one.
    """
    below = [child for child in board.children(task.id) if child.status in SETTLED]
    if task.type is Kind.EPIC and below:
        below = [max(below, key=lambda child: child.started_at is not None)]
    return {child.id for child in below}


def _up_to_an_open_one(board: Board, failed: Task) -> set[str]:
    """Return a failed task and its ancestors if one of them is open, else nothing.

    A person decides about the failure, at any depth, before the open ancestor settles or goes on.
    """
    above = list(board.ancestors(failed))
    return {failed.id, *(task.id for task in above)} if any(task.status not in SETTLED for task in above) else set()


def _was_given(id: str, tasks: TaskList) -> bool:
    number = id.removeprefix("task-")
    return number.isascii() and number.isdigit() and len(number) < 10 and int(number) < tasks.next_id


def _settled_order(task: Task) -> tuple[datetime, int]:
    return task.updated_at or task.created_at or _START, task_number(task.id)


def _counted(archived: Archived, tasks: Iterable[Task], by: int) -> Archived:
    counts = {name: getattr(archived, name) for name in Archived.__struct_fields__}
    for task in tasks:
        counts[task.status.value] += by
    return Archived(**counts)
