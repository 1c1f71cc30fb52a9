"""May a task go from this phase to that one? The one table of transitions (rulings 2).

Laws:

* A task is in exactly one phase. The phase follows from what is stored: status, `awaiting` and `claim`.
* An act is looked up under (phase, act). An act that is not in the table is refused and changes nothing.
* A claim exists exactly in the phase WORKING, and `epoch` counts the claims a task has had.
* Every act that changes a task adds one history entry, which also carries the act's text.
* Settled is COMPLETED, FAILED or CANCELLED. Only reopen leaves it, and only a human reopens.
* Who may do it is in the same row: a member that is named there acts on its own claim when `own` is set.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from pro0.errors import Refused
from pro0.model.caller import HUMAN_ONLY, IN_CHARGE, LEAD_ONLY, PEOPLE_AND_AGENTS, Caller, Who
from pro0.model.task import SETTLED, Awaiting, Claim, Entry, Kind, Status, Task, Wait


class Phase(StrEnum):
    """The row of the table a task stands in."""

    PENDING = "pending"
    WORKING = "in progress"
    AWAITING = "awaiting a human"
    DONE = "done"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Act(StrEnum):
    """What can be done to a task."""

    CLAIM = "claim"
    ASSIGN = "assign"
    RELEASE = "release"
    COMPLETE = "complete"
    FAIL = "fail"
    DIED = "died"
    CANCEL = "cancel"
    REOPEN = "reopen"
    SETTLE = "settle"


PAST = {
    Act.CLAIM: "claimed",
    Act.ASSIGN: "assigned",
    Act.RELEASE: "released",
    Act.COMPLETE: "completed",
    Act.FAIL: "failed",
    Act.DIED: "freed",
    Act.CANCEL: "cancelled",
    Act.REOPEN: "reopened",
    Act.SETTLE: "settled",
}


class Request(msgspec.Struct, frozen=True):
    """One act on one task, with all that its effect needs."""

    act: Act
    caller: Caller
    now: datetime
    text: str = ""
    assignee: str | None = None
    open_subtasks: int = 0


Effect = Callable[[Task, Request], Task]


class Step(msgspec.Struct, frozen=True):
    """One cell: who may do it, whether a member needs its own claim, and what it does."""

    by: frozenset[Who]
    effect: Effect
    own: bool = False


def phase(task: Task) -> Phase:
    """Return the phase of a task."""
    if task.status in SETTLED:
        return Phase(task.status.value)
    if task.awaiting:
        return Phase.AWAITING
    if task.status is Status.DONE:
        return Phase.DONE
    return Phase.PENDING if task.status is Status.PENDING else Phase.WORKING


def advance(task: Task, request: Request) -> Task:
    """Return the task after the act, with its history entry; raises Refused when it is not allowed."""
    if _repeats_its_completion(task, request):
        return task
    step = TRANSITIONS.get((phase(task), request.act))
    if step is None:
        raise _not_in_the_table(task, request)
    _permit(task, step, request)
    return record(task, step.effect(task, request), request)


def record(before: Task, after: Task, request: Request) -> Task:
    """Return `after` with the history entry of this act."""
    caller = request.caller
    entry = Entry(
        at=request.now,
        actor=caller.agent_id,
        act=request.act,
        from_=before.status,
        to=after.status,
        text=request.text,
        incarnation=caller.incarnation if caller.incarnation != caller.agent_id else None,
    )
    return replace(after, updated_at=request.now, history=(*after.history, entry))


def _claim(task: Task, request: Request) -> Task:
    caller, epoch = request.caller, task.epoch + 1
    return replace(
        task,
        status=Status.IN_PROGRESS,
        assignee=caller.agent_id,
        epoch=epoch,
        claim=Claim(agent_id=caller.agent_id, incarnation=caller.incarnation, epoch=epoch, claimed_at=request.now),
        claimed_at=request.now,
        started_at=task.started_at or request.now,
    )


def _assign(task: Task, request: Request) -> Task:
    return replace(task, assignee=request.assignee)


def _hand_back(task: Task, _request: Request) -> Task:
    return replace(task, status=Status.PENDING, assignee=None, claim=None, claimed_at=None)


def _unreserve(task: Task, _request: Request) -> Task:
    return replace(task, assignee=None) if task.status is Status.PENDING else task


def _complete(task: Task, request: Request) -> Task:
    worked = replace(task, claim=None, result=request.text or task.result)
    if request.open_subtasks:
        return replace(worked, status=Status.DONE)
    return _finish(worked, request)


def _finish(task: Task, request: Request) -> Task:
    if task.requires:
        reason = f"Work complete, requires {task.requires}"
        wait = Wait(kind=Awaiting(task.requires.value), since=request.now, by=request.caller.agent_id, reason=reason)
        return replace(task, status=Status.IN_PROGRESS, awaiting=wait)
    return replace(task, status=Status.COMPLETED, completed_at=request.now)


def _fail(task: Task, request: Request) -> Task:
    return replace(task, status=Status.FAILED, claim=None, closed_reason=request.text)


def _cancel(task: Task, request: Request) -> Task:
    held = task.awaiting if task.status is Status.PENDING else None  # a command nobody agreed to is that when reopened
    return replace(task, status=Status.CANCELLED, claim=None, awaiting=held, closed_reason=request.text)


def _reopen(task: Task, _request: Request) -> Task:
    return replace(
        task, status=Status.PENDING, assignee=None, claimed_at=None, completed_at=None, result=None, closed_reason=""
    )


_AFTER_COMPLETE = (Phase.AWAITING, Phase.DONE, Phase.COMPLETED)
_OWNER_LEAD_HUMAN = PEOPLE_AND_AGENTS | LEAD_ONLY

TRANSITIONS: Mapping[tuple[Phase, Act], Step] = {
    (Phase.PENDING, Act.CLAIM): Step(PEOPLE_AND_AGENTS, _claim),
    (Phase.PENDING, Act.ASSIGN): Step(IN_CHARGE, _assign),
    (Phase.PENDING, Act.DIED): Step(LEAD_ONLY, _hand_back),
    (Phase.PENDING, Act.CANCEL): Step(IN_CHARGE, _cancel),
    (Phase.PENDING, Act.SETTLE): Step(LEAD_ONLY, _finish),
    (Phase.WORKING, Act.RELEASE): Step(_OWNER_LEAD_HUMAN, _hand_back, own=True),
    (Phase.WORKING, Act.COMPLETE): Step(PEOPLE_AND_AGENTS, _complete, own=True),
    (Phase.WORKING, Act.FAIL): Step(_OWNER_LEAD_HUMAN, _fail, own=True),
    (Phase.WORKING, Act.DIED): Step(LEAD_ONLY, _hand_back),
    (Phase.WORKING, Act.CANCEL): Step(IN_CHARGE, _cancel),
    (Phase.AWAITING, Act.CANCEL): Step(IN_CHARGE, _cancel),
    (Phase.AWAITING, Act.DIED): Step(LEAD_ONLY, _unreserve),
    (Phase.DONE, Act.SETTLE): Step(LEAD_ONLY, _finish),
    (Phase.DONE, Act.CANCEL): Step(IN_CHARGE, _cancel),
    (Phase.COMPLETED, Act.REOPEN): Step(HUMAN_ONLY, _reopen),
    (Phase.FAILED, Act.REOPEN): Step(HUMAN_ONLY, _reopen),
    (Phase.CANCELLED, Act.REOPEN): Step(HUMAN_ONLY, _reopen),
}


def _permit(task: Task, step: Step, request: Request) -> None:
    caller, act = request.caller, request.act
    if caller.who not in step.by:
        allowed = " or ".join(sorted(who.replace("_", " ") for who in step.by))
        raise Refused(f"{caller.agent_id} may not {act} {task.id}: only {allowed} may", code="not_allowed")
    if step.own and caller.who in (Who.MEMBER, Who.LEAD_AGENT):
        _own_claim(task, request)
    if act is Act.CANCEL and caller.who is Who.LEAD_AGENT and (task.requires or task.awaiting):
        raise Refused(f"{task.id} is gated: only a human may cancel it", code="not_allowed")


def _own_claim(task: Task, request: Request) -> None:
    claim, caller = task.claim, request.caller
    if claim and claim.agent_id != caller.agent_id:
        raise Refused(f"{task.id} is claimed by {claim.agent_id}, not by {caller.agent_id}", code="not_owner")
    if not claim or claim.incarnation != caller.incarnation:
        raise Refused(
            f"stale claim: {task.id} was claimed again since (epoch {task.epoch})",
            code="stale_claim",
            hint=f"see who holds it: pro0 task show {task.id}",
        )


def _repeats_its_completion(task: Task, request: Request) -> bool:
    """Return whether the claim of this caller has completed the task already, whatever followed from that."""
    if request.act is not Act.COMPLETE or phase(task) not in _AFTER_COMPLETE:
        return False
    last = next((entry for entry in reversed(task.history) if entry.act in (Act.CLAIM, Act.COMPLETE)), None)
    by = (request.caller.agent_id, request.caller.incarnation)
    return last is not None and last.act == Act.COMPLETE and (last.actor, last.incarnation or last.actor) == by


def _not_in_the_table(task: Task, request: Request) -> Refused:
    now, act = phase(task), request.act
    if now is Phase.WORKING and act is Act.CLAIM and task.claim:
        return Refused(
            f"{task.id} is claimed by {task.claim.agent_id} (epoch {task.claim.epoch})",
            code="conflict",
            hint="take another one: pro0 task next",
        )
    kind = "epic" if task.type is Kind.EPIC else "task"
    hint = f"see it: pro0 task show {task.id}"
    return Refused(f"{task.id} is {now}: a {kind} that is {now} cannot be {PAST[act]}", code="wrong_phase", hint=hint)
