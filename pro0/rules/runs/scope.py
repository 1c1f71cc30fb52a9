"""A part of a task list: one tree, standalone tasks, or tasks with a finished parent."""

import msgspec

from pro0.model.task import Status, Task
from pro0.rules.tasks.board import Board


class Scope(msgspec.Struct, frozen=True):
    """The chosen part: everything by default, and the union of several choices."""

    epic: str | None = None
    standalone: bool = False
    orphan: bool = False


EVERYTHING = Scope()


def within(board: Board, task: Task, scope: Scope) -> bool:
    """Return True when a task is in the chosen part."""
    if scope == EVERYTHING:
        return True
    if scope.epic and any(above.id == scope.epic for above in board.ancestors(task)):
        return True
    if scope.standalone and not task.parent:
        return True
    above = board.get(task.parent)
    return scope.orphan and above is not None and above.status in (Status.COMPLETED, Status.CANCELLED)
