"""The dispatch policy: one disposable worker per task, up to a limit, and a queue for the rest (behaviour 2.20).

A worker is a seat with `disposable` set. The lead ends it as soon as its task is no longer in progress. Once the
worker's whole process tree is dead, the lead harvests its work. Then the lead removes the seat. A task given back to
the queue gets another worker.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec.structs import replace

from pro0.model.decision import Harvest, Tell
from pro0.model.ids import LEAD
from pro0.model.runtime import ENDED, SeatState, State
from pro0.model.task import Entry, Policy, Status, Task
from pro0.model.team import Seat
from pro0.rules.lead.plan import Plan, View
from pro0.rules.tasks.board import Board, next_order, why_not_ready
from pro0.rules.words import prompts

UNEXPECTED = "worker process died unexpectedly"
LEFT = "left"
"""The act of a history entry about a branch that is not, or no longer, the task's own; its text names the branch."""


_ASKS = frozenset({State.WAITING, State.DIALOG})
"""States reported to a person in any case."""


class Stage(StrEnum):
    """A worker's progress with its task, as people see it."""

    BLOCKED = "blocked"
    IN_LINE = "in line"
    STARTING = "starting"
    WORKING = "working"
    AWAITING = "awaiting"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


def to_start(board: Board) -> list[Task]:
    """Return the tasks due to get a worker, in queue order."""
    ready = [task for task in board if _is_in_line(board, task)]
    return sorted(ready, key=next_order)


def room(view: View) -> int:
    """Return the number of worker slots for waiting tasks, workers now starting included."""
    waiting = {task.id for task in to_start(view.board)}
    workers = [seat for seat in view.snapshot.wanted.seats if seat.disposable and seat.task not in waiting]
    return max(view.snapshot.policy.max_workers - len(workers), 0)


def is_over(board: Board, task_id: str) -> bool:
    """Return True when a task's worker has nothing left to do; a worker waiting for a human may still continue."""
    task = board.get(task_id)
    return task is None or task.status is not Status.IN_PROGRESS


def harvest(view: View, plan: Plan) -> Plan:
    """Harvest a dead worker's work, once none of its processes runs and it holds no task."""
    state, task_id = plan.state, _whose_worker(plan.seat)
    if state is None or task_id is None or not is_to_harvest(view, plan) or view.stopping or view.blind:
        return plan
    # A living process could still write to the worktree, and a held task is given back first.
    still_running = state.incarnation in view.snapshot.guards_alive | view.snapshot.leftovers
    if still_running or any(task.claim and task.claim.incarnation == state.incarnation for task in view.board):
        return plan
    return plan.also(_harvest(task_id, state))


def is_to_harvest(view: View, plan: Plan) -> bool:
    """Return True when a worker is dead and not yet harvested."""
    state = plan.state
    dead = plan.seat.disposable and state is not None and state.state in ENDED
    return dead and state is not None and state.incarnation not in view.snapshot.workers.harvested


def forward_comments(view: View, plan: Plan) -> Plan:
    """Forward a worker's comments on its task to the lead address, each comment once."""
    state, task_id = plan.state, _whose_worker(plan.seat)
    if state is None or task_id is None:
        return plan
    comments = view.snapshot.workers.comments.get(task_id, ())
    new = [comment for comment in comments[state.heard :] if comment.author == state.agent_id]
    tells = [
        Tell(f"{state.incarnation}:comment:{comment.id}", LEAD, prompts.remark(state.agent_id, task_id, comment.text))
        for comment in new
    ]
    return plan.then(replace(state, heard=max(state.heard, len(comments))), *tells)


def warn(view: View, plan: Plan) -> Plan:
    """Warn the lead address about a worker that may be stuck, once per cooldown; the worker keeps running."""
    state, task_id = plan.living, _whose_worker(plan.seat)
    if state is None or task_id is None or state.state in _ASKS:
        return plan
    quiet_seconds, limit = view.snapshot.workers.still.get(state.incarnation), view.snapshot.policy.stuck_seconds
    cool = state.warned_at and view.now < view.at(state.warned_at) + timedelta(seconds=limit)
    task = view.board.get(task_id)
    if quiet_seconds is None or quiet_seconds < limit or cool or (task and task.waits):
        return plan
    text = prompts.stuck(state.agent_id, task_id, quiet_seconds)
    return plan.then(
        replace(state, warned_at=view.now), Tell(f"{state.incarnation}:still:{view.now.isoformat()}", LEAD, text)
    )


def how_it_ended(seat_is_disposable: bool, state: SeatState) -> str:
    """Return the reason for a returned claim or a failed task, in the words of the task's history."""
    if seat_is_disposable and state.exit and state.exit.code == 0:
        return "exited without closing its task"
    parts = (state.state, UNEXPECTED if seat_is_disposable else "", state.note)
    return ": ".join(part for part in parts if part)


def stage(board: Board, task: Task, state: SeatState | None) -> Stage:
    """Return the stage of a task's worker; a finished task keeps its stage, even with a live process."""
    over = {Status.COMPLETED: Stage.DONE, Status.DONE: Stage.DONE, Status.CANCELLED: Stage.CANCELLED}
    if task.status in over:
        return over[task.status]
    if task.status is Status.FAILED:
        return Stage.FAILED
    if task.waits:
        return Stage.AWAITING
    if task.status is Status.PENDING and (state is None or state.state in ENDED):
        return Stage.IN_LINE if _is_in_line(board, task) else Stage.BLOCKED
    if state is not None and state.state in ENDED:
        return Stage.FAILED
    return Stage.STARTING if state is None or state.state is State.STARTING else Stage.WORKING


def on_branch(task: Task, branch: str | None, by: str, now: datetime) -> Task:
    """Return a task on another branch, or on none; its history keeps the name of the former branch."""
    if task.branch in (None, branch):
        return replace(task, branch=branch)
    return with_left(replace(task, branch=branch), [task.branch] if task.branch else [], by, now)


def with_left(task: Task, branches: Iterable[str], by: str, now: datetime) -> Task:
    """Return a task with these branches named in its history as left, each once."""
    known = {*earlier_branches(task.history)}
    new = [Entry(at=now, actor=by, act=LEFT, to=task.status, text=name) for name in branches if name not in known]
    return replace(task, updated_at=now, history=(*task.history, *new)) if new else task


def earlier_branches(history: Iterable[Entry]) -> list[str]:
    """Return the other branches left by a task's workers, including merged and deleted ones."""
    return list(dict.fromkeys(entry.text for entry in history if entry.act == LEFT))


def _is_in_line(board: Board, task: Task) -> bool:
    free = task.status is Status.PENDING and not task.start and task.assignee is None
    return free and board.declared(task) is Policy.DISPATCH and why_not_ready(board, task) is None


def _whose_worker(seat: Seat) -> str | None:
    return seat.task if seat.disposable else None


def _harvest(task_id: str, state: SeatState) -> Harvest:
    return Harvest(
        agent_id=state.agent_id,
        incarnation=state.incarnation,
        task=task_id,
        worktree=state.worktree,
        branch=state.branch,
        how=how_it_ended(True, state),
    )
