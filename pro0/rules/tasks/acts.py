"""The acts on tasks, the phases of a task, and the request for one act."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from pro0.model.caller import Caller
from pro0.model.ids import LEAD
from pro0.model.task import SETTLED, Awaiting, Entry, Policy, Status, Task


class TaskPhase(StrEnum):
    """The phase of a task: its row in the table of transitions."""

    PENDING = "pending"
    WORKING = "in progress"
    AWAITING = "awaiting a human"
    DONE = "done"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Act(StrEnum):
    """An act on a task."""

    CLAIM = "claim"
    START = "start"
    UNDO_START = "undo_start"
    WISH = "wish"
    ASSIGN = "assign"
    RELEASE = "release"
    COMPLETE = "complete"
    HAND_OFF = "hand_off"
    FAIL = "fail"
    DIED = "died"
    HOLD = "hold"
    CLEAR = "clear"
    APPROVE = "approve"
    REJECT = "reject"
    RETRY = "retry"
    CONTINUE = "continue"
    CLOSE = "close"
    CANCEL = "cancel"
    SETTLE = "settle"
    REVIEW = "review"
    REOPEN = "reopen"


PAST = {
    Act.CLAIM: "claimed",
    Act.START: "started",
    Act.UNDO_START: "put back",
    Act.WISH: "started",
    Act.ASSIGN: "assigned",
    Act.RELEASE: "released",
    Act.COMPLETE: "completed",
    Act.HAND_OFF: "handed to a human",
    Act.FAIL: "failed",
    Act.DIED: "freed",
    Act.HOLD: "held for a human",
    Act.CLEAR: "handed back",
    Act.APPROVE: "approved",
    Act.REJECT: "rejected",
    Act.RETRY: "tried again",
    Act.CONTINUE: "continued",
    Act.CLOSE: "closed",
    Act.CANCEL: "cancelled",
    Act.SETTLE: "settled",
    Act.REVIEW: "reviewed",
    Act.REOPEN: "reopened",
}
GRANTS = frozenset({Act.CLAIM, Act.START, Act.CONTINUE})
"""The acts that always grant a claim; a verdict grants one to the session that asked, if it is still alive."""
ANSWERS = frozenset({Act.APPROVE, Act.REJECT, Act.CLEAR, Act.CONTINUE, Act.CLOSE, Act.RETRY, Act.REOPEN})
"""The acts of a person that answer what a task waits for, or how it failed."""


class Request(msgspec.Struct, frozen=True):
    """A request for one act on one task, with everything its effect needs.

    `holder` is the session to receive the claim. None is the caller's own session; for a verdict it is nobody.
    `hearers` names the living sessions, each incarnation with its member: one of them is told when a person ends the
    wait of its task. `policy` is the policy declared for the task; None is the team's. `cycles` limits the reviews in a
    row without progress. `watchers` are told of a stop.
    """

    act: Act
    caller: Caller
    now: datetime
    text: str = ""
    assignee: str | None = None
    agent: str | None = None
    kind: Awaiting = Awaiting.WORK
    holder: Caller | None = None
    hearers: Mapping[str, str] = {}
    policy: Policy | None = None
    open_subtasks: int = 0
    cycles: int = 10
    watchers: tuple[str, ...] = (LEAD,)


def phase(task: Task) -> TaskPhase:
    """Return the phase of a task. A settled status comes before a wait, and a wait before the other statuses."""
    if task.status in SETTLED:
        return TaskPhase(task.status.value)
    if task.awaiting:
        return TaskPhase.AWAITING
    if task.status is Status.DONE:
        return TaskPhase.DONE
    return TaskPhase.PENDING if task.status is Status.PENDING else TaskPhase.WORKING


def newest_act(task: Task) -> str:
    """Return the newest act on a task, empty for none; changes of its fields are no acts."""
    return next((entry.act for entry in reversed(task.history) if entry.act in tuple(Act)), "")


def ended_wait(task: Task) -> bool:
    """Return True for a cancelled task that waited for a person until then."""
    newest = next((entry for entry in reversed(task.history) if entry.act in tuple(Act)), None)
    return newest is not None and newest.act == Act.CANCEL and newest.kind is not None


def noted(after: Task, before: Task, request: Request) -> Task:
    """Return `after` with a history entry for this act."""
    caller = request.caller
    kind, question = _question(after, before, request)
    entry = Entry(
        at=request.now,
        actor=caller.agent_id,
        act=request.act,
        from_=before.status,
        to=after.status,
        text=request.text,
        incarnation=caller.incarnation if caller.incarnation != caller.agent_id else None,
        kind=kind,
        asked=question,
    )
    return replace(after, updated_at=request.now, history=(*after.history, entry))


def _question(after: Task, before: Task, request: Request) -> tuple[Awaiting | None, str]:
    """Return kind and question of the wait that an act answers or begins."""
    if request.act in ANSWERS:
        wait = before.waits
        return (wait.kind, wait.reason) if wait else (None, before.closed_reason)
    if request.act is Act.CANCEL:
        return (before.waits.kind if before.waits else None, "")
    wait = after.waits if after.waits != before.waits else None
    return (wait.kind, wait.reason if wait.reason != request.text else "") if wait else (None, "")
