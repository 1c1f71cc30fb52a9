"""Plan approval: a member submits its plan, a person decides, and then the member may change things.

The laws: each plan gets one verdict. A verdict belongs to one plan of one session, known by its id, and never to a
later text. An approval is final. Only approval lifts the gate, with a new session in the member's own mode.
"""

from datetime import datetime, timedelta

from msgspec.structs import replace

from pro0.errors import BadInput, ErrorCode, Refused
from pro0.model.caller import Caller, Who
from pro0.model.decision import Tell
from pro0.model.message import MessageType
from pro0.model.runtime import State
from pro0.model.team import PLAN_LIMIT, Approver, PlanGate, Seat, Verdict
from pro0.rules import text
from pro0.rules.lead import ending
from pro0.rules.lead.plan import MEMORY, Plan, View
from pro0.rules.words import prompts

TURN_LIMIT = timedelta(seconds=30)
"""Longest time for a session to end its turn after its plan is approved."""


def handed_in(seat: Seat, plan_text: str, incarnation: str, now: datetime) -> Seat:
    """Return the seat with its submitted plan; raise Refused when it needs none or has an approved one."""
    gate = seat.gate
    if gate is None:
        raise Refused(
            f"nobody has asked {seat.agent_id} for a plan", code=ErrorCode.NO_PLAN_REQUIRED, hint="go on without one"
        )
    if gate.approved:
        raise Refused(f"the plan of {seat.agent_id} is approved already", code=ErrorCode.DECIDED, hint="go on with it")
    if not plan_text.strip():
        raise BadInput("a plan needs a text", hint='pro0 plan "first this, then that"')
    plan_text = text.checked(plan_text.strip(), "plan", PLAN_LIMIT)
    id = plan_id(seat.agent_id, incarnation, plan_text)
    if gate.id == id and not gate.verdict:
        return seat
    return replace(seat, gate=PlanGate(id=id, text=plan_text, incarnation=incarnation, at=now))


def decided(
    seat: Seat,
    verdict: Verdict,
    caller: Caller,
    now: datetime,
    *,
    incarnation: str,
    about: str | None = None,
    feedback: str = "",
) -> Seat:
    """Return the seat with a verdict on its present session's plan; `about` is the id of the plan read."""
    gate, name = seat.gate, seat.agent_id
    if gate is None:
        raise Refused(f"{name} needs no approval of a plan", code=ErrorCode.NO_PLAN_REQUIRED)
    if not gate.id:
        raise Refused(
            f"{name} has not handed in a plan yet", code=ErrorCode.NO_PLAN, hint=f"look: pro0 member show {name}"
        )
    if about is not None and about != gate.id:
        raise Refused(
            f"{about} is not the plan that {name} has handed in last", code=ErrorCode.STALE_PLAN, hint=_look(name)
        )
    if gate.verdict:
        raise Refused(f"the plan of {name} is {gate.verdict} already, by {gate.by}", code=ErrorCode.DECIDED)
    if gate.id != plan_id(name, gate.incarnation, gate.text):
        raise Refused(
            f"the plan of {name} was changed since it was handed in", code=ErrorCode.STALE_PLAN, hint=_look(name)
        )
    if verdict == "approved" and gate.incarnation != incarnation:
        hint = f"let it hand in another: pro0 member reject-plan {name} 'hand it in again'"
        raise Refused(f"the session of {name} that made this plan is over", code=ErrorCode.STALE_PLAN, hint=hint)
    if verdict == "rejected" and not feedback.strip():
        raise BadInput("say what is wrong with the plan", hint=f'pro0 member reject-plan {name} "what to change"')
    return replace(seat, gate=replace(gate, verdict=verdict, by=caller.agent_id, feedback=feedback, decided_at=now))


def lifted(seat: Seat) -> Seat:
    """Return the seat with its present generation recorded as the first one after the approval."""
    return replace(seat, gate=replace(seat.gate, generation=seat.generation)) if seat.gate else seat


def view(seat: Seat) -> dict[str, object]:
    """Return a member's plan and its stage, as shown to people and agents."""
    gate = seat.gate or PlanGate()
    stage = gate.stage if seat.gate else ""
    return {
        "agentId": seat.agent_id,
        "id": gate.id,
        "text": gate.text,
        "stage": stage,
        "at": gate.at,
        "by": gate.by,
        "feedback": gate.feedback,
    }


def may_decide(caller: Caller, approver: Approver) -> None:
    """Raise Refused for a lead agent in a team where only a person decides."""
    if caller.who is not Who.HUMAN and approver != "lead":
        hint = "pro0 team start --plan-approval lead lets the lead agent do it"
        raise Refused("only the person decides on plans in this team", code=ErrorCode.NOT_ALLOWED, hint=hint)


def plan_id(agent_id: str, incarnation: str, plan_text: str) -> str:
    """Return the id of a plan: another text or another session gives another id."""
    return text.digest(f"{agent_id}\0{incarnation}\0{plan_text}".encode(errors="replace"))[:12]


def renew(view: View, plan: Plan) -> Plan:
    """End the session of a member with an approved plan, after its turn: the next one begins in its own mode."""
    state, gate = plan.living, plan.seat.gate
    if state is None or gate is None or state.ending_since or not gate.generation > state.generation:
        return plan
    due = view.at(gate.decided_at or view.now) + TURN_LIMIT
    if state.state is State.WORKING and view.now < due:
        return plan.wake(due)
    return ending.end(view, plan, state)


def goes_on(seat: Seat, generation: int) -> bool:
    """Return True when a session ends only because its member's next session begins in another mode."""
    return seat.gate is not None and generation < seat.gate.generation <= seat.generation


def tell(view: View, plan: Plan) -> Plan:
    """Tell the session that begins with the approval to proceed."""
    state, gate = plan.living, plan.seat.gate
    if state is None or gate is None or not gate.approved or state.generation != gate.generation:
        return plan
    key = f"{state.incarnation}:plan"
    if key in state.told or view.stopping:
        return plan
    notice = Tell(
        f"{key}:{gate.id}", state.agent_id, prompts.plan_approved(gate.by), MessageType.PLAN_APPROVAL_RESPONSE
    )
    return plan.then(replace(state, told=(*state.told, key)[-MEMORY:]), notice)


def _look(name: str) -> str:
    return f"look again: pro0 member show {name}"
