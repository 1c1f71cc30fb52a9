"""Sessions for tasks: start one for each task that needs it, and end those with nothing left to do.

A task gets its own session when it is supervised, dispatched, or started by a human. The session's seat names the
task (`Seat.task`). The lead makes the seat and removes it. Each step is a function of the state:

1. The task is in `to_start` of its way of working, and no seat of it has a living session: `Hire` makes the seat.
2. The seat has no session of its generation: `Start` records one, gives it the claim (`task.begin`), then opens it.
   A failure undoes all of it (`task.undo_start`).
3. The task is over, or its claim went to another session: the lead ends this session. Completed work lets it end its
   turn first.
4. The session is dead and holds nothing: `Dismiss` removes the seat, unless the task may continue there.

A way of working is one row of `WAYS`.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from itertools import chain, count

import msgspec
from msgspec.structs import replace

from pro0.model.decision import Action, Dismiss, Expire, Hire, Tell
from pro0.model.ids import NAME, RESERVED, task_number
from pro0.model.runtime import ENDED, SeatState, State
from pro0.model.task import Policy, Status, Task
from pro0.model.team import Seat
from pro0.rules.lead import budget, dispatch, ending, supervised
from pro0.rules.lead.plan import MEMORY, Plan, View, listens
from pro0.rules.tasks.board import Board
from pro0.rules.words import prompts

TURN_LIMIT = timedelta(seconds=30)
"""Longest time for a session to end its turn after its task is completed."""
LAST_LOOK = timedelta(seconds=4)
"""Time an idle agent is kept alive, so that the lead can read its last usage from its transcript."""
UNLIMITED = 10**9
REMIND_AFTER = timedelta(seconds=10)
"""Idle time in the middle of a task before the session gets a reminder."""
REMINDERS = 3
"""Number of reminders in one claim before people are told."""


class Way(msgspec.Struct, frozen=True):
    """One way of working in sessions of tasks."""

    to_start: Callable[[Board], list[Task]]
    """The tasks due to get a session, in order."""
    room: Callable[[View], int]
    """The number of further sessions allowed now."""
    is_over: Callable[[Board, str], bool]
    """True when a task's session has nothing left to do."""


SUPERVISED = Way(supervised.to_start, lambda _view: UNLIMITED, supervised.is_over)
DISPATCH = Way(dispatch.to_start, dispatch.room, dispatch.is_over)
WAYS: Mapping[Policy, Way] = {Policy.SUPERVISED: SUPERVISED, Policy.DISPATCH: DISPATCH}
"""By policy; a task that a human wants started works like a supervised one."""


def end_finished_sessions(view: View, plan: Plan) -> Plan:
    """End a session with nothing left to do: after its turn when its task is completed, else at once."""
    state = plan.living
    if state is None or state.ending_since or not is_over(view, plan.seat, state):
        return plan
    task = view.board.get(plan.seat.task)
    if task and task.status is Status.COMPLETED and view.now < (due := _turn_is_over(view, task, state)):
        return plan.wake(due)
    return ending.end(view, plan, state)


def remind(view: View, plan: Plan) -> Plan:
    """Remind a session that ended its turn with its task still open; after the last reminder, tell people.

    A member of the pool is reminded once for each claim: it may have ended its turn to wait for an answer.
    """
    if plan.seat.task is None:
        return _ask_once(view, plan)
    state, task = plan.living, view.board.get(plan.seat.task)
    if state is None or task is None or task.claim is None or view.stopping or not _owes_a_word(view, task, state):
        return plan
    due = max(view.at(state.since), view.at(task.claim.since or task.claim.claimed_at)) + REMIND_AFTER
    if view.now < due:
        return plan.wake(due)
    prefix = f"{state.incarnation}:owes:{task.epoch}:"
    key, times = f"{prefix}{state.since.isoformat()}", sum(notice_key.startswith(prefix) for notice_key in state.told)
    if key in state.told or times > REMINDERS:
        return plan
    new_state = replace(state, told=(*state.told, key)[-MEMORY:])
    if times < REMINDERS:
        return plan.then(new_state, Tell(key, state.agent_id, prompts.owes_a_word(task)))
    text = prompts.silent(state.agent_id, task)
    return plan.then(new_state, *(Tell(f"{key}:{to}", to, text) for to in view.supervisors))


def _ask_once(view: View, plan: Plan) -> Plan:
    """Remind a member of the pool, once and after its turn, of a task that it still holds."""
    state = plan.living
    if state is None or view.stopping or view.blind or plan.seat.agent == "shell" or not listens(view, plan.seat):
        return plan
    for task in view.board:
        key = f"{state.incarnation}:owes:{task.id}:{task.epoch}"
        if task.claim is None or key in state.told or task.waits or not _owes_a_word(view, task, state):
            continue
        due = max(view.at(state.since), view.at(task.claim.since or task.claim.claimed_at)) + REMIND_AFTER
        if view.now < due:
            plan = plan.wake(due)
        else:
            new_state = replace(state, told=(*state.told, key)[-MEMORY:])
            return plan.then(new_state, Tell(key, state.agent_id, prompts.owes_a_word(task)))
    return plan


def hire(view: View, plans: list[Plan]) -> list[Action]:
    """Return the seats to make or renew now for tasks.

    Only the lead with the duties makes new seats. Each lead renews the seats of its own machine.
    """
    if view.blind or view.stopping:
        return []
    seats, elsewhere = _seats(plans), {s.task for s in view.snapshot.wanted.seats if s.machine != view.snapshot.machine}
    hired = {task.id: seats.get(task.id) for task in _to_start(view) if task.id not in elsewhere}
    return [
        Hire(id, plan.seat.agent_id if plan else _name(view, view.board.tasks[id]))
        for id, plan in hired.items()
        if (_is_free(view, plan) if plan else view.snapshot.has_duties)
    ]


def dismiss(view: View, plans: list[Plan]) -> list[Action]:
    """Return the seats of tasks to remove."""
    if view.blind or view.stopping:
        return []
    to_start = {task.id for task in _to_start(view)}
    gone = [plan.seat for id, plan in _seats(plans).items() if id not in to_start and _is_done_with(view, plan)]
    return [Dismiss(seat.agent_id, seat.generation) for seat in gone]


def _seats(plans: list[Plan]) -> dict[str, Plan]:
    return {plan.seat.task: plan for plan in plans if plan.seat.task}


def expire(view: View) -> tuple[list[Action], datetime | None]:
    """Return the expiries of tasks over their time limit, and the time at which the next is due (behaviour 2.7)."""
    minutes = view.snapshot.policy.task_timeout_minutes
    late, next_at = supervised.overdue(view.board, timedelta(minutes=minutes), view.now, view.at)
    if view.stopping:
        return [], None
    return [Expire(task.id, task.claim.epoch, minutes) for task in late if task.claim], next_at


def is_over(view: View, seat: Seat, state: SeatState) -> bool:
    """Return True when a session's task is over, or no longer its own."""
    if seat.task is None or view.blind:
        return False
    task = view.board.get(seat.task)
    if task is None or _way(view.board, task).is_over(view.board, task.id):
        return True
    # An unopened session may not have its claim yet, so the task cannot name it.
    return state.incarnation not in view.snapshot.unopened and task.session != state.incarnation


def _turn_is_over(view: View, task: Task, state: SeatState) -> datetime:
    """Return the time to end a session with a completed task: soon after its turn, or after the turn limit."""
    if state.state is not State.IDLE:
        return view.at(task.completed_at or view.now) + TURN_LIMIT
    return view.at(state.since) + (LAST_LOOK if state.source else timedelta())


def _owes_a_word(view: View, task: Task, state: SeatState) -> bool:
    """Return True when a session is idle in the middle of its task and has read all its mail."""
    mail = view.snapshot.unread.get(state.agent_id)
    working = task.status is Status.IN_PROGRESS and task.claim and task.claim.incarnation == state.incarnation
    return bool(working) and state.state is State.IDLE and not (mail and mail.count)


def _to_start(view: View) -> list[Task]:
    if view.snapshot.wanted.paused or budget.exhausted(view.snapshot):
        return []
    seated = {seat.task for seat in view.snapshot.wanted.seats}
    tasks: dict[str, Task] = {}
    for way in WAYS.values():
        # Tasks with a seat come first: a seat beyond the room would be dismissed before its session starts.
        line = sorted(way.to_start(view.board), key=lambda task: task.id not in seated)
        tasks |= {task.id: task for task in line[: way.room(view)]}
    return list(tasks.values())


def startable(board: Board) -> list[Task]:
    """Return the tasks that get their own session automatically, now or as soon as there is room."""
    return [task for way in WAYS.values() for task in way.to_start(board)]


def _way(board: Board, task: Task) -> Way:
    return WAYS.get(board.declared(task) or Policy.SUPERVISED, SUPERVISED)


def _is_free(view: View, plan: Plan) -> bool:
    """Return True when a seat has no session, none is about to open there, and the last one left no process."""
    seat, state = plan.seat, plan.state
    if dispatch.is_to_harvest(view, plan):
        return False
    still_running = view.snapshot.guards_alive | view.snapshot.leftovers
    if state and (state.state not in ENDED or state.incarnation in still_running):
        return False
    return view.snapshot.runtime.failed(seat) or (state is not None and state.generation >= seat.generation)


def _is_done_with(view: View, plan: Plan) -> bool:
    """Return True when a seat's session is gone and holds nothing, and its task will not continue there."""
    if not _is_free(view, plan):
        return False
    if plan.state is None:
        return True
    task = view.board.get(plan.seat.task)
    holds = task is not None and task.claim is not None and task.claim.incarnation == plan.state.incarnation
    return not holds and is_over(view, plan.seat, plan.state)


def _name(view: View, task: Task) -> str:
    """Return a name for a task's seat: engineer-t12, or t12; a continued task keeps its last session's name."""
    taken = {name for seat in view.snapshot.wanted.seats for name in (seat.agent_id, seat.name.casefold())} | RESERVED
    if task.status is Status.DONE and task.assignee and task.assignee not in taken:
        return task.assignee
    number = f"t{task_number(task.id)}"
    role = f"{task.role[:30]}-" if task.role and NAME.fullmatch(task.role) else ""
    names = chain([f"{role}{number}"], (f"{role}{number}-{suffix}" for suffix in count(2)))
    return next(name for name in names if name not in taken)
