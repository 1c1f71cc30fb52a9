"""Which part of a task list is looked at: one tree, tasks that stand alone, tasks whose parent is over."""

import msgspec

from pro0.model.task import Status, Task
from pro0.rules.tasks.board import Board


class Scope(msgspec.Struct, frozen=True):
    """What is chosen; with nothing, everything is, and with several, what is in any of them."""

    epic: str | None = None
    standalone: bool = False
    orphan: bool = False


EVERYTHING = Scope()


def within(board: Board, task: Task, scope: Scope) -> bool:
    """Return whether a task is in the part that is chosen."""
    if scope == EVERYTHING:
        return True
    if scope.epic and any(above.id == scope.epic for above in board.ancestors(task)):
        return True
    if scope.standalone and not task.parent:
        return True
    above = board.get(task.parent)
    return scope.orphan and above is not None and above.status in (Status.COMPLETED, Status.CANCELLED)
