"""What an agent's turns mean for its member: its state, what people must know of it, and when it gets its one line.

Steps of the decision in `supervision`, like those there.
"""

from datetime import datetime, timedelta

from msgspec.structs import replace

from pro0.model.decision import Nudge, Nudged, Seen, Tell
from pro0.model.ids import HUMAN, LEAD
from pro0.model.runtime import SeatState, State
from pro0.rules.lead.plan import MEMORY, Plan, View, listens
from pro0.rules.tasks.board import claimable
from pro0.rules.words import prompts

LOOK = timedelta(seconds=0.5)
"""How soon a session is looked at again that does not say by itself what it does."""
REMIND = {State.IDLE: timedelta(minutes=2), State.ERROR: timedelta(minutes=10)}
"""How long mail may stay unread with an agent in such a state until it is told again: what failed may fail again."""
AGAIN = {State.IDLE: 2, State.ERROR: 1}
"""How often an agent is told of the same mail once more, as soon as a turn is over in which it did not read it."""
SETTLED = timedelta(seconds=2)
"""How long a turn has been over until that counts: some agents take up between two turns what they have queued."""
OFFER_AFTER = timedelta(seconds=2)
"""How long an agent is idle until it is told of tasks that it could claim."""

LOST_AFTER = timedelta(seconds=20)
"""How long a session may show nothing that is known until a person is asked to look; until then it is starting."""
LOST = "nothing that is known for 20 s"
"""The rule by which a session is lost: only a person can say what it shows."""
_DEAF = frozenset({State.WAITING, State.DIALOG, State.DRAFT, State.UNKNOWN, State.STARTING, State.STOPPING})
"""States in which nothing is typed: an Enter could do harm (behaviour 3.6)."""


def read_the_agent(view: View, plan: Plan) -> Plan:
    """Take over what the agent's own sources and its screen say, above its guard, which only knows that it runs."""
    state = plan.living
    seen = view.snapshot.seen.get(state.incarnation) if state else None
    if state is None or seen is None:
        return plan
    plan = plan.then(replace(state, session=seen.session or state.session)).wake(view.now + LOOK)
    if state.state is State.STOPPING or (state.state is State.UNRESPONSIVE and seen.since <= state.since):
        return plan
    return plan.then(_as_seen(view, plan.living or state, seen))


def _as_seen(view: View, state: SeatState, seen: Seen) -> SeatState:
    if seen.state is State.UNKNOWN and seen.source == "screen" and not _long(view, state.started_at):
        seen = replace(seen, state=State.STARTING, rule="its screen shows nothing that is known yet")
    since = state.since if state.state is seen.state and state.source else seen.since
    blank = seen.state is State.UNKNOWN or (seen.state is State.STARTING and seen.lost)
    rule = LOST if blank and _long(view, since) else seen.rule
    return replace(state, state=seen.state, since=since, source=seen.source, rule=rule, note=seen.note)


def _long(view: View, since: datetime) -> bool:
    return view.at(since) + LOST_AFTER <= view.now


def need(state: State, rule: str) -> str:
    """Return why a member with that state, by that rule, needs a person now; empty when it does not."""
    return prompts.LOST if rule == LOST else prompts.NEEDS.get(state, "")


def tell_who_is_needed(view: View, plan: Plan) -> Plan:
    """Say once that a member waits for a person, has an error, or shows nothing that is known."""
    state = plan.living
    if state is None or not (why := need(state.state, state.rule)) or view.stopping:
        return plan
    key = f"{state.incarnation}:{state.state}:{state.since.isoformat()}"
    if key in state.told:
        return plan
    told = replace(state, told=(*state.told, key)[-MEMORY:])
    text = prompts.needs_a_person(state, why)
    return plan.then(told, *(Tell(f"{key}:{to}", to, text) for to in _who_helps(view, state)))


def _who_helps(view: View, state: SeatState) -> list[str]:
    """Return who is told: the person, and of an error the lead address; without a lead agent the person reads that."""
    if state.state is not State.ERROR or state.agent_id == LEAD:
        return [HUMAN]
    led = any(seat.agent_id == LEAD for seat in view.snapshot.wanted.seats)
    return [HUMAN, LEAD] if led else [LEAD]


def nudge(view: View, plan: Plan) -> Plan:
    """Hand over the fixed line about new mail, or about tasks it could claim; never where an Enter could do harm."""
    plan = _remember_what_arrived(view, plan)
    state = plan.living
    if state is None or state.state in _DEAF or not listens(view, plan.seat):
        return plan
    mail = view.snapshot.unread.get(plan.seat.agent_id)
    if mail and mail.count and (mail.newest > state.nudged or _forgets(view, state) or _passed_over(view, state)):
        line, urgent = prompts.unread_line(mail.count), mail.urgent > state.nudged
        tells = Nudged(mail=mail.newest, again=_times_again(view, state, mail.newest))
        return plan.then(state, Nudge(state.agent_id, state.incarnation, line, tells, urgent))
    return _offer(view, plan, state)


def _remember_what_arrived(view: View, plan: Plan) -> Plan:
    state = plan.living
    if state is None:
        return plan
    state = replace(state, queued=view.snapshot.queued.get(state.incarnation, state.queued))
    plan, arrived = plan.then(state), view.snapshot.nudged.get(state.incarnation)
    if arrived is None or not _is_news(state, arrived):
        return plan
    offered = tuple(dict.fromkeys((*state.offered, *arrived.tasks)))[-MEMORY:]
    told = replace(state, nudged=max(state.nudged, arrived.mail), nudged_at=arrived.at or view.now, offered=offered)
    return plan.then(replace(told, retold=arrived.again))


def _is_news(state: SeatState, arrived: Nudged) -> bool:
    """Return whether what arrived is not recorded yet: other news, or the same that was told once more."""
    if arrived.mail > state.nudged or not set(arrived.tasks) <= set(state.offered):
        return True
    before, now = state.nudged_at, arrived.at
    return arrived.mail == state.nudged and before is not None and now is not None and now > before


def _forgets(view: View, state: SeatState) -> bool:
    """Return whether an agent whose turn is over was told of its mail long ago and has not read it."""
    patience = REMIND.get(state.state)
    return patience is not None and _since(state) + patience <= view.now


def _passed_over(view: View, state: SeatState) -> bool:
    """Return whether a turn is over in which an agent was told of its mail and did not read it.

    What an agent has queued may be lost with the turn: OpenCode's, when a permission is refused; with any agent, when
    a person stops it.
    """
    if state.nudged_at is None or state.since <= state.nudged_at or state.retold >= AGAIN.get(state.state, 0):
        return False
    return state.since + SETTLED <= view.now


def _times_again(view: View, state: SeatState, newest: int) -> int:
    """Return how often it will have been told of mail once more, when it is told now."""
    return 0 if newest > state.nudged else state.retold + _passed_over(view, state)


def _since(state: SeatState) -> datetime:
    return max(state.since, state.nudged_at or state.since)


def _offer(view: View, plan: Plan, state: SeatState) -> Plan:
    """Tell an idle agent of the tasks that are ready for it, once each."""
    if state.state is not State.IDLE or view.stopping or plan.seat.shutdown or view.snapshot.wanted.paused:
        return plan
    if plan.seat.agent_id == LEAD or plan.seat.nudge or plan.seat.task:
        return plan
    ready = tuple(task.id for task in claimable(view.board, state.agent_id))[:MEMORY]
    if set(ready) <= set(state.offered):
        return plan
    due = state.since + OFFER_AFTER
    if view.now < due:
        return plan.wake(due)
    line, tells = prompts.ready_line(len(ready)), Nudged(mail=state.nudged, tasks=ready, again=state.retold)
    return plan.then(state, Nudge(state.agent_id, state.incarnation, line, tells))
