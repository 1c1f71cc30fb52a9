"""Gates stand between complete work and a completed task; verdicts pass them (behaviour 2.1, 2.13).

Laws:

* Only an approval of that very gate (`requires`) passes it. Any other completion makes the task wait at the gate.
* Nobody runs an agent's command before a person has approved it (2.9). A task with such a command waits when it is
  handed back.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from msgspec.structs import replace

from pro0.model.task import Awaiting, Status, Task, Verdict, Wait
from pro0.rules.tasks.acts import Request

AGENT_COMMAND = "agent-made command"


class Outcome(StrEnum):
    """The outcome of a verdict for a task."""

    COMPLETE = "complete"
    HAND_BACK = "hand back"
    CANCEL = "cancel"


_COMPLETE, _BACK, _CANCEL = Outcome.COMPLETE, Outcome.HAND_BACK, Outcome.CANCEL
MATRIX: Mapping[tuple[Awaiting, Verdict], Outcome] = {
    (Awaiting.WORK, Verdict.APPROVED): _COMPLETE,
    (Awaiting.WORK, Verdict.REJECTED): _BACK,
    (Awaiting.APPROVAL, Verdict.APPROVED): _COMPLETE,
    (Awaiting.APPROVAL, Verdict.REJECTED): _BACK,
    (Awaiting.INPUT, Verdict.APPROVED): _BACK,
    (Awaiting.INPUT, Verdict.REJECTED): _CANCEL,
    (Awaiting.REVIEW, Verdict.APPROVED): _COMPLETE,
    (Awaiting.REVIEW, Verdict.REJECTED): _BACK,
    (Awaiting.CONTENT, Verdict.APPROVED): _COMPLETE,
    (Awaiting.CONTENT, Verdict.REJECTED): _BACK,
    (Awaiting.ESCALATION, Verdict.APPROVED): _BACK,
    (Awaiting.ESCALATION, Verdict.REJECTED): _CANCEL,
    (Awaiting.CHECKPOINT, Verdict.APPROVED): _BACK,
    (Awaiting.CHECKPOINT, Verdict.REJECTED): _BACK,
}


def finish(task: Task, request: Request, passed: Awaiting | None = None) -> Task:
    """End a task's own work: done, at its gate, or completed (behaviour 2.1). `passed` is the approved gate."""
    free = replace(task, claim=None, awaiting=None, start=None, closed_reason="", escalations=0)
    if request.open_subtasks:
        return replace(free, status=Status.DONE)
    if free.requires and (passed is None or passed.value != free.requires.value):
        wait = waiting(Awaiting(free.requires.value), request, at_gate(free.requires))
        return replace(free, status=Status.IN_PROGRESS, awaiting=wait)
    return replace(free, status=Status.COMPLETED, completed_at=request.now)


def wait_in_words(wait: Wait) -> str:
    """Return a wait as text, without a reason that only repeats the gate."""
    return str(wait.kind) if wait.reason == at_gate(wait.kind) else wait.words


def at_gate(gate: str) -> str:
    """Return the reason of a wait at a declared gate after complete work."""
    return f"Work complete, requires {gate}"


def hand_back(task: Task, request: Request) -> Task:
    """Make a task pending and free for anybody. It keeps its start time, and so is offered first.

    A task that nobody has worked on since it was last free keeps its reservation (behaviour 2.16).
    """
    free = replace(
        task,
        status=Status.PENDING,
        assignee=task.assignee if task.claimed_at is None else None,
        claim=None,
        claimed_at=None,
        awaiting=None,
        session=None,
        open_before=None,
        review_cycles=0,
        closed_reason="",
    )
    return held(free, request.caller.agent_id, request.now) if free.unagreed else free


def held(task: Task, by: str, now: datetime) -> Task:
    """Let a task wait for approval of its agent-made command, bound to the exact text (behaviour 2.9)."""
    wait = Wait(kind=Awaiting.ESCALATION, since=now, by=by, reason=AGENT_COMMAND)
    return replace(task, unagreed=True, awaiting=wait)


def waiting(kind: Awaiting, request: Request, reason: str) -> Wait:
    """Return a wait for a person that begins now."""
    return Wait(kind=kind, since=request.now, by=request.caller.agent_id, reason=reason)
