"""What each act makes of a task; whether it may be done is for the table in `lifecycle` to say."""

from collections.abc import Callable
from datetime import datetime

from msgspec.structs import replace

from pro0.model.caller import Who
from pro0.model.ids import HUMAN, LEAD
from pro0.model.task import Awaiting, Claim, Policy, StartWish, Status, Task, Verdict
from pro0.rules.tasks.acts import Act, Request
from pro0.rules.tasks.gates import MATRIX, Outcome, finish, hand_back, waiting

OWN_SESSION = frozenset({Policy.SUPERVISED, Policy.DISPATCH})
"""The policies whose sessions are opened for one task: when such a session dies, its task has failed."""

RETURNS = 3
"""How often in a row sessions of its own may give a task back: each time another one is opened, at somebody's cost."""
_BETWEEN_RETURNS = frozenset({Act.START, Act.CLAIM, Act.UNDO_START, Act.DIED})


def claim(task: Task, request: Request) -> Task:
    """Give the task to a session, or to a human, in its next epoch."""
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
    """Put a task back to where its start, which came to nothing, found it."""
    started = next(entry for entry in reversed(task.history) if entry.act == Act.START)
    if started.from_ is Status.DONE:
        return replace(task, status=Status.DONE, claim=None, session=None)
    first = task.claim is not None and task.started_at == task.claim.claimed_at
    return replace(hand_back(task, request), started_at=None if first else task.started_at)


def wish(task: Task, request: Request) -> Task:
    """Note that a human wants a session for it: supervised, unless it says otherwise (behaviour 2.19)."""
    wanted = StartWish(by=request.caller.agent_id, at=request.now, agent=request.agent)
    return replace(task, start=wanted, policy=task.policy if request.policy else Policy.SUPERVISED)


def assign(task: Task, request: Request) -> Task:
    """Reserve it, or drop the reservation."""
    return replace(task, assignee=request.assignee)


def unreserve(task: Task, _request: Request) -> Task:
    """Drop the reservation of a member that has ended."""
    return replace(task, assignee=None) if task.status is Status.PENDING else task


def complete(task: Task, request: Request) -> Task:
    """End the work of a claim; a supervised parent keeps its claim while it waits for its subtasks."""
    worked = replace(task, result=request.text or task.result)
    if request.open_subtasks and request.policy is Policy.SUPERVISED:
        return _wait_for_subtasks(worked, request)
    return finish(worked, request)


def release(task: Task, request: Request) -> Task:
    """Hand it back; what its own sessions give back again and again waits for a human."""
    by_its_session = request.policy in OWN_SESSION and request.caller.who is Who.MEMBER
    if not by_its_session or _returns(task) + 1 < RETURNS:
        return hand_back(task, request)
    reason = f"given back {RETURNS} times in a row: {request.text}".rstrip(": ")
    return replace(task, claim=None, awaiting=waiting(Awaiting.ESCALATION, request, reason))


def hand_off(task: Task, request: Request) -> Task:
    """Give it to a human, for a reason."""
    return replace(task, claim=None, awaiting=waiting(request.kind, request, request.text))


def fail(task: Task, request: Request) -> Task:
    """Give it up."""
    return replace(task, status=Status.FAILED, claim=None, closed_reason=request.text)


def died(task: Task, request: Request) -> Task:
    """Take the claim of a dead session away; what had a session of its own has failed with it."""
    if task.status is Status.DONE:
        return replace(task, claim=None)
    return (fail if request.policy in OWN_SESSION else hand_back)(task, request)


def hold(task: Task, request: Request) -> Task:
    """Let it wait for a human, before or instead of what an agent would do."""
    return replace(task, start=None, awaiting=waiting(request.kind, request, request.text))


def approve(task: Task, request: Request) -> Task:
    """Do what the matrix says about an approval; an escalation that is approved agrees to the command too."""
    kind = _kind(task)
    if MATRIX[kind, Verdict.APPROVED] is Outcome.COMPLETE:
        return finish(task, request, passed=kind)
    agreed = replace(task, unagreed=False) if kind is Awaiting.ESCALATION else task
    return hand_back(agreed, request)


def reject(task: Task, request: Request) -> Task:
    """Do what the matrix says about a rejection."""
    return (cancel if MATRIX[_kind(task), Verdict.REJECTED] is Outcome.CANCEL else hand_back)(task, request)


def close(task: Task, request: Request) -> Task:
    """Call it complete as it is, but not past its gate."""
    return finish(replace(task, result=request.text or task.result), request)


def cancel(task: Task, request: Request) -> Task:
    """Give up wanting it."""
    return replace(task, status=Status.CANCELLED, claim=None, awaiting=None, start=None, closed_reason=request.text)


def settle(task: Task, request: Request) -> Task:
    """End a parent that is over."""
    return finish(task, request)


def review(task: Task, request: Request) -> Task:
    """Let a parent's session look at what its subtasks made; its clock goes on."""
    running = replace(task.claim, since=request.now) if task.claim else None
    return replace(task, status=Status.IN_PROGRESS, claim=running)


def reopen(task: Task, request: Request) -> Task:
    """Want it again, from the beginning."""
    return replace(hand_back(task, request), completed_at=None, result=None)


def seconds_worked(claim: Claim, now: datetime, at: Callable[[datetime], datetime] = lambda stamp: stamp) -> float:
    """Return how long a claim has been worked on; ask only of a task in progress. `at` reads a stored moment."""
    return claim.worked + (now - at(claim.since or claim.claimed_at)).total_seconds()


def _returns(task: Task) -> int:
    """Return how often in a row, up to now, a member has given it back."""
    times = 0
    for entry in reversed(task.history):
        if entry.act == Act.RELEASE and entry.actor not in (HUMAN, LEAD):
            times += 1
        elif entry.act in tuple(Act) and entry.act not in _BETWEEN_RETURNS:
            break
    return times


def _wait_for_subtasks(task: Task, request: Request) -> Task:
    """Wait, with the claim; too many reviews in a row without progress go to a human instead (behaviour 2.7)."""
    stuck = task.open_before is not None and request.open_subtasks >= task.open_before
    cycles = task.review_cycles + 1 if stuck else 0
    counted = replace(task, review_cycles=cycles, open_before=request.open_subtasks)
    if cycles > request.cycles:
        reason = f"{cycles} reviews in a row without progress, more than maxReviewCycles ({request.cycles})"
        return replace(counted, claim=None, awaiting=waiting(Awaiting.ESCALATION, request, reason))
    paused = replace(task.claim, worked=seconds_worked(task.claim, request.now)) if task.claim else None
    return replace(counted, status=Status.DONE, claim=paused, waits_for=())


def _kind(task: Task) -> Awaiting:
    assert task.awaiting is not None  # the table looks verdicts up under AWAITING only
    return task.awaiting.kind
