"""The effect of each act on a task. The table in `lifecycle` decides on permission."""

from collections.abc import Callable
from datetime import datetime

from msgspec.structs import replace

from pro0.model.caller import Who
from pro0.model.ids import HUMAN, LEAD
from pro0.model.task import SETTLED, Awaiting, Claim, Policy, StartWish, Status, Task, Verdict
from pro0.rules.tasks.acts import Act, Request
from pro0.rules.tasks.gates import MATRIX, Outcome, finish, hand_back, waiting

OWN_SESSION = frozenset({Policy.SUPERVISED, Policy.DISPATCH})
"""The policies with one session per task. When such a session dies, its task has failed."""

RETURNS = 3
"""Releases in a row by a task's own sessions before a person is asked. Each new session costs money."""
ESCALATIONS = 3
"""Approvals of an escalation without progress before the next one ends the task. Each costs a session."""
_BETWEEN_RETURNS = frozenset({Act.START, Act.CLAIM, Act.UNDO_START, Act.DIED})


def claim(task: Task, request: Request) -> Task:
    """Grant the claim to a session or a person, in the next epoch of the task."""
    holder, epoch = request.holder or request.caller, task.epoch + 1
    new = Claim(agent_id=holder.agent_id, incarnation=holder.incarnation, epoch=epoch, claimed_at=request.now)
    return replace(
        task,
        status=Status.IN_PROGRESS,
        assignee=holder.agent_id,
        epoch=epoch,
        claim=new,
        session=holder.incarnation,
        start=None,
        awaiting=None,
        claimed_at=request.now,
        started_at=task.started_at or request.now,
        closed_reason="",
    )


def undo_start(task: Task, request: Request) -> Task:
    """Undo a failed start: put the task back into its earlier state."""
    started = next(entry for entry in reversed(task.history) if entry.act == Act.START)
    if started.from_ is Status.DONE:
        return replace(task, status=Status.DONE, claim=None, session=None)
    # A first start without a session must not move the task to the front of `next`.
    is_first_start = task.claim is not None and task.started_at == task.claim.claimed_at
    return replace(hand_back(task, request), started_at=None if is_first_start else task.started_at)


def wish(task: Task, request: Request) -> Task:
    """Record a person's wish for a session. Without a declared policy the task becomes supervised (behaviour 2.19)."""
    start = StartWish(by=request.caller.agent_id, at=request.now, agent=request.agent)
    return replace(task, start=start, policy=task.policy if request.policy else Policy.SUPERVISED)


def assign(task: Task, request: Request) -> Task:
    """Reserve a task, or drop its reservation. One reserved for a member gets no session of its own."""
    return replace(task, assignee=request.assignee, start=None if request.assignee else task.start)


def unreserve(task: Task, _request: Request) -> Task:
    """Drop the reservation of an ended member."""
    return replace(task, assignee=None) if task.assignee and is_reserved(task, task.assignee) else task


def complete(task: Task, request: Request) -> Task:
    """End the work of a claim. A supervised parent keeps its claim during its wait for subtasks."""
    worked = replace(task, result=request.text or task.result)
    if request.open_subtasks and request.policy is Policy.SUPERVISED:
        return _wait_for_subtasks(worked, request)
    return finish(worked, request)


def release(task: Task, request: Request) -> Task:
    """Hand a task back. After RETURNS releases in a row by its own sessions it waits for a person."""
    by_its_session = request.policy in OWN_SESSION and request.caller.who is Who.MEMBER
    if not by_its_session or _returns(task) + 1 < RETURNS:
        return hand_back(task, request)
    reason = f"given back {RETURNS} times in a row: {request.text}".rstrip(": ")
    return _escalate(task, request, reason)


def hand_off(task: Task, request: Request) -> Task:
    """Hand a task off to a person, for a reason."""
    if request.kind is Awaiting.ESCALATION:
        return _escalate(task, request, request.text)
    return replace(task, claim=None, escalations=0, awaiting=waiting(request.kind, request, request.text))


def fail(task: Task, request: Request) -> Task:
    """Mark a task as failed."""
    return replace(task, status=Status.FAILED, claim=None, closed_reason=request.text)


def died(task: Task, request: Request) -> Task:
    """Take away the claim of a dead session. A task with its own session fails with it."""
    if task.status is Status.DONE:
        return replace(unreserve(task, request), claim=None)
    return (fail if request.policy in OWN_SESSION else hand_back)(task, request)


def hold(task: Task, request: Request) -> Task:
    """Let a task wait for a person, before or instead of an agent's work."""
    return replace(task, start=None, awaiting=waiting(request.kind, request, request.text))


def approve(task: Task, request: Request) -> Task:
    """Apply the matrix to an approval. Approval of an escalation is agreement to the command too."""
    kind = _kind(task)
    if MATRIX[kind, Verdict.APPROVED] is Outcome.COMPLETE:
        return finish(task, request, passed=kind)
    if kind is Awaiting.ESCALATION:
        task = replace(task, unagreed=False, escalations=task.escalations + (not task.unagreed))
    return _go_on(task, request)


def reject(task: Task, request: Request) -> Task:
    """Apply the matrix to a rejection."""
    return (cancel if MATRIX[_kind(task), Verdict.REJECTED] is Outcome.CANCEL else _go_on)(task, request)


def close(task: Task, request: Request) -> Task:
    """Complete a task as it is. A task with a gate waits at its gate."""
    return finish(replace(task, result=request.text or task.result), request)


def cancel(task: Task, request: Request) -> Task:
    """Cancel a task, with its claim, its wait and its wish for a start."""
    return replace(task, status=Status.CANCELLED, claim=None, awaiting=None, start=None, closed_reason=request.text)


def settle(task: Task, request: Request) -> Task:
    """Finish a parent without open subtasks."""
    return finish(task, request)


def review(task: Task, request: Request) -> Task:
    """Let a parent's session review its subtasks. The clock of its claim runs again."""
    running = replace(task.claim, since=request.now) if task.claim else None
    return replace(task, status=Status.IN_PROGRESS, claim=running)


def reopen(task: Task, request: Request) -> Task:
    """Reopen a settled task from the beginning, without its result.

    Its reservation is dropped: the member may have ended meanwhile, and such an end does not change settled tasks.
    """
    return replace(hand_back(task, request), assignee=None, completed_at=None, result=None, escalations=0)


def is_reserved(task: Task, agent_id: str) -> bool:
    """Return True for an open task that waits for this member, who has not begun it (behaviour 2.16)."""
    free = task.claim is None and task.status not in SETTLED
    return free and task.assignee == agent_id and (task.status is Status.PENDING or task.claimed_at is None)


def seconds_worked(claim: Claim, now: datetime, at: Callable[[datetime], datetime] = lambda stamp: stamp) -> float:
    """Return the seconds of work within a claim, for a task in progress only. `at` converts a stored moment."""
    return claim.worked + (now - at(claim.since or claim.claimed_at)).total_seconds()


def _returns(task: Task) -> int:
    """Count the latest releases of a task by members, in a row."""
    times = 0
    for entry in reversed(task.history):
        if entry.act == Act.RELEASE and entry.actor not in (HUMAN, LEAD):
            times += 1
        elif entry.act in tuple(Act) and entry.act not in _BETWEEN_RETURNS:
            break
    return times


def _wait_for_subtasks(task: Task, request: Request) -> Task:
    """Wait for subtasks with the claim. Too many reviews in a row without progress go to a person (behaviour 2.7)."""
    # Progress means fewer open subtasks than at the completion before.
    stuck = task.open_before is not None and request.open_subtasks >= task.open_before
    cycles = task.review_cycles + 1 if stuck else 0
    progress = task.open_before is not None and not stuck
    counted = replace(
        task,
        review_cycles=cycles,
        open_before=request.open_subtasks,
        escalations=0 if progress else task.escalations,
    )
    if cycles > request.cycles:
        reason = f"{cycles} reviews in a row without progress, more than maxReviewCycles ({request.cycles})"
        return _escalate(counted, request, reason)
    paused = replace(task.claim, worked=seconds_worked(task.claim, request.now)) if task.claim else None
    return replace(counted, status=Status.DONE, claim=paused, waits_for=())


def _escalate(task: Task, request: Request, reason: str) -> Task:
    """Let a task wait for a person with an escalation. The next after ESCALATIONS approved ones ends it."""
    if task.escalations < ESCALATIONS:
        return replace(task, claim=None, awaiting=waiting(Awaiting.ESCALATION, request, reason))
    why = f"escalated again after {task.escalations} approvals without progress: {reason}".rstrip(": ")
    return replace(fail(task, request), closed_reason=why, escalations=0)


def _go_on(task: Task, request: Request) -> Task:
    """Hand a task back to the session that asked, or to anybody if that session is over."""
    back = hand_back(task, request)
    return claim(back, request) if request.holder and not back.awaiting else back


def _kind(task: Task) -> Awaiting:
    assert task.awaiting is not None  # the table looks verdicts up under AWAITING only
    return task.awaiting.kind
