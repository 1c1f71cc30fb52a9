"""The supervised policy: one subtask at a time, each looked at by the session of its parent (rulings 2.4 to 2.8).

All of it is a function of the state of the task list, never of an event, so that a lead that died in the middle sees
again what is still owed. Two sides use it:

* `changes.follow` calls `reviews` inside the locked change: the end of a subtask and what it means for its parent are
  one write.
* The lead's decision (`hiring`) calls `to_start`, `overdue` and `is_over` with its snapshot's board: it opens sessions,
  gives up what takes too long, and ends sessions that have nothing left to do.

A wish of a human (`task.start`) is kept on the task as `start` and is carried out through `to_start` as well.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from msgspec.structs import replace

from pro0.model.caller import THE_LEAD, Caller
from pro0.model.ids import LEAD
from pro0.model.task import SETTLED, Kind, Policy, Status, Task
from pro0.rules import lifecycle, prompts
from pro0.rules.acts import Act, Request
from pro0.rules.board import Board, next_order, why_not_ready
from pro0.rules.effects import seconds_worked

Said = tuple[str, str, str]
"""A notice: to whom, its fixed id, its text."""


def to_start(board: Board) -> list[Task]:
    """Return the tasks for which a session is to be opened now, in order: what a human wants, then whose turn it is."""
    wanted = [task for task in board if task.start and _startable(board, task)]
    turns = (_whose_turn(board, above) for above in board if _waits_with_its_session(board, above))
    return sorted(wanted, key=next_order) + [task for task in turns if task and task not in wanted]


def overdue(
    board: Board, limit: timedelta, now: datetime, at: Callable[[datetime], datetime] = lambda stamp: stamp
) -> tuple[list[Task], datetime | None]:
    """Return the tasks under supervised parents that were worked on for longer than allowed, and when the next will be.

    Only the time in progress counts, within one claim (rulings 2.7); `at` reads a stored moment by today's clock.
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

    It stays while a human may say `task continue`: that goes on in the same session. Time-out ends it (rulings 2.7).
    """
    task = board.get(task_id)
    if task is None or task.status in (Status.COMPLETED, Status.CANCELLED):
        return True
    last = next((entry for entry in reversed(task.history) if entry.act == Act.FAIL), None)
    return task.status is Status.FAILED and last is not None and last.actor == LEAD


def reviews(board: Board, now: datetime) -> tuple[list[Task], list[Said]]:
    """Return the supervised parents that change since a subtask is over, or is new, and what each is told (2.4).

    With a live claim the parent is in progress again; without one it only gets the message. A subtask that failed is
    not over: a human decides about it first (2.8).
    """
    changed: list[Task] = []
    notices: list[Said] = []
    for parent in board:
        if not _waits(board, parent):
            continue
        over = [id for id in parent.waits_for if _is_through(board.get(id))]
        still = tuple(task.id for task in board.watched(parent.id) if task.status not in SETTLED)
        left = tuple(id for id in parent.waits_for if id not in over)
        after = replace(parent, waits_for=(*left, *(id for id in still if id not in left)))
        if over:
            last = board.get(over[-1]) or parent
            said = prompts.review(parent, {id: board.get(id) for id in over})
            notices.append((parent.assignee or LEAD, notice_id(last, f"review of {over[-1]}"), said))
        if over and parent.claim:
            after = lifecycle.advance(after, Request(act=Act.REVIEW, caller=THE_LEAD, now=now, text=", ".join(over)))
        if after != parent:
            changed.append(after)
    return changed, notices


def stop_notices(board: Board, task: Task, watchers: Iterable[str]) -> list[Said]:
    """Return who is told that a task has failed or waits: those above it, once each (rulings 2.8; 2, fail)."""
    above = board.supervisor(task)
    parent = above or board.get(task.parent)
    told = [parent.assignee] if parent and parent.assignee and (above or task.status is Status.FAILED) else []
    everyone = dict.fromkeys([*told, *(watchers if above else ())])
    return [(to, notice_id(task, to), prompts.stopped(task)) for to in everyone]


def was_asked_for(task: Task) -> bool:
    """Return whether the newest start of a task was what a human wanted, and not its turn in a tree."""
    acts = [entry.act for entry in task.history if entry.act in tuple(Act)]
    newest = max((place for place, act in enumerate(acts) if act == Act.START), default=0)
    return newest > 0 and acts[newest - 1] == Act.WISH


def works_on(board: Board, task: Task, caller: Caller) -> bool:
    """Return whether this caller's session works on a supervised task just now."""
    holder = (task.claim.agent_id, task.claim.incarnation) if task.claim else None
    mine = holder == (caller.agent_id, caller.incarnation) and task.status is Status.IN_PROGRESS
    return mine and board.declared(task) is Policy.SUPERVISED


def notice_id(task: Task, about: str) -> str:
    """Return the id of a notice about the newest entry of a task's history: the same one whenever it is made."""
    return f"{task.id}:{task.earlier + len(task.history)}:{about}"


def _waits(board: Board, task: Task) -> bool:
    supervising = task.type is not Kind.EPIC and board.declared(task) is Policy.SUPERVISED
    return task.status is Status.DONE and supervising


def _waits_with_its_session(board: Board, task: Task) -> bool:
    return task.claim is not None and _waits(board, task)


def _whose_turn(board: Board, parent: Task) -> Task | None:
    ready = [task for task in board.watched(parent.id) if task.assignee is None and _startable(board, task)]
    return min(ready, key=next_order, default=None)


def _startable(board: Board, task: Task) -> bool:
    return (task.status is Status.DONE and task.claim is None) or why_not_ready(board, task) is None


def _is_through(task: Task | None) -> bool:
    return task is None or task.status in (Status.COMPLETED, Status.CANCELLED)
