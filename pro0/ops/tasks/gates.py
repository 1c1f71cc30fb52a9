"""Tasks in need of a human, and the human's acts: verdicts, holds, and the fate of failed tasks."""

from msgspec.structs import replace

from pro0.errors import ErrorCode, Refused
from pro0.model.caller import HUMAN_ONLY, IN_CHARGE, PEOPLE_AND_AGENTS, THE_HUMAN, Caller, Who
from pro0.model.ids import HUMAN, task_id
from pro0.model.run import RUNNER
from pro0.model.runtime import ENDED
from pro0.model.task import Awaiting, Policy, Task, TaskList, Verdict
from pro0.model.team import Seat, Wish
from pro0.ops.context import Context, operation
from pro0.ops.mail.delivery import is_told_of_mail
from pro0.ops.tasks.acting import act, carry_out, edit, in_turn, make_request
from pro0.rules.tasks import changes
from pro0.rules.tasks.acts import Act, Request
from pro0.rules.tasks.board import Board


@operation("task.approve", HUMAN_ONLY, verdict=True)
def approve(context: Context, id: str, said: str = "") -> Task:
    """Approve a waiting task, which then is complete, waits at its gate, or is handed back (behaviour 2.13)."""
    return _answer(context, id, Act.APPROVE, said)


@operation("task.reject", HUMAN_ONLY, verdict=True)
def reject(context: Context, id: str, feedback: str = "") -> Task:
    """Reject a waiting task; feedback and verdict are one write (behaviour 2.13)."""
    return _answer(context, id, Act.REJECT, feedback)


@operation("task.hold", HUMAN_ONLY)
def hold(context: Context, id: str, kind: Awaiting, reason: str = "") -> Task:
    """Let a task wait for a human before anybody works on it."""
    return carry_out(context, id, replace(make_request(context, Act.HOLD, reason), kind=kind))


@operation("task.clear", HUMAN_ONLY, verdict=True)
def clear(context: Context, id: str, said: str = "") -> Task:
    """Hand a task that waits back without a verdict."""
    return carry_out(context, id, told(context, make_request(context, Act.CLEAR, said)))


@operation("task.hand_off", PEOPLE_AND_AGENTS)
def hand_off(context: Context, id: str, kind: Awaiting, reason: str = "") -> Task:
    """Give the caller's own task to a human, for a reason; the claim ends."""
    return carry_out(context, id, replace(make_request(context, Act.HAND_OFF, reason), kind=kind))


def usual_kind(context: Context, id: str) -> Awaiting:
    """Return the default wait of a task: in a tree it is an answer, which hands the task back."""
    tasks = context.team.require().tasks.read()
    policy = Board(tasks.tasks).declared(changes.find(tasks, task_id(id)))
    return Awaiting.INPUT if policy is Policy.SUPERVISED else Awaiting.REVIEW


@operation("task.retry", IN_CHARGE)
def retry(context: Context, id: str, said: str = "") -> Task:
    """Make a failed task pending again."""
    return act(context, id, Act.RETRY, said)


@operation("task.close", HUMAN_ONLY, verdict=True)
def close(context: Context, id: str, result: str = "") -> Task:
    """Complete a failed or waiting task; a gated task waits at its gate instead (behaviour 2.1)."""
    request = told(context, make_request(context, Act.CLOSE, result))
    return at_the_gate(context, carry_out(context, id, request))


@operation("task.continue", HUMAN_ONLY, verdict=True)
def go_on(context: Context, id: str, said: str = "") -> Task:
    """Hand a failed or waiting task back to its last session; raises Refused if that session is over."""
    request = make_request(context, Act.CONTINUE, said)

    def change_it(tasks: TaskList) -> tuple[TaskList, Task]:
        session = _last_session(context, changes.find(tasks, task_id(id)))
        return changes.act(tasks, task_id(id), replace(in_turn(context, request), holder=session))

    return edit(context, Act.CONTINUE, id, change_it, with_relatives=True)


def _answer(context: Context, id: str, verb: Act, reason: str) -> Task:
    """Give a verdict. A returned task goes on in the session that asked, if that session lives and can be told."""
    request = make_request(context, verb, reason)

    def change_it(tasks: TaskList) -> tuple[TaskList, Task]:
        hearers = _hearers(context)
        session = changes.find(tasks, task_id(id)).session or ""
        holder = Caller(Who.MEMBER, hearers[session], session) if session in hearers else None
        return changes.act(tasks, task_id(id), replace(in_turn(context, request), holder=holder, hearers=hearers))

    return edit(context, verb, id, change_it)


def answer(context: Context, id: str, verdict: Verdict, reason: str = "") -> Task:
    """Give a verdict, as `task update --verdict` does."""
    return (approve if verdict is Verdict.APPROVED else reject)(context, id, reason)


def at_the_gate(context: Context, task: Task) -> Task:
    """Return a task; raises Refused when a human's act, which is done, has left it at its gate."""
    kind = task.awaiting.kind.value if task.awaiting else None
    if context.caller.who is Who.HUMAN and task.requires and task.requires.value == kind:
        hint = f"pro0 task approve {task.id}, or pro0 task reject {task.id} FEEDBACK"
        raise Refused(f"{task.id} requires {task.requires}, and now waits for it", code=ErrorCode.GATED, hint=hint)
    return task


def await_human(context: Context, id: str, kind: Awaiting, reason: str = "") -> Task:
    """Let a task wait for a human: hand off the caller's own task, else hold it; agents may only hand off."""
    claim, caller = changes.find(context.team.require().tasks.read(), task_id(id)).claim, context.caller
    mine = claim is not None and (claim.agent_id, claim.incarnation) == (caller.agent_id, caller.incarnation)
    return (hand_off if mine or caller.who is not Who.HUMAN else hold)(context, id, kind, reason)


def told(context: Context, request: Request) -> Request:
    """Return a person's request with the sessions that are told when it is about their task."""
    return replace(request, hearers=_hearers(context))


def _hearers(context: Context) -> dict[str, str]:
    """Return the living sessions that can go on with a task after a message: the member of each incarnation."""
    wishes = context.team.wanted.read()
    if wishes.wish is Wish.STOP:
        return {}
    able = {seat.agent_id for seat in wishes.seats if _goes_on(seat)}
    living = (state for state in context.team.runtime.read().seats if state.state not in ENDED)
    return {state.incarnation: state.agent_id for state in living if state.agent_id in able}


def _goes_on(seat: Seat) -> bool:
    """Return True for a session that takes up a task by a message; runners and shells of a pool take only new ones."""
    if seat.agent == RUNNER or (seat.agent == "shell" and not seat.task):
        return False
    return is_told_of_mail(seat)


def _last_session(context: Context, task: Task) -> Caller:
    """Return the session of the last claim; raises Refused when it cannot go on."""
    if task.session == HUMAN:
        return THE_HUMAN
    for seat in context.team.runtime.read().seats:
        if seat.incarnation == task.session and seat.state not in ENDED:
            return Caller(Who.MEMBER, seat.agent_id, seat.incarnation)
    hint = f"pro0 task retry {task.id}"
    raise Refused(f"the session that worked on {task.id} has ended", code=ErrorCode.NO_SESSION, hint=hint)
