"""The lead's side of the supervised policy: one subtask at a time, each reviewed by the session of its parent.

Everything here is a function of the task list's state, never of an event. A lead that died in the middle therefore
sees again what is still due. `hiring` calls it with the snapshot's board. `hiring` opens sessions, gives up tasks that
take too long, and ends sessions with nothing left to do (behaviour 2.4 to 2.8). `subtasks` holds the tasks' own side.

A human's wish to start a task (`task.start`) stays on the task as `start` and is also carried out through `to_start`.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from pro0.model.ids import LEAD
from pro0.model.task import Kind, Status, Task
from pro0.rules.tasks import subtasks
from pro0.rules.tasks.acts import Act
from pro0.rules.tasks.board import Board, next_order, why_not_ready
from pro0.rules.tasks.effects import seconds_worked


def to_start(board: Board) -> list[Task]:
    """Return the tasks due to get a session now: first those a human wants, then the next subtasks."""
    requested = [task for task in board if task.start and _startable(board, task)]
    turns = (_whose_turn(board, above) for above in board if _waits_with_its_session(board, above))
    return sorted(requested, key=next_order) + [task for task in turns if task and task not in requested]


def overdue(
    board: Board, limit: timedelta, now: datetime, at: Callable[[datetime], datetime] = lambda stamp: stamp
) -> tuple[list[Task], datetime | None]:
    """Return the tasks under supervised parents that exceeded the limit, and the time of the next one.

    Only the time in progress counts, within one claim (behaviour 2.7); `at` converts a stored moment after clock jumps.
    """
    late, next_at = [], list[datetime]()
    for task in board:
        if task.claim and task.status is Status.IN_PROGRESS and board.supervisor(task):
            remaining = limit - timedelta(seconds=seconds_worked(task.claim, now, at))
            if remaining < timedelta():
                late.append(task)
            else:
                next_at.append(now + remaining)
    return late, min(next_at, default=None)


def is_over(board: Board, task_id: str) -> bool:
    """Return True when a task's session has nothing left to do.

    The session stays while a human may run `task continue`, which continues in the same session. A time-out ends the
    session (behaviour 2.7).
    """
    task = board.get(task_id)
    if task is None or task.status in (Status.COMPLETED, Status.CANCELLED):
        return True
    last_failure = next((entry for entry in reversed(task.history) if entry.act == Act.FAIL), None)
    return task.status is Status.FAILED and last_failure is not None and last_failure.actor == LEAD


def _waits_with_its_session(board: Board, task: Task) -> bool:
    return task.claim is not None and subtasks.waits_for_subtasks(board, task)


def _whose_turn(board: Board, parent: Task) -> Task | None:
    ready = [task for task in board.watched(parent.id) if task.assignee is None and _startable(board, task)]
    return min(ready, key=next_order, default=None)


def _startable(board: Board, task: Task) -> bool:
    goes_on = task.status is Status.DONE and task.claim is None and task.type is not Kind.EPIC
    return goes_on or why_not_ready(board, task) is None
