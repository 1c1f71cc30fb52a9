"""How a member ends when it should: asked, answered, refused, forced (rulings 3.9)."""

from collections.abc import Iterable
from datetime import timedelta

from msgspec.structs import replace

from pro0.model.runtime import Ask, End, SeatState, State
from pro0.model.team import Answer, Seat, ShutdownWish
from pro0.rules import prompts
from pro0.rules.plan import Plan, View

ENDING_LIMIT = timedelta(seconds=15)
"""How long a guard may take to end its tree, TERM and KILL included, until the lead does it."""


def ask(view: View, plan: Plan) -> Plan:
    """Ask a member that should end; one without the protocol is ended instead of asked (rulings 3.9)."""
    state, wish = plan.living, _wish(view, plan.seat)
    if state is None or wish is None or state.ending_since:
        return plan
    if plan.seat.agent not in view.snapshot.protocol:
        return _ending(view, plan, state)
    if state.asked == wish.id and not _to_be_asked_again(plan.seat, state):
        return plan
    asked = replace(state, asked=wish.id, asked_at=view.now)
    id = f"{wish.id}:{state.incarnation}:{view.now.isoformat()}"
    return plan.then(asked, Ask(id, state.agent_id, prompts.shutdown_request(wish.reason)))


def hear(view: View, plan: Plan) -> Plan:
    """End who agreed; when time is up, end who is to be forced, and note why the others stay."""
    state, wish = plan.living, _wish(view, plan.seat)
    if state is None or wish is None or state.ending_since:
        return plan
    if approved(view, plan):
        return _ending(view, plan, state)
    deadline = wish.at + timedelta(seconds=wish.timeout)
    if view.now < deadline:
        return plan.wake(deadline)
    if wish.force:
        return _ending(view, plan, state)
    answer = _answer(plan.seat, state)
    if answer:
        return replace(plan, stays=f"not yet: {answer.reason}")
    silent = replace(state, state=State.UNRESPONSIVE, since=view.now)
    return replace(plan.then(silent), stays="it does not answer")


def overdue(view: View, plan: Plan) -> Plan:
    """End a tree from outside whose guard does not manage to."""
    state = plan.living
    if state is None or state.ending_since is None:
        return plan
    deadline = state.ending_since + ENDING_LIMIT
    if view.now < deadline:
        return plan.wake(deadline)
    return plan.then(state, End(state.agent_id, state.incarnation, firm=True)).wake(view.now + timedelta(seconds=1))


def refused(view: View, plans: list[Plan]) -> Iterable[tuple[ShutdownWish, dict[str, str]]]:
    """Yield every wish to end that somebody refuses, with who stays and why; others may still be on their way out."""
    stayed = {plan.seat.agent_id: plan.stays for plan in plans if plan.stays}
    stop = view.snapshot.wanted.stop
    if stop and stayed and not any(plan.living and plan.living.ending_since for plan in plans):
        yield stop, stayed
    for plan in plans:
        if plan.stays and plan.seat.shutdown and not stop:
            yield plan.seat.shutdown, {plan.seat.agent_id: plan.stays}


def approved(view: View, plan: Plan) -> Answer | None:
    """Return the answer with which this session agreed to end, if it did."""
    answer = _answer(plan.seat, plan.state) if plan.state and _wish(view, plan.seat) else None
    return answer if answer and answer.approve else None


def _wish(view: View, seat: Seat) -> ShutdownWish | None:
    return view.snapshot.wanted.stop or seat.shutdown


def _answer(seat: Seat, state: SeatState) -> Answer | None:
    """Return what this session said since it was last asked."""
    said = seat.answer
    ours = said and said.request_id == state.asked and said.incarnation == state.incarnation
    return said if said and ours and state.asked_at and said.at >= state.asked_at else None


def _to_be_asked_again(seat: Seat, state: SeatState) -> bool:
    """Return whether a member that said "not yet" has turned idle since."""
    answer = _answer(seat, state)
    return answer is not None and not answer.approve and state.state is State.IDLE and state.since > answer.at


def _ending(view: View, plan: Plan, state: SeatState) -> Plan:
    ending = replace(state, state=State.STOPPING, since=view.now, ending_since=view.now)
    return plan.then(ending, End(state.agent_id, state.incarnation)).wake(view.now + ENDING_LIMIT)
