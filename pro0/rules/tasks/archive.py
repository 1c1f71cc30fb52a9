"""What leaves tasks.json to keep it small, and what comes back: older history, older settled tasks (behaviour 3.5).

Laws:

* Older entries and tasks are written first, then the list that counts them: what is not counted is not there.
* What an open task names, as dependency or among the tasks above it, is never in the archive.
* The list counts the archive: how many segments, how many tasks of each status, and which copies count no more.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from pro0.model.ids import task_number
from pro0.model.task import SETTLED, Archived, Entry, Task, TaskList, TaskSegment
from pro0.rules.tasks.board import Board

HISTORY_COUNT = 50
"""Entries of a task's history in tasks.json, and in one segment of its folder, at most."""
SETTLED_COUNT = 1000
"""Settled tasks in tasks.json at most, but for those that open tasks name; past it the older half moves."""
SEGMENT_COUNT = 500
"""Tasks in one segment of the archive at most."""

_START = datetime.min.replace(tzinfo=UTC)


def numbered(tasks: TaskList) -> TaskList:
    """Give a list that another program wrote, which has no revision, the number of the next task."""
    if tasks.revision:
        return tasks
    return replace(
        tasks, next_id=max(tasks.next_id, 1 + max((task_number(task.id) for task in tasks.tasks), default=0))
    )


def spill(task: Task) -> tuple[Task, tuple[Entry, ...]]:
    """Split off the entries of a history that is too long, the oldest ones."""
    cut = max(0, len(task.history) - HISTORY_COUNT)
    if not cut:
        return task, ()
    return replace(task, history=task.history[cut:], earlier=task.earlier + cut), task.history[:cut]


def overflow(tasks: TaskList) -> tuple[TaskList, list[tuple[Task, ...]]]:
    """Split off the settled tasks that are to move to the archive, oldest first, in parts of a segment each."""
    settled = [task for task in tasks.tasks if task.status in SETTLED]
    if len(settled) <= SETTLED_COUNT:
        return tasks, []
    named = _named(tasks)
    movable = sorted((task for task in settled if task.id not in named), key=_settled_order)
    moved = movable[: len(settled) - SETTLED_COUNT // 2]
    if not moved:
        return tasks, []
    gone = {task.id for task in moved}
    parts = [tuple(moved[start : start + SEGMENT_COUNT]) for start in range(0, len(moved), SEGMENT_COUNT)]
    left = replace(
        tasks,
        tasks=tuple(task for task in tasks.tasks if task.id not in gone),
        sealed=tasks.sealed + len(parts),
        archived=_counted(tasks.archived, moved, 1),
        recalled=tuple(id for id in tasks.recalled if id not in gone),
    )
    return left, parts


def absent(tasks: TaskList, ids: Iterable[str], *, named: bool = False) -> set[str]:
    """Return what the archive may hold of these tasks and, with `named`, of what would be named by them if open."""
    if not tasks.sealed:
        return set()
    board, wanted = Board(tasks.tasks), set(ids)
    for task in filter(None, map(board.get, tuple(wanted) if named else ())):
        wanted.update(task.dependencies)
        wanted.update(one.parent for one in (task, *board.ancestors(task)) if one.parent)
    return {id for id in wanted if id not in board.tasks and _was_given(id, tasks)}.difference(tasks.recalled)


def recall(tasks: TaskList, found: Sequence[Task]) -> TaskList:
    """Take tasks out of the archive: their copies there count no more."""
    if not found:
        return tasks
    return replace(
        tasks,
        tasks=(*tasks.tasks, *found),
        archived=_counted(tasks.archived, found, -1),
        recalled=(*tasks.recalled, *(task.id for task in found)),
    )


def counted(tasks: TaskList, segments: Iterable[Sequence[Task]]) -> TaskList:
    """Return a list that counts these segments, all there are, when its own count is lost."""
    parts = list(segments)
    live = {task.id for task in tasks.tasks}
    newest = {task.id: task for part in parts for task in part if task.id not in live}
    known = {task.id for part in parts for task in part}
    recalled = tuple(sorted((live | set(tasks.recalled)) & known, key=task_number))
    archived = _counted(Archived(), [task for id, task in newest.items() if id not in recalled], 1)
    return replace(tasks, sealed=len(parts), archived=archived, recalled=recalled)


def fault(segment: TaskSegment) -> str:
    """Return what keeps a segment out of the archive: a task that is not settled; empty when all is well."""
    unsettled = next((task for task in segment.tasks if task.status not in SETTLED), None)
    return f"{unsettled.id} is {unsettled.status}, which no archived task is" if unsettled else ""


def _named(tasks: TaskList) -> set[str]:
    board = Board(tasks.tasks)
    named: set[str] = set()
    for task in board:
        if task.status not in SETTLED:
            named.update(task.dependencies)
            named.update(above.id for above in board.ancestors(task))
    return named


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
