"""The ends of an agent's turns: a record of each, and a notice of its last words unless `idling` has told them.

A turn's end is told once. `idling` tells it while the agent is idle. This module tells it when the agent has begun
another turn by then, or has ended.
"""

from datetime import datetime, timedelta

from msgspec.structs import replace

from pro0.model.decision import Seen, Tell
from pro0.model.ids import LEAD
from pro0.model.run import RUNNER
from pro0.model.runtime import ENDED, SeatState, State, TurnEnd
from pro0.model.screen import LastWords
from pro0.model.task import Status, Task
from pro0.model.team import Seat
from pro0.rules.lead.plan import MEMORY, Plan, View
from pro0.rules.words import prompts

OVER = (State.IDLE, State.ERROR)
"""States between two turns."""
AT_WORK = (State.WORKING, State.RUNNING, State.WAITING)
"""States within a turn."""
LATE = timedelta(seconds=10)
"""Time after which last words are told although the agent is not idle: its state may lag behind its transcript."""
_ABORTED = "turn_aborted"
"""The rule of a turn stopped by a person, from an agent that reports such a stop."""


def record(view: View, plan: Plan) -> Plan:
    """Record the end of a turn: by a change of state, by new last words, or by both."""
    state = plan.living
    reading = view.snapshot.seen.get(state.incarnation) if state else None
    if state is None or reading is None:
        return plan
    turn, words = state.turn, reading.words
    fresh = words if words and (turn is None or words.id != turn.id) else None
    if state.state in OVER and (turn is None or view.at(turn.at) < view.at(state.since)):
        if turn and not fresh and turn.words and not _is_told(state, turn):  # its words were seen before its end
            return plan.then(replace(state, turn=replace(_end(view, state, reading, state.since), **_words_of(turn))))
        is_first = turn is None and bool(held(view, state))  # a session with a claim has had a turn, seen or not
        over = fresh or is_first or _was_at_work(view, state)
        return _ended(view, plan, state, reading, fresh) if over else plan
    if fresh is None:
        return plan
    if turn and (not turn.words or turn.words == fresh.text) and (state.state in OVER or not _is_told(state, turn)):
        return plan.then(replace(state, turn=_with(turn, fresh)))
    return _ended(view, plan, state, reading, fresh, view.now)


def _ended(
    view: View, plan: Plan, state: SeatState, reading: Seen, words: LastWords | None, at: datetime | None = None
) -> Plan:
    """Record a turn's end; the last words of the turn before are told now, unless they were told already."""
    if state.turn and state.turn.words and not _is_told(state, state.turn) and is_heard(plan.seat):
        plan = _tell_words(view, plan, state, state.turn)
        state = plan.state or state
    turn = _end(view, state, reading, at or state.since)
    if words is None and state.turn:
        turn = replace(turn, id=state.turn.id)
    return plan.then(replace(state, turn=_with(turn, words) if words else turn))


def tell(view: View, plan: Plan) -> Plan:
    """Tell a lead agent the last words of a turn when its agent is not idle any more, or has ended."""
    state = plan.state
    turn = state.turn if state else None
    if state is None or turn is None or not turn.words or view.stopping or not is_heard(plan.seat):
        return plan
    if state.state is State.IDLE or _is_told(state, turn):
        return plan
    due = view.at(turn.at) + LATE
    if state.state not in ENDED and view.now < due:
        return plan.wake(due)
    return _tell_words(view, plan, state, turn)


def is_heard(seat: Seat) -> bool:
    """Return True if the lead address gets this member's turns: a pool member, but no lead agent and no runner."""
    return seat.task is None and seat.agent_id != LEAD and seat.agent != RUNNER


def key_of(state: SeatState, at: datetime) -> str:
    """Return the key of the only notice about the end of a turn."""
    return f"{state.incarnation}:idle:{at.isoformat()}"


def held(view: View, state: SeatState) -> tuple[Task, ...]:
    """Return the tasks that a session holds."""
    return tuple(
        task
        for task in view.board
        if task.claim and task.claim.incarnation == state.incarnation and task.status is Status.IN_PROGRESS
    )


def _tell_words(view: View, plan: Plan, state: SeatState, turn: TurnEnd) -> Plan:
    key = key_of(state, turn.at)
    new_state = replace(state, told=(*state.told, key)[-MEMORY:])
    if len(view.supervisors) == 1:  # a person reads that address, and sees the words wherever they look
        return plan.then(new_state)
    return plan.then(new_state, Tell(key, LEAD, prompts.turn_ended(state.agent_id, turn)))


def _is_told(state: SeatState, turn: TurnEnd) -> bool:
    return key_of(state, turn.at) in state.told


def _was_at_work(view: View, state: SeatState) -> bool:
    before = view.snapshot.runtime.session(state.incarnation)
    return before is not None and before.state in AT_WORK


def _end(view: View, state: SeatState, reading: Seen, at: datetime) -> TurnEnd:
    how = "failed" if state.state is State.ERROR else "interrupted" if reading.rule == _ABORTED else "ended"
    return TurnEnd(at=at, how=how, claims=tuple(task.id for task in held(view, state)), running=reading.running)


def _with(turn: TurnEnd, words: LastWords) -> TurnEnd:
    return replace(turn, words=words.text, source=words.source, id=words.id)


def _words_of(turn: TurnEnd) -> dict[str, str]:
    return {"words": turn.words, "source": turn.source, "id": turn.id}
