"""The default priority of a task among its siblings (behaviour 2.10)."""

from collections.abc import Collection

from msgspec.structs import replace

from pro0.errors import BadInput
from pro0.model.task import Status, Task, TaskList
from pro0.rules.tasks.board import Board

USUAL = 2
_RANGE = range(-1_000_000, 1_000_001)


def checked(priority: int) -> int:
    """Return a valid priority, or raise BadInput."""
    if priority not in _RANGE:
        raise BadInput(f"priority {priority} is out of range", hint="0 to 4 are usual, lower goes first")
    return priority


def with_priorities(tasks: TaskList, absent: Collection[str], *, at_end: bool) -> TaskList:
    """Set a priority for each new task without one, in the order of creation.

    With `at_end`, or under a supervised parent, the task goes after its pending siblings. Without them it gets 0.
    Roots are siblings of each other. Any other task keeps USUAL.
    """
    board = Board(tasks.tasks)
    unplaced = {id for id in absent if at_end or board.supervisor(board.tasks[id])}
    if not unplaced:
        return tasks
    highest: dict[str | None, int] = {}
    for task in tasks.tasks:
        if task.status is Status.PENDING and task.id not in unplaced:
            highest[task.parent] = max(task.priority, highest.get(task.parent, task.priority))
    placed: dict[str, Task] = {}
    for task in tasks.tasks:
        if task.id in unplaced:
            highest[task.parent] = highest.get(task.parent, -1) + 1
            placed[task.id] = replace(task, priority=highest[task.parent])
    return replace(tasks, tasks=tuple(placed.get(task.id, task) for task in tasks.tasks))
