"""Limits on the depth and width of a task tree, and on the time of its work (behaviour 2.7)."""

from collections.abc import Iterable

import msgspec

from pro0.errors import ErrorCode, Refused
from pro0.model.task import Kind, Task
from pro0.rules.tasks.board import Board


class Limits(msgspec.Struct, frozen=True):
    """The limits in force. A task without a parent has depth 0."""

    depth: int = 5
    subtasks: int = 20
    minutes: int = 30
    cycles: int = 10


DEFAULT = Limits()


def check(board: Board, new: Iterable[Task], limits: Limits) -> None:
    """Raise Refused for new tasks below the deepest level or under a full parent. They are on the board already."""
    for task in new:
        depth = sum(1 for _ in board.ancestors(task))
        if depth > limits.depth:
            text = f"{task.title!r} would be {depth} levels deep, more than maxSubtaskDepth ({limits.depth})"
            raise Refused(text, code=ErrorCode.TOO_DEEP, hint="make it a subtask of a task further up")
        parent = board.get(task.parent)
        if parent and parent.type is not Kind.EPIC and len(board.children(parent.id)) > limits.subtasks:
            text = f"{parent.id} would have more subtasks than maxSubtasksPerParent ({limits.subtasks})"
            raise Refused(text, code=ErrorCode.TOO_MANY, hint="group them under subtasks, or raise the setting")
