"""An idle member: the hook is asked once whether it may be, and a lead agent is told."""

from collections.abc import Iterable
from datetime import timedelta

from msgspec.structs import replace

from pro0.model.decision import Question, Tell
from pro0.model.ids import LEAD
from pro0.model.run import RUNNER
from pro0.model.runtime import SeatState, State
from pro0.model.task import Status, Task
from pro0.model.team import Seat
from pro0.rules.lead.plan import MEMORY, Plan, View
from pro0.rules.tasks.board import claimable
from pro0.rules.words import prompts

IDLE_AFTER = timedelta(seconds=2)
"""Time without work before the lead address hears that a member is idle (behaviour 3.7)."""


def tell_idle(view: View, plan: Plan) -> Plan:
    """Tell a lead agent once each time a member turns idle with nothing to claim (behaviour 3.7); never a person.

    A lead agent reads that address: news of its own idleness would wake it, for ever.
    """
    state = plan.living
    told = plan.seat.task is None and plan.seat.agent_id != LEAD and plan.seat.agent != RUNNER
    if state is None or state.state is not State.IDLE or view.stopping or not told:
        return plan
    key = f"{state.incarnation}:idle:{state.since.isoformat()}"
    if key in state.told or view.snapshot.wanted.paused or view.blind or _could_claim(view, plan.seat):
        return plan
    due = state.since + IDLE_AFTER
    if view.now < due:
        return plan.wake(due)
    if view.snapshot.hooked and key not in view.snapshot.answers:
        return plan.also(Question(key, state))
    if said := view.snapshot.answers.get(key):
        return plan.then(_told(state, key), Tell(key, state.agent_id, prompts.not_idle(said)))
    if len(view.supervisors) == 1:  # a person reads that address, and sees the state wherever they look
        return plan.then(_told(state, key))
    last = max(_settled_by(view, state), key=lambda task: task.updated_at or state.started_at, default=None)
    return plan.then(_told(state, key), Tell(key, LEAD, prompts.idle(state.agent_id, last)))


def _told(state: SeatState, key: str) -> SeatState:
    return replace(state, told=(*state.told, key)[-MEMORY:])


def _could_claim(view: View, seat: Seat) -> bool:
    return any(task.run or seat.agent != "shell" for task in claimable(view.board, seat.agent_id))


def _settled_by(view: View, state: SeatState) -> Iterable[Task]:
    over = (Status.COMPLETED, Status.FAILED)
    return (task for task in view.board if task.assignee == state.agent_id and task.status in over)
