"""Idle members: the hook is asked once whether a member may be idle, and a lead agent is told of it."""

from collections.abc import Iterable
from datetime import timedelta

from msgspec.structs import replace

from pro0.model.decision import Question, Tell
from pro0.model.ids import LEAD
from pro0.model.runtime import SeatState, State
from pro0.model.task import Status, Task
from pro0.model.team import Seat
from pro0.rules.lead.plan import MEMORY, Plan, View
from pro0.rules.lead.turn_ends import held, is_heard, key_of
from pro0.rules.tasks.board import claimable
from pro0.rules.words import prompts

IDLE_AFTER = timedelta(seconds=2)
"""Time without work before the lead address hears that a member is idle (behaviour 3.7)."""


def tell_idle(view: View, plan: Plan) -> Plan:
    """Tell a lead agent once each time a member turns idle (behaviour 3.7), with its last words; never a person.

    A member with tasks to claim and without news is skipped, since it is about to go on.

    A lead agent is not told of its own idleness: each notice would wake it again, for ever.
    """
    state = plan.living
    if state is None or state.state is not State.IDLE or view.stopping or not is_heard(plan.seat):
        return plan
    turn = state.turn if state.turn and view.at(state.turn.at) >= view.at(state.since) else None
    key = key_of(state, turn.at if turn else state.since)
    rests = not view.snapshot.wanted.paused and not _could_claim(view, plan.seat)
    if key in state.told or view.blind or not (rests or (turn and (turn.words or turn.claims))):
        return plan
    due = view.at(turn.at if turn else state.since) + IDLE_AFTER
    if view.now < due:
        return plan.wake(due)
    if rests and view.snapshot.hooked and key not in view.snapshot.answers:
        return plan.also(Question(key, state))
    refusal = view.snapshot.answers.get(key)
    if refusal:
        plan = plan.also(Tell(f"{key}:{state.agent_id}", state.agent_id, prompts.not_idle(refusal)))
    plan = plan.then(_remember_notice(state, key))
    if len(view.supervisors) == 1 or (refusal and not (turn and turn.words)):
        return plan  # a person reads that address, and sees the state and the words wherever they look
    last_task = max(_settled_by(view, state), key=lambda task: task.updated_at or state.started_at, default=None)
    holds = [task.id for task in held(view, state)]
    return plan.also(Tell(key, LEAD, prompts.idle(state.agent_id, last_task, holds, turn)))


def _remember_notice(state: SeatState, key: str) -> SeatState:
    return replace(state, told=(*state.told, key)[-MEMORY:])


def _could_claim(view: View, seat: Seat) -> bool:
    return any(task.run or seat.agent != "shell" for task in claimable(view.board, seat.agent_id))


def _settled_by(view: View, state: SeatState) -> Iterable[Task]:
    over = (Status.COMPLETED, Status.FAILED)
    return (task for task in view.board if task.assignee == state.agent_id and task.status in over)
