"""The end of a member: the lead asks, the member agrees or refuses, and force ends it (behaviour 3.9)."""

from collections.abc import Iterable
from datetime import timedelta

from msgspec.structs import replace

from pro0.model.decision import Ask, End
from pro0.model.runtime import ENDED, SeatState, State
from pro0.model.team import Answer, Seat, ShutdownWish
from pro0.rules.lead.plan import Plan, View, answers
from pro0.rules.words import prompts

ENDING_LIMIT = timedelta(seconds=15)
"""Time for a guard to end its tree, TERM and KILL included; after it the lead ends the tree."""


def ask(view: View, plan: Plan) -> Plan:
    """Ask a member to end; a member without the protocol is ended at once (behaviour 3.9)."""
    state, wish = plan.living, _wish(view, plan.seat)
    if state is None or wish is None or state.ending_since:
        return plan
    if not answers(view, plan.seat):
        return end(view, plan, state)
    if state.asked == wish.id and not _to_be_asked_again(view, wish, plan.seat, state):
        return plan
    earlier_answer = _answer(view, wish, plan.seat, state) if state.asked == wish.id else None
    new_state = replace(state, asked=wish.id, asked_at=view.now if earlier_answer else wish.at)
    id = f"{wish.id}:{state.incarnation}" + (f":{earlier_answer.at.isoformat()}" if earlier_answer else "")
    return plan.then(new_state, Ask(id, state.agent_id, prompts.shutdown_request(wish.reason)))


def on_shutdown_answer(view: View, plan: Plan) -> Plan:
    """End a member that agreed; at the deadline, force the end if wanted, else note the reason for staying."""
    state, wish = plan.living, _wish(view, plan.seat)
    if state is None or wish is None or state.ending_since:
        return plan
    if approved(view, plan):
        return end(view, plan, state)
    deadline = view.at(wish.at) + timedelta(seconds=wish.timeout)
    if view.now < deadline:
        return plan.wake(deadline)
    if wish.force:
        return end(view, plan, state)
    answer = _answer(view, wish, plan.seat, state)
    if answer:
        return replace(plan, stays=f"not yet: {answer.reason}")
    if state.state is not State.UNRESPONSIVE:
        plan = plan.then(replace(state, state=State.UNRESPONSIVE, since=view.now))
    return replace(plan, stays="it does not answer")


def overdue(view: View, plan: Plan) -> Plan:
    """End a tree from outside when its guard takes too long, or still runs after its session is over."""
    state = plan.state
    over = state is not None and state.state in ENDED and state.incarnation in view.snapshot.guards_alive
    if state is None or not (over or (plan.living and state.ending_since)):
        return plan
    deadline = view.at(state.since if over else state.ending_since or view.now) + ENDING_LIMIT
    if view.now < deadline:
        return plan.wake(deadline)
    return plan.then(state, End(state.agent_id, state.incarnation, firm=True)).wake(view.now + timedelta(seconds=1))


def refused(view: View, plans: list[Plan]) -> Iterable[tuple[ShutdownWish, dict[str, str]]]:
    """Yield each refused request to end, with the reasons of the members that stay.

    A refused stop is not reported while a member is still ending.
    """
    stayed = {plan.seat.agent_id: plan.stays for plan in plans if plan.stays}
    stop = view.snapshot.wanted.stop
    if stop and stayed and not any(plan.living and plan.living.ending_since for plan in plans):
        yield stop, stayed
    for plan in plans:
        if plan.stays and plan.seat.shutdown and not stop:
            yield plan.seat.shutdown, {plan.seat.agent_id: plan.stays}


def approved(view: View, plan: Plan) -> Answer | None:
    """Return the answer by which this session agreed to end, or None."""
    wish = _wish(view, plan.seat)
    answer = _answer(view, wish, plan.seat, plan.state) if plan.state and wish else None
    return answer if answer and answer.approve else None


def _wish(view: View, seat: Seat) -> ShutdownWish | None:
    return view.snapshot.wanted.stop or seat.shutdown


def _answer(view: View, wish: ShutdownWish, seat: Seat, state: SeatState) -> Answer | None:
    """Return this session's answer since the last request; it may predate the record of that request."""
    answer = seat.answer
    if answer is None or (answer.request_id, answer.incarnation) != (wish.id, state.incarnation):
        return None
    asked_later = state.asked == wish.id and state.asked_at and view.at(answer.at) < view.at(state.asked_at)
    return None if asked_later else answer


def _to_be_asked_again(view: View, wish: ShutdownWish, seat: Seat, state: SeatState) -> bool:
    """Return True when a member has turned idle since its "not yet"."""
    answer = _answer(view, wish, seat, state)
    return (
        answer is not None
        and not answer.approve
        and state.state is State.IDLE
        and view.at(state.since) > view.at(answer.at)
    )


def end(view: View, plan: Plan, state: SeatState) -> Plan:
    """End a session now, without asking; its guard ends its tree."""
    if state.guard is None:
        return plan  # no guard to tell yet: it will report, or the lead gives the session up
    ending = replace(state, state=State.STOPPING, since=view.now, ending_since=view.now)
    return plan.then(ending, End(state.agent_id, state.incarnation)).wake(view.now + ENDING_LIMIT)
