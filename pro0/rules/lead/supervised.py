"""The lead's side of the supervised policy: one subtask at a time, each looked at by the session of its parent.

All of it is a function of the state of the task list, never of an event, so that a lead that died in the middle sees
again what is still owed. `hiring` calls it with the snapshot's board: it opens sessions, gives up what takes too long,
and ends sessions that have nothing left to do (behaviour 2.4 to 2.8). The tasks' own side is `subtasks`.

A wish of a human (`task.start`) is kept on the task as `start` and is carried out through `to_start` as well.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from pro0.model.ids import LEAD
from pro0.model.task import Status, Task
from pro0.rules.tasks import subtasks
from pro0.rules.tasks.acts import Act
from pro0.rules.tasks.board import Board, next_order, why_not_ready
from pro0.rules.tasks.effects import seconds_worked


def to_start(board: Board) -> list[Task]:
    """Return the tasks for which a session is to be opened now, in order: what a human wants, then whose turn it is."""
    wanted = [task for task in board if task.start and _startable(board, task)]
    turns = (_whose_turn(board, above) for above in board if _waits_with_its_session(board, above))
    return sorted(wanted, key=next_order) + [task for task in turns if task and task not in wanted]


def overdue(
    board: Board, limit: timedelta, now: datetime, at: Callable[[datetime], datetime] = lambda stamp: stamp
) -> tuple[list[Task], datetime | None]:
    """Return the tasks under supervised parents that were worked on for longer than allowed, and when the next will be.

    Only the time in progress counts, within one claim (behaviour 2.7); `at` reads a stored moment by today's clock.
    """
    late, next_at = [], list[datetime]()
    for task in board:
        if task.claim and task.status is Status.IN_PROGRESS and board.supervisor(task):
            left = limit - timedelta(seconds=seconds_worked(task.claim, now, at))
            if left < timedelta():
                late.append(task)
            else:
                next_at.append(now + left)
    return late, min(next_at, default=None)


def is_over(board: Board, task_id: str) -> bool:
    """Return whether the session that was opened for a task has nothing left to do.

    It stays while a human may say `task continue`: that goes on in the same session. Time-out ends it (behaviour 2.7).
    """
    task = board.get(task_id)
    if task is None or task.status in (Status.COMPLETED, Status.CANCELLED):
        return True
    last = next((entry for entry in reversed(task.history) if entry.act == Act.FAIL), None)
    return task.status is Status.FAILED and last is not None and last.actor == LEAD


def _waits_with_its_session(board: Board, task: Task) -> bool:
    return task.claim is not None and subtasks.waits_for_subtasks(board, task)


def _whose_turn(board: Board, parent: Task) -> Task | None:
    ready = [task for task in board.watched(parent.id) if task.assignee is None and _startable(board, task)]
    return min(ready, key=next_order, default=None)


def _startable(board: Board, task: Task) -> bool:
    return (task.status is Status.DONE and task.claim is None) or why_not_ready(board, task) is None
