"""Subtasks under the supervised policy: reviews by the parent, and notices (behaviour 2.4 to 2.8).

`changes.follow` calls `reviews` inside the locked change. So one write holds the end of a subtask and its effect on the
parent. The lead's side, the opening and ending of sessions, is `supervised`.
"""

from collections.abc import Iterable
from datetime import datetime

from msgspec.structs import replace

from pro0.model.caller import THE_LEAD, Caller
from pro0.model.ids import LEAD
from pro0.model.task import SETTLED, Kind, Policy, Status, Task
from pro0.rules.tasks import lifecycle
from pro0.rules.tasks.acts import Act, Request
from pro0.rules.tasks.board import Board
from pro0.rules.words import prompts

_REVIEW = "review of "
Notice = tuple[str, str, str]
"""A notice: its recipient, its fixed id, its text."""


def reviews(board: Board, now: datetime) -> tuple[list[Task], list[Notice]]:
    """Return supervised parents changed by an ended or a new subtask, and the notices to them (2.4).

    A parent with a live claim is in progress again. A parent without a claim only gets the notice. A failed subtask is
    not over: a person decides about it first (2.8). A subtask that left the tree with its deleted epic is over.
    """
    changed: list[Task] = []
    notices: list[Notice] = []
    for parent in board:
        if not waits_for_subtasks(board, parent):
            continue
        awaited = {task.id: task for task in board.awaited(parent)}
        over = [id for id in parent.waits_for if _is_through(awaited.get(id))]
        unsettled = tuple(id for id, task in awaited.items() if task.status not in SETTLED)
        waiting_for = tuple(id for id in parent.waits_for if id not in over)
        after = replace(parent, waits_for=(*waiting_for, *(id for id in unsettled if id not in waiting_for)))
        # An epic that ends with its last subtask is no news besides that subtask.
        news = [id for id in over if id not in awaited or awaited[id].type is not Kind.EPIC] or over
        if news:
            newest = board.get(news[-1]) or parent
            text = prompts.review(parent, {id: board.get(id) for id in news})
            notices.append((parent.assignee or LEAD, notice_id(newest, f"{_REVIEW}{news[-1]}"), text))
        if news and parent.claim:
            after = lifecycle.advance(after, Request(act=Act.REVIEW, caller=THE_LEAD, now=now, text=", ".join(news)))
        if after != parent:
            changed.append(after)
    return changed, notices


def stop_notices(board: Board, task: Task, watchers: Iterable[str]) -> list[Notice]:
    """Return the notices about a failed or waiting task: one to each address above it (behaviour 2.8)."""
    above = board.supervisor(task)
    parent = above or board.get(task.parent)
    recipients = [parent.assignee] if parent and parent.assignee and (above or task.status is Status.FAILED) else []
    everyone = dict.fromkeys([*recipients, *(watchers if above else ())])
    return [(to, notice_id(task, to), prompts.stopped(task)) for to in everyone]


def was_asked_for(task: Task) -> bool:
    """Return True when the newest start of a task came from a person's wish, not from its turn in a tree."""
    acts = [entry.act for entry in task.history if entry.act in tuple(Act)]
    newest = max((place for place, act in enumerate(acts) if act == Act.START), default=0)
    return newest > 0 and acts[newest - 1] == Act.WISH


def works_on(board: Board, task: Task, caller: Caller) -> bool:
    """Return True while this caller's session works on a supervised task."""
    holder = (task.claim.agent_id, task.claim.incarnation) if task.claim else None
    mine = holder == (caller.agent_id, caller.incarnation) and task.status is Status.IN_PROGRESS
    return mine and board.declared(task) is Policy.SUPERVISED


def notice_id(task: Task, about: str) -> str:
    """Return a stable id for a notice about the newest history entry of a task."""
    return f"{task.id}:{task.earlier + len(task.history)}:{about}"


def is_review(notice_id: str) -> bool:
    """Return True for the id of a notice that asks for a review of finished subtasks."""
    return notice_id.count(":") == 2 and notice_id.rpartition(":")[2].startswith(_REVIEW)


def waits_for_subtasks(board: Board, task: Task) -> bool:
    """Return True for a done supervised task: its own work is complete, its subtasks are still open."""
    supervising = task.type is not Kind.EPIC and board.declared(task) is Policy.SUPERVISED
    return task.status is Status.DONE and supervising


def _is_through(task: Task | None) -> bool:
    return task is None or task.status in (Status.COMPLETED, Status.CANCELLED)
