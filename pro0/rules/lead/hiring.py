"""Sessions for tasks: which task gets one now, and which session has nothing left to do.

A task that is supervised, dispatched, or that a human wants started is worked on in a session of its own. Its seat
names the task (`Seat.task`). The lead makes it and takes it away, each step a function of the state:

1. The task is in `to_start` of its way of working, and has no seat whose session lives: `Hire` makes the seat.
2. The seat has no session of its generation: `Start` records one, gives it the claim (`task.begin`), then opens it.
   When that fails all of it is undone (`task.undo_start`).
3. The task is over, or its claim went to another session: this one is ended, after its turn when its work was done.
4. The session is dead and holds nothing: `Dismiss` takes the seat away, unless the task may be gone on with there.

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
from pro0.rules.lead.plan import MEMORY, Plan, View
from pro0.rules.tasks.board import Board
from pro0.rules.words import prompts

TURN_LIMIT = timedelta(seconds=30)
"""How long a session whose task is completed may take to end its turn."""
LAST_LOOK = timedelta(seconds=4)
"""How long an idle agent is kept, so that what it used last is read from its transcript."""
UNLIMITED = 10**9
REMIND_AFTER = timedelta(seconds=10)
"""How long a session is idle in the middle of its task until it is reminded."""
REMINDERS = 3
"""How often it is reminded in one claim, before people are told."""


class Way(msgspec.Struct, frozen=True):
    """One way of working in sessions of tasks."""

    to_start: Callable[[Board], list[Task]]
    """Which tasks are to get one, the first first."""
    room: Callable[[View], int]
    """How many more there may be at once now."""
    is_over: Callable[[Board, str], bool]
    """Whether the session of a task has nothing left to do."""


SUPERVISED = Way(supervised.to_start, lambda _view: UNLIMITED, supervised.is_over)
DISPATCH = Way(dispatch.to_start, dispatch.room, dispatch.is_over)
WAYS: Mapping[Policy, Way] = {Policy.SUPERVISED: SUPERVISED, Policy.DISPATCH: DISPATCH}
"""By policy; a task that a human wants started works like a supervised one."""


def let_go(view: View, plan: Plan) -> Plan:
    """End a session that has nothing left to do: after its turn when its task is completed, else at once."""
    state = plan.living
    if state is None or state.ending_since or not is_over(view, plan.seat, state):
        return plan
    task = view.board.get(plan.seat.task)
    if task and task.status is Status.COMPLETED and view.now < (due := _turn_is_over(view, task, state)):
        return plan.wake(due)
    return ending.end(view, plan, state)


def remind(view: View, plan: Plan) -> Plan:
    """Remind a session that ended its turn without a word of how its task went; when that is in vain, tell people."""
    state, task = plan.living, view.board.get(plan.seat.task)
    if state is None or task is None or task.claim is None or view.stopping or not _owes_a_word(view, task, state):
        return plan
    due = max(view.at(state.since), view.at(task.claim.since or task.claim.claimed_at)) + REMIND_AFTER
    if view.now < due:
        return plan.wake(due)
    prefix = f"{state.incarnation}:owes:{task.epoch}:"
    key, times = f"{prefix}{state.since.isoformat()}", sum(one.startswith(prefix) for one in state.told)
    if key in state.told or times > REMINDERS:
        return plan
    told = replace(state, told=(*state.told, key)[-MEMORY:])
    if times < REMINDERS:
        return plan.then(told, Tell(key, state.agent_id, prompts.owes_a_word(task)))
    text = prompts.silent(state.agent_id, task)
    return plan.then(told, *(Tell(f"{key}:{to}", to, text) for to in view.supervisors))


def hire(view: View, plans: list[Plan]) -> list[Action]:
    """Return the seats to make now for tasks, and those to take away."""
    if view.blind or view.stopping:
        return []
    seats = {plan.seat.task: plan for plan in plans if plan.seat.task}
    hired = {task.id: seats.get(task.id) for task in _to_start(view)}
    hires = [
        Hire(id, plan.seat.agent_id if plan else _name(view, view.board.tasks[id]))
        for id, plan in hired.items()
        if plan is None or _is_free(view, plan)
    ]
    gone = [plan.seat for id, plan in seats.items() if id not in hired and _is_done_with(view, plan)]
    return [*hires, *(Dismiss(seat.agent_id, seat.generation) for seat in gone)]


def expire(view: View) -> tuple[list[Action], datetime | None]:
    """Return which tasks to give up that were worked on for longer than allowed, and when the next will be (2.7)."""
    minutes = view.snapshot.task_minutes
    late, next_at = supervised.overdue(view.board, timedelta(minutes=minutes), view.now, view.at)
    if view.stopping:
        return [], None
    return [Expire(task.id, task.claim.epoch, minutes) for task in late if task.claim], next_at


def is_over(view: View, seat: Seat, state: SeatState) -> bool:
    """Return whether a session of a task has nothing left to do, or its task is no longer its own."""
    if seat.task is None or view.blind:
        return False
    task = view.board.get(seat.task)
    if task is None or _way(view.board, task).is_over(view.board, task.id):
        return True
    return state.incarnation not in view.snapshot.unopened and task.session != state.incarnation


def _turn_is_over(view: View, task: Task, state: SeatState) -> datetime:
    """Return when a session whose task is completed may be ended: some seconds after its turn, or too long a turn."""
    if state.state is not State.IDLE:
        return view.at(task.completed_at or view.now) + TURN_LIMIT
    return view.at(state.since) + (LAST_LOOK if state.source else timedelta())


def _owes_a_word(view: View, task: Task, state: SeatState) -> bool:
    """Return whether a session is idle in the middle of its task, and has read all its mail."""
    mail = view.snapshot.unread.get(state.agent_id)
    working = task.status is Status.IN_PROGRESS and task.claim and task.claim.incarnation == state.incarnation
    return bool(working) and state.state is State.IDLE and not (mail and mail.count)


def _to_start(view: View) -> list[Task]:
    if view.snapshot.wanted.paused or budget.exhausted(view.snapshot):
        return []
    seated = {seat.task for seat in view.snapshot.wanted.seats}
    found: dict[str, Task] = {}
    for way in WAYS.values():
        line = sorted(way.to_start(view.board), key=lambda task: task.id not in seated)
        found |= {task.id: task for task in line[: way.room(view)]}
    return list(found.values())


def startable(board: Board) -> list[Task]:
    """Return the tasks that get a session of their own by themselves, now or when there is room."""
    return [task for way in WAYS.values() for task in way.to_start(board)]


def _way(board: Board, task: Task) -> Way:
    return WAYS.get(board.declared(task) or Policy.SUPERVISED, SUPERVISED)


def _is_free(view: View, plan: Plan) -> bool:
    """Return whether a seat has no session, none is about to be opened there, and nothing of the last one is left."""
    seat, state = plan.seat, plan.state
    if dispatch.is_to_harvest(view, plan):
        return False
    left = view.snapshot.guards_alive | view.snapshot.leftovers
    if state and (state.state not in ENDED or state.incarnation in left):
        return False
    return view.snapshot.runtime.failed(seat) or (state is not None and state.generation >= seat.generation)


def _is_done_with(view: View, plan: Plan) -> bool:
    """Return whether a seat has no session that lives or holds anything, and its task will not go on there."""
    if not _is_free(view, plan):
        return False
    if plan.state is None:
        return True
    task = view.board.get(plan.seat.task)
    holds = task is not None and task.claim is not None and task.claim.incarnation == plan.state.incarnation
    return not holds and is_over(view, plan.seat, plan.state)


def _name(view: View, task: Task) -> str:
    """Return the name of a seat for a task: engineer-t12, or t12; that of its last session when it is gone on with."""
    taken = {name for seat in view.snapshot.wanted.seats for name in (seat.agent_id, seat.name.casefold())} | RESERVED
    if task.status is Status.DONE and task.assignee and task.assignee not in taken:
        return task.assignee
    number = f"t{task_number(task.id)}"
    role = f"{task.role[:30]}-" if task.role and NAME.fullmatch(task.role) else ""
    names = chain([f"{role}{number}"], (f"{role}{number}-{more}" for more in count(2)))
    return next(name for name in names if name not in taken)
