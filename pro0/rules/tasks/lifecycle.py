"""The life of a task: one table of transitions between phases (behaviour 2.1 to 2.16).

Theory of operation
===================

A task is in exactly one of seven phases. The phase is derived from the stored status and from `awaiting`; it is never
stored. PENDING means nobody works on the task. WORKING means it is in progress. AWAITING means it waits for a person.
DONE means its own work is complete, but subtasks were still open. COMPLETED, FAILED and CANCELLED are settled.

Acts change the phase. Only creation, import, repair and the hold on an agent-made command (behaviour 2.9) set one
directly. `advance` looks an act up under (phase, act). An act missing from the table raises Refused and changes
nothing. A cell names the permitted callers, the effect, and the callers in need of their own claim. Every act that
changes the task adds one history entry with its author, its time and its text.

A person may do every act except the lead's. Verdicts (approve, reject), hold, clear, continue, close, wish and reopen
are a person's alone. The lead agent assigns, cancels and retries. It cancels no gated or awaiting task, and retries
only tasks of a pool. Any agent claims ready tasks. It completes, releases, fails or hands off the task of its own claim
only; a person too hands off only their own. The lead starts tasks, undoes starts, frees tasks of dead sessions, settles
parents and begins reviews. A person also completes what nobody has claimed, when nothing below it is open. The lead may
also release and fail tasks. Only a person leaves COMPLETED and CANCELLED, by reopen.

A claim is the right of one session, or of a person, to work on one task. It exists in WORKING, and in DONE while a
supervised session waits for its subtasks. A claim ends by an act, and by the clock only at the limit of behaviour 2.7.
The same agent may come back in a new session, and the same session may claim the same task twice. So a claim carries
the agent, the session's incarnation and an epoch. The epoch counts the claims of the task and never falls. A late call
of an older session has the wrong incarnation and is refused as stale. A late expiry names the wrong epoch and does
nothing. A second completion with one claim changes nothing either.

A gate is the task's own demand for one kind of approval (`requires`). A gated task with complete work and no open
subtask goes to AWAITING, without a claim. Only an approval of that very gate completes it. `gates` maps each verdict to
its outcome: some complete the task, some hand it back to PENDING, and some cancel it.

Parents settle by themselves, in the same write as the act behind it (`changes.follow`). A parent in DONE finishes once
no subtask is open: it is completed, or waits at its gate. A supervised parent does not; its session reviews first. An
epic with subtasks finishes the same way, straight from PENDING. A reopened epic does so once a subtask changes.

`effects` holds the effect of each act. `board` decides on readiness, and `changes` applies an act to the whole list.
"""

from collections.abc import Callable, Mapping

import msgspec

from pro0.errors import ErrorCode, Refused
from pro0.model.caller import HUMAN_ONLY, IN_CHARGE, LEAD_ONLY, PEOPLE_AND_AGENTS, Who
from pro0.model.task import Kind, Policy, Status, Task
from pro0.rules.tasks import answers, effects
from pro0.rules.tasks.acts import GRANTS, PAST, Act, Request, TaskPhase, newest_act, noted, phase
from pro0.rules.tasks.gates import at_gate, hand_back
from pro0.rules.words.acts import callers

Effect = Callable[[Task, Request], Task]

AGENTS = frozenset({Who.MEMBER, Who.LEAD_AGENT})
NOBODY: frozenset[Who] = frozenset()


class Step(msgspec.Struct, frozen=True):
    """One cell of the table: the permitted callers, the effect, and the callers in need of their own claim."""

    by: frozenset[Who]
    effect: Effect
    own: frozenset[Who] = NOBODY


def advance(task: Task, request: Request) -> Task:
    """Apply an act to a task and add its history entry, or raise Refused."""
    if _repeats_its_completion(task, request) or _clears_nothing(task, request) or _closes_at_its_gate(task, request):
        return task
    step = TRANSITIONS.get((phase(task), request.act))
    if step is None:
        raise _not_in_the_table(task, request)
    _permit(task, step, request)
    return noted(step.effect(task, request), task, request)


_RENEW = frozenset({*GRANTS, Act.APPROVE, Act.REJECT, Act.REVIEW, Act.HAND_OFF, Act.COMPLETE})
"""The acts that may begin or end one claim's work; a repeated completion repeats the newest of them."""
_AFTER_COMPLETE = (TaskPhase.AWAITING, TaskPhase.DONE, TaskPhase.COMPLETED)
_ANYONE = PEOPLE_AND_AGENTS | LEAD_ONLY

TRANSITIONS: Mapping[tuple[TaskPhase, Act], Step] = {
    (TaskPhase.PENDING, Act.CLAIM): Step(PEOPLE_AND_AGENTS, effects.claim),
    (TaskPhase.PENDING, Act.START): Step(LEAD_ONLY, effects.claim),
    (TaskPhase.PENDING, Act.WISH): Step(HUMAN_ONLY, effects.wish),
    (TaskPhase.PENDING, Act.ASSIGN): Step(IN_CHARGE, effects.assign),
    (TaskPhase.PENDING, Act.COMPLETE): Step(HUMAN_ONLY, effects.close),
    (TaskPhase.PENDING, Act.CLOSE): Step(HUMAN_ONLY, effects.close),
    (TaskPhase.PENDING, Act.DIED): Step(LEAD_ONLY, effects.unreserve),
    (TaskPhase.PENDING, Act.HOLD): Step(HUMAN_ONLY, effects.hold),
    (TaskPhase.PENDING, Act.CANCEL): Step(IN_CHARGE, effects.cancel),
    (TaskPhase.PENDING, Act.SETTLE): Step(LEAD_ONLY, effects.settle),
    (TaskPhase.WORKING, Act.UNDO_START): Step(LEAD_ONLY, effects.undo_start),
    (TaskPhase.WORKING, Act.RELEASE): Step(_ANYONE, effects.release, own=AGENTS),
    (TaskPhase.WORKING, Act.COMPLETE): Step(PEOPLE_AND_AGENTS, effects.complete, own=AGENTS),
    (TaskPhase.WORKING, Act.HAND_OFF): Step(PEOPLE_AND_AGENTS, effects.hand_off, own=PEOPLE_AND_AGENTS),
    (TaskPhase.WORKING, Act.FAIL): Step(_ANYONE, effects.fail, own=AGENTS),
    (TaskPhase.WORKING, Act.DIED): Step(LEAD_ONLY, effects.died),
    (TaskPhase.WORKING, Act.CANCEL): Step(IN_CHARGE, effects.cancel),
    (TaskPhase.AWAITING, Act.APPROVE): Step(HUMAN_ONLY, effects.approve),
    (TaskPhase.AWAITING, Act.REJECT): Step(HUMAN_ONLY, effects.reject),
    (TaskPhase.AWAITING, Act.HOLD): Step(HUMAN_ONLY, effects.hold),
    (TaskPhase.AWAITING, Act.CLEAR): Step(HUMAN_ONLY, hand_back),
    (TaskPhase.AWAITING, Act.CONTINUE): Step(HUMAN_ONLY, effects.claim),
    (TaskPhase.AWAITING, Act.CLOSE): Step(HUMAN_ONLY, effects.close),
    (TaskPhase.AWAITING, Act.CANCEL): Step(IN_CHARGE, effects.cancel),
    (TaskPhase.AWAITING, Act.DIED): Step(LEAD_ONLY, effects.unreserve),
    (TaskPhase.DONE, Act.START): Step(LEAD_ONLY, effects.claim),
    (TaskPhase.DONE, Act.WISH): Step(HUMAN_ONLY, effects.wish),
    (TaskPhase.DONE, Act.SETTLE): Step(LEAD_ONLY, effects.settle),
    (TaskPhase.DONE, Act.REVIEW): Step(LEAD_ONLY, effects.review),
    (TaskPhase.DONE, Act.DIED): Step(LEAD_ONLY, effects.died),
    (TaskPhase.DONE, Act.CANCEL): Step(IN_CHARGE, effects.cancel),
    (TaskPhase.FAILED, Act.RETRY): Step(IN_CHARGE, hand_back),
    (TaskPhase.FAILED, Act.CONTINUE): Step(HUMAN_ONLY, effects.claim),
    (TaskPhase.FAILED, Act.CLOSE): Step(HUMAN_ONLY, effects.close),
    (TaskPhase.FAILED, Act.REOPEN): Step(HUMAN_ONLY, effects.reopen),
    (TaskPhase.COMPLETED, Act.REOPEN): Step(HUMAN_ONLY, effects.reopen),
    (TaskPhase.CANCELLED, Act.REOPEN): Step(HUMAN_ONLY, effects.reopen),
}


def _permit(task: Task, step: Step, request: Request) -> None:
    caller, act = request.caller, request.act
    if phase(task) is TaskPhase.PENDING and act in (Act.COMPLETE, Act.CLOSE):
        _ticks_off(task, request)
    if caller.who not in step.by:
        raise _not_for(task, request, step.by)
    if caller.who in step.own:
        _own_claim(task, request)
    if caller.who is Who.LEAD_AGENT:
        _led_by_an_agent(task, request)
    if phase(task) is TaskPhase.DONE and act in (Act.START, Act.WISH) and task.claim:
        raise Refused(
            f"the session of {task.id}, {task.claim.agent_id}, waits for its subtasks",
            code=ErrorCode.CONFLICT,
        )
    if act is Act.REVIEW and not task.claim:
        raise Refused(f"{task.id} has no session that could review", code=ErrorCode.NO_SESSION)
    if act is Act.UNDO_START and newest_act(task) != Act.START:
        raise Refused(f"the newest act on {task.id} was not its start", code=ErrorCode.WRONG_PHASE)
    if act is Act.CONTINUE and task.unagreed:
        raise Refused(f"no human has agreed to the command of {task.id}", hint=f"pro0 task approve {task.id}")


def _led_by_an_agent(task: Task, request: Request) -> None:
    """Refuse a lead agent two acts of a person: cancel of a gated task, and retry outside of a pool."""
    if request.act is Act.CANCEL and (task.requires or task.awaiting):
        raise Refused(f"{task.id} is gated: only a human may cancel it", code=ErrorCode.NOT_ALLOWED)
    if request.act is Act.RETRY and request.policy not in (None, Policy.POOL):
        raise Refused(f"{task.id} is {request.policy}: only a human may retry it", code=ErrorCode.NOT_ALLOWED)


def _ticks_off(task: Task, request: Request) -> None:
    """Refuse agents to complete an unclaimed task, and everybody while a task below it is open."""
    if request.act is Act.COMPLETE and request.caller.who in AGENTS:
        raise _not_in_the_table(task, request, hint=f"claim it first: pro0 task claim {task.id}")
    if request.open_subtasks:
        raise _not_in_the_table(task, request, hint=f"it has open subtasks: pro0 task tree {task.id}")


def _own_claim(task: Task, request: Request) -> None:
    claim, caller = task.claim, request.caller
    if claim and claim.agent_id != caller.agent_id:
        raise Refused(f"{task.id} is claimed by {claim.agent_id}, not by {caller.agent_id}", code=ErrorCode.NOT_OWNER)
    if not claim or claim.incarnation != caller.incarnation:
        raise Refused(
            f"stale claim: {task.id} was claimed again since (epoch {task.epoch})",
            code=ErrorCode.STALE_CLAIM,
            hint=f"see who holds it: pro0 task show {task.id}",
        )


def _repeats_its_completion(task: Task, request: Request) -> bool:
    """Return True for a second completion by the same claim, whatever came of the first."""
    if request.act is not Act.COMPLETE or phase(task) not in _AFTER_COMPLETE:
        return False
    newest = next((entry for entry in reversed(task.history) if entry.act in _RENEW), None)
    by = (request.caller.agent_id, request.caller.incarnation)
    return (
        newest is not None and newest.act == Act.COMPLETE and (newest.actor, newest.incarnation or newest.actor) == by
    )


def _clears_nothing(task: Task, request: Request) -> bool:
    """Return True when a person clears the wait of a task without a wait."""
    human = request.caller.who is Who.HUMAN
    return human and request.act is Act.CLEAR and phase(task) in (TaskPhase.PENDING, TaskPhase.WORKING, TaskPhase.DONE)


def _closes_at_its_gate(task: Task, request: Request) -> bool:
    """Return True when a person closes, with no new result, a task that already waits at its gate."""
    waits_there = bool(task.awaiting and task.requires and task.awaiting.reason == at_gate(task.requires))
    no_news = task.status is Status.IN_PROGRESS and request.text in ("", task.result)
    return waits_there and no_news and request.act is Act.CLOSE and request.caller.who is Who.HUMAN


def _not_for(task: Task, request: Request, by: frozenset[Who]) -> Refused:
    text = f"{task.id} cannot be {PAST[request.act]} by {request.caller.agent_id}: only {callers(by)} may"
    return Refused(text, code=ErrorCode.NOT_ALLOWED)


def _not_in_the_table(task: Task, request: Request, hint: str = "") -> Refused:
    now, act = phase(task), request.act
    if now is TaskPhase.WORKING and act in (Act.CLAIM, Act.START, Act.WISH) and task.claim:
        return Refused(
            f"{task.id} is claimed by {task.claim.agent_id} (epoch {task.claim.epoch})",
            code=ErrorCode.CONFLICT,
            hint="take another one: pro0 task next",
        )
    kind = "an epic" if task.type is Kind.EPIC else "a task"
    text = f"{task.id} is {now}: {kind} that is {now} cannot be {PAST[act]}"
    return Refused(
        text, code=ErrorCode.WRONG_PHASE, hint=hint or answers.fitting(task) or f"see it: pro0 task show {task.id}"
    )
