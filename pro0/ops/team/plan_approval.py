"""Plans from members, handed in before any change, and the verdicts on them."""

from msgspec.structs import replace

from pro0.model.caller import IN_CHARGE, Who
from pro0.model.ids import HUMAN, LEAD
from pro0.model.message import MessageType, Notice
from pro0.model.runtime import ENDED
from pro0.model.team import Seat, Wanted
from pro0.ops.context import Context, operation
from pro0.ops.mail.messages import pay_if_possible
from pro0.ops.seats import Roster, led
from pro0.ops.team.members import renewed, with_seat
from pro0.rules import text
from pro0.rules.lead import plan_approval
from pro0.rules.words import prompts


@operation("plan.submit", frozenset({Who.MEMBER}))
def submit(context: Context, said: str) -> Seat:
    """Hand in the plan of this session; whoever decides on it gets it as a message."""
    caller = context.caller
    with context.team.require().wanted.change("hand in a plan") as change:
        roster = Roster(context.team.name, change.value, context.team.runtime.read())
        seat = roster.find(caller.agent_id)
        after = plan_approval.handed_in(seat, said, caller.incarnation, context.now())
        if after != seat and after.gate:
            decides = context.team.config.read().plan_approval == "lead" and led(change.value, context.team.machine)
            owed = Notice(
                id=context.new_id(),
                from_=seat.agent_id,
                to=LEAD if decides else HUMAN,
                type=MessageType.PLAN_APPROVAL_REQUEST,
                content=prompts.plan_request(seat.agent_id, after.gate),
            )
            change.value = with_seat(change.value, after)
            change.value = _owing(change.value, owed)
    pay_if_possible(context, context.team.wanted)
    _log(context, "submit", after)
    return after


@operation("plan.approve", IN_CHARGE, verdict=True)
def approve(context: Context, name: str, *, about: str | None = None) -> Seat:
    """Let a member go on with the plan that it has handed in, in a new session with its own permissions."""
    with context.team.require().wanted.change("approve a plan") as change:
        roster = _deciding(context, change.value)
        seat = roster.find(name)
        state = next((state for state in roster.runtime.seats if state.agent_id == seat.agent_id), None)
        after = plan_approval.decided(
            seat,
            "approved",
            context.caller,
            context.now(),
            incarnation=state.incarnation if state and state.state not in ENDED else "",
            about=about,
        )
        new_seat = plan_approval.lifted(renewed(after, roster.runtime))
        change.value = with_seat(change.value, new_seat)
    _log(context, "approve", new_seat)
    return new_seat


@operation("plan.reject", IN_CHARGE, verdict=True)
def reject(context: Context, name: str, feedback: str, *, about: str | None = None) -> Seat:
    """Ask a member for another plan, and say what is wrong with this one."""
    feedback = text.checked(feedback, "feedback", text.REASON_LIMIT)
    with context.team.require().wanted.change("reject a plan") as change:
        seat = _deciding(context, change.value).find(name)
        after = plan_approval.decided(
            seat, "rejected", context.caller, context.now(), incarnation="", about=about, feedback=feedback
        )
        owed = Notice(
            id=context.new_id(),
            from_=context.caller.agent_id,
            to=seat.agent_id,
            type=MessageType.PLAN_APPROVAL_RESPONSE,
            content=prompts.plan_rejected(feedback),
        )
        change.value = _owing(with_seat(change.value, after), owed)
    pay_if_possible(context, context.team.wanted)
    _log(context, "reject", after)
    return after


def _deciding(context: Context, desired: Wanted) -> Roster:
    plan_approval.may_decide(context.caller, context.team.config.read().plan_approval)
    return Roster(context.team.name, desired, context.team.runtime.read())


def _owing(desired: Wanted, notice: Notice) -> Wanted:
    return replace(desired, outbox=(*desired.outbox, notice))


def _log(context: Context, action: str, seat: Seat) -> None:
    plan = seat.gate.id if seat.gate else ""
    context.team.log_event(context.now(), context.caller.agent_id, f"plan.{action}", agent=seat.agent_id, plan=plan)
