"""What a human's verdict does, and what stands between work that is complete and a task that is (behaviour 2.1, 2.13).

Laws:

* A gate (`requires`) is passed by an approval of that very gate, and by nothing else: whatever else would complete the
  task makes it wait for the gate.
* A command that an agent made is run by nobody before a human has approved it (2.9): handed back, such a task waits.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from msgspec.structs import replace

from pro0.model.task import Awaiting, Status, Task, Verdict, Wait
from pro0.rules.tasks.acts import Request

AGENT_COMMAND = "agent-made command"


class Outcome(StrEnum):
    """What a verdict makes of a task."""

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
    """Return a task whose own work is over: done, at its gate, or completed (behaviour 2.1); `passed` was approved."""
    free = replace(task, claim=None, awaiting=None, closed_reason="")
    if request.open_subtasks:
        return replace(free, status=Status.DONE)
    if free.requires and (passed is None or passed.value != free.requires.value):
        wait = waiting(Awaiting(free.requires.value), request, at_gate(free.requires))
        return replace(free, status=Status.IN_PROGRESS, awaiting=wait)
    return replace(free, status=Status.COMPLETED, completed_at=request.now)


def wait_in_words(wait: Wait) -> str:
    """Return what a task waits for, without a reason that only repeats its gate."""
    return str(wait.kind) if wait.reason == at_gate(wait.kind) else wait.words


def at_gate(gate: str) -> str:
    """Return why a task waits whose work is complete, and whose gate was declared before."""
    return f"Work complete, requires {gate}"


def hand_back(task: Task, request: Request) -> Task:
    """Return a task that is anybody's again; when it was started is kept, so that it is offered first."""
    free = replace(
        task,
        status=Status.PENDING,
        assignee=None,
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
    """Return a task that waits since its command is an agent's, bound to its exact text (behaviour 2.9)."""
    wait = Wait(kind=Awaiting.ESCALATION, since=now, by=by, reason=AGENT_COMMAND)
    return replace(task, unagreed=True, awaiting=wait)


def waiting(kind: Awaiting, request: Request, reason: str) -> Wait:
    """Return that a task waits for a human from now on."""
    return Wait(kind=kind, since=request.now, by=request.caller.agent_id, reason=reason)
