"""The meaning of an agent's turns for its member: its state, its notices to people, and its one line about mail.

These are steps of the decision in `supervision`, like the steps there.
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
"""Interval between looks at a session that does not report its own state."""
REMIND = {State.IDLE: timedelta(minutes=2), State.ERROR: timedelta(minutes=10)}
"""Time before an agent in such a state hears again of unread mail: a failed turn may fail again."""
AGAIN = {State.IDLE: 2, State.ERROR: 1}
"""Number of times an agent hears again of the same mail, each time at the end of a turn that left it unread."""
SETTLED = timedelta(seconds=2)
"""Time after a turn before it counts as over: some agents take up queued input between two turns."""
OFFER_AFTER = timedelta(seconds=2)
"""Idle time before an agent hears of tasks to claim."""

LOST_AFTER = timedelta(seconds=20)
"""Time a session may show nothing known before a person is asked to look; until then it is starting."""
LOST = "nothing that is known for 20 s"
"""The rule of a lost session: only a person can read its screen."""
_DEAF = frozenset(
    {State.WAITING, State.DIALOG, State.DRAFT, State.UNKNOWN, State.STARTING, State.STOPPING, State.UNREACHABLE}
)
"""States in which pro0 types nothing: an Enter could do harm (behaviour 3.6)."""


def read_the_agent(view: View, plan: Plan) -> Plan:
    """Apply the agent's own sources and screen, which outrank its guard: the guard only knows that it runs."""
    state = plan.living
    reading = view.snapshot.seen.get(state.incarnation) if state else None
    if state is None or reading is None:
        return plan
    plan = plan.then(replace(state, session=_conversation(view, state, reading.session))).wake(view.now + LOOK)
    if state.state in (State.STOPPING, State.UNREACHABLE) or (
        state.state is State.UNRESPONSIVE and view.at(reading.since) <= view.at(state.since)
    ):
        return plan
    return plan.then(_as_seen(view, plan.living or state, reading))


def _conversation(view: View, state: SeatState, read: str) -> str:
    """Return the agent's own id of its session; ignore another member's, which a person may open in this pane."""
    others = (seat.session for seat in view.snapshot.runtime.seats if seat.agent_id != state.agent_id)
    return state.session if not read or read in others else read


def _as_seen(view: View, state: SeatState, reading: Seen) -> SeatState:
    if reading.state is State.UNKNOWN and reading.source == "screen" and not _long(view, state.started_at):
        reading = replace(reading, state=State.STARTING, rule="its screen shows nothing that is known yet")
    since = state.since if state.state is reading.state and state.source else reading.since
    blank = reading.state is State.UNKNOWN or (reading.state is State.STARTING and reading.lost)
    rule = LOST if blank and _long(view, since) else reading.rule
    return replace(state, state=reading.state, since=since, source=reading.source, rule=rule, note=reading.note)


def _long(view: View, since: datetime) -> bool:
    return view.at(since) + LOST_AFTER <= view.now


def need(state: State, rule: str) -> str:
    """Return the reason a member needs a person now, by its state and rule, or an empty string."""
    return prompts.LOST if rule == LOST else prompts.NEEDS.get(state, "")


def tell_who_is_needed(view: View, plan: Plan) -> Plan:
    """Report once that a member waits for a person, has an error, or shows nothing known."""
    state = plan.living
    if state is None or not (why := need(state.state, state.rule)) or view.stopping:
        return plan
    key = f"{state.incarnation}:{state.state}:{state.since.isoformat()}"
    if key in state.told:
        return plan
    new_state = replace(state, told=(*state.told, key)[-MEMORY:])
    text = prompts.needs_a_person(state, why)
    return plan.then(new_state, *(Tell(f"{key}:{to}", to, text) for to in _who_helps(view, state)))


def _who_helps(view: View, state: SeatState) -> list[str]:
    """Return the addresses to tell: the person; for an error also the lead agent.

    Without a lead agent an error is told to the lead address alone, since a person reads it.
    """
    if state.state is not State.ERROR or state.agent_id == LEAD:
        return [HUMAN]
    led = any(seat.agent_id == LEAD for seat in view.snapshot.wanted.seats)
    return [HUMAN, LEAD] if led else [LEAD]


def nudge(view: View, plan: Plan) -> Plan:
    """Send the fixed line about new mail or ready tasks; never in a state that makes an Enter harmful."""
    plan = _remember_what_arrived(view, plan)
    state = plan.living
    if state is None or _is_deaf(view, plan, state) or not listens(view, plan.seat):
        return plan
    mail = view.snapshot.unread.get(plan.seat.agent_id)
    if mail and mail.count and (mail.newest > state.nudged or _forgets(view, state) or _passed_over(view, state)):
        line, urgent = prompts.unread_line(mail.count), mail.urgent > state.nudged
        tells = Nudged(mail=mail.newest, again=_times_again(view, state, mail.newest))
        return plan.then(state, Nudge(state.agent_id, state.incarnation, line, tells, urgent))
    return _offer(view, plan, state)


def _is_deaf(view: View, plan: Plan, state: SeatState) -> bool:
    """Return True when a line could do harm; a line through the agent's own channel does not harm a person's draft."""
    definition = plan.seat.definition
    has_channel = bool(definition.acp) if definition else plan.seat.agent in view.snapshot.channels
    has_channel = has_channel and not plan.seat.host
    beside = state.state is State.DRAFT and has_channel
    return state.state in _DEAF and not beside


def _remember_what_arrived(view: View, plan: Plan) -> Plan:
    state = plan.living
    if state is None:
        return plan
    state = replace(state, queued=view.snapshot.queued.get(state.incarnation, state.queued))
    plan, arrived = plan.then(state), view.snapshot.nudged.get(state.incarnation)
    if arrived is None or not _is_news(view, state, arrived):
        return plan
    offered = tuple(dict.fromkeys((*state.offered, *arrived.tasks)))[-MEMORY:]
    new_state = replace(
        state, nudged=max(state.nudged, arrived.mail), nudged_at=arrived.at or view.now, offered=offered
    )
    return plan.then(replace(new_state, retold=arrived.again, nudged_by=arrived.by))


def _is_news(view: View, state: SeatState, arrived: Nudged) -> bool:
    """Return True when an arrived line is not recorded yet: it has new contents, or it repeats the last line."""
    if arrived.mail > state.nudged or not set(arrived.tasks) <= set(state.offered):
        return True
    before, now = state.nudged_at, arrived.at
    return arrived.mail == state.nudged and before is not None and now is not None and view.at(now) > view.at(before)


def _forgets(view: View, state: SeatState) -> bool:
    """Return True when an agent has ended its turn, and has left mail unread since it was told of it long ago."""
    patience = REMIND.get(state.state)
    return patience is not None and _since(view, state) + patience <= view.now


def _passed_over(view: View, state: SeatState) -> bool:
    """Return True when an agent was told of its mail, and then ended a turn without reading it.

    Queued input can be lost with a turn: in OpenCode when a permission is refused, and in any agent when a person
    stops the turn.
    """
    if state.nudged_at is None or state.retold >= AGAIN.get(state.state, 0):
        return False
    since = view.at(state.since)
    return since > view.at(state.nudged_at) and since + SETTLED <= view.now


def _times_again(view: View, state: SeatState, newest: int) -> int:
    """Return the number of repeated notices of this mail, counting one given now."""
    return 0 if newest > state.nudged else state.retold + _passed_over(view, state)


def _since(view: View, state: SeatState) -> datetime:
    return max(view.at(state.since), view.at(state.nudged_at or state.since))


def _offer(view: View, plan: Plan, state: SeatState) -> Plan:
    """Tell an idle agent of the tasks ready for it, each task once."""
    if state.state is not State.IDLE or view.stopping or plan.seat.shutdown or view.snapshot.wanted.paused:
        return plan
    if plan.seat.agent_id == LEAD or plan.seat.nudge or plan.seat.task:
        return plan
    ready = tuple(task.id for task in claimable(view.board, state.agent_id))[:MEMORY]
    if set(ready) <= set(state.offered):
        return plan
    due = view.at(state.since) + OFFER_AFTER
    if view.now < due:
        return plan.wake(due)
    line, tells = prompts.ready_line(len(ready)), Nudged(mail=state.nudged, tasks=ready, again=state.retold)
    return plan.then(state, Nudge(state.agent_id, state.incarnation, line, tells))
