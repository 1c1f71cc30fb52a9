"""The run engine's choices (behaviour 2.21): the next task, a rest, or the end of the run. See also judging.py.

Laws:

* A run never waits for a human. It leaves the human's tasks alone and takes the next one.
* The order: the epic in hand, epics with work in progress, other epics, standalone tasks, tasks with a finished
  parent; within each the order of `next`.
* A run ends by itself when none of its tasks is left; without `auto` also when none of them is ready.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

import msgspec

from pro0.model.caller import Caller
from pro0.model.ids import HUMAN
from pro0.model.run import RUNNER, RunOptions
from pro0.model.runtime import RateLimit
from pro0.model.task import SETTLED, Kind, Status, Task
from pro0.rules.runs.scope import Scope, within
from pro0.rules.tasks.board import Board, claimable, next_order, why_not_ready

SHOWN = 10
"""The most tasks named in a list of ready tasks that a run leaves alone."""


class Course(msgspec.Struct, frozen=True):
    """The course of a run: its cost, its epic, the start of its idle time, its failures in a row.

    `limit` keeps the run from beginning a turn.
    """

    spent: float = 0.0
    epic: str | None = None
    idle_since: datetime | None = None
    failures: int = 0
    limit: RateLimit | None = None


class Take(msgspec.Struct, frozen=True):
    """The decision to take up a task now."""

    task: Task


class Rest(msgspec.Struct, frozen=True):
    """The decision to do nothing now; look again at a change, or at `until`."""

    until: datetime | None
    why: str


class RunEnd(msgspec.Struct, frozen=True):
    """The end of the run; `code` is its exit code."""

    code: int
    why: str


def choose(
    board: Board, options: RunOptions, me: Caller, course: Course, now: datetime, living: Collection[str]
) -> Take | Rest | RunEnd:
    """Return the run's next decision. A task that an agent has already claimed for this session comes first.

    `living` are the incarnations of all sessions not yet over: a task held by any other one is about to be given back.
    """
    if over := budget(options, course.spent):
        return over
    if held := [task for task in board if task.claim and task.claim.incarnation == me.incarnation]:
        return Take(held[0])
    offered = [task for task in claimable(board, me.agent_id) if _is_meant(board, task, options)]
    fresh = {task.id: until for task in offered if (until := _fresh_until(task, options, now))}
    if ripe := [task for task in offered if task.id not in fresh]:
        return Take(min(ripe, key=lambda task: _rank(board, task, course)))
    if fresh:
        return Rest(min(fresh.values()), f"changed just now: {', '.join(fresh)}")
    dead = [task.id for task in in_scope(board, options) if _holder(task) not in ("", HUMAN, *living)]
    if dead:
        return Rest(None, f"its session is over, it will be given back: {', '.join(dead)}")
    return _nothing(board, options, course, now)


def budget(options: RunOptions, spent: float) -> RunEnd | None:
    """Return the end of a run at its cost limit, else None."""
    if not options.max_cost or spent < options.max_cost:
        return None
    return RunEnd(1, f"cost limit reached (${spent:.2f} of ${options.max_cost:.2f})")


def epic_of(board: Board, task: Task) -> Task | None:
    """Return the nearest epic above a task."""
    return next((above for above in board.ancestors(task) if above.type is Kind.EPIC), None)


def in_scope(board: Board, options: RunOptions) -> list[Task]:
    """Return all tasks of a run, in any status, in the order of `next`."""
    return sorted((task for task in board if _is_below(board, task, options)), key=next_order)


def summary(board: Board, options: RunOptions) -> str:
    """Return a line about the run's open tasks: for people, with or for others, blocked; "" for none.

    Ready tasks that the run leaves alone are not in it.
    """
    unsettled = _open(board, options)
    waiting = [f"{task.id} ({task.waits.words})" for task in unsettled if task.waits]
    held = [f"{task.id} ({task.claim.agent_id})" for task in unsettled if task.claim]
    blocked = [task for task in unsettled if not (task.waits or task.claim) and why_not_ready(board, task)]
    reserved, own_session = _of_others(board, options)
    parts = [f"for you: {', '.join(waiting)}"] if waiting else []
    parts += [f"worked on by others: {', '.join(held)}"] if held else []
    parts += [f"reserved for others: {', '.join(reserved)}"] if reserved else []
    parts += [f"for sessions of their own: {', '.join(own_session)}"] if own_session else []
    return "; ".join([*parts, f"{len(blocked)} blocked"] if blocked else parts)


def has_open_tasks(board: Board, options: RunOptions) -> bool:
    """Return True while a task of the run is not over."""
    return bool(_open(board, options))


def _of_others(board: Board, options: RunOptions) -> tuple[list[str], list[str]]:
    """Return the ready tasks of a run that are reserved, with their members, and those that get their own sessions."""
    offered = {task.id for task in claimable(board, RUNNER)}
    open_tasks = _open(board, options)
    tasks = [task for task in open_tasks if task.id not in offered and why_not_ready(board, task) is None]
    reserved = [f"{task.id} ({task.assignee})" for task in tasks if task.assignee and not task.start]
    return reserved, [task.id for task in tasks if task.start or not task.assignee]


def _nothing(board: Board, options: RunOptions, course: Course, now: datetime) -> Rest | RunEnd:
    """Return the decision of a run with nothing to take."""
    if not _open(board, options):
        return _all_over(board, options)
    note = _left_alone(board, options)
    nothing = "nothing is ready for this run" if note or any(_of_others(board, options)) else "no task is ready"
    why = "; ".join(filter(None, (nothing, summary(board, options))))
    if not options.auto:
        return RunEnd(_code(board, options), f"{why}{note}")
    if not options.timeout:
        return Rest(None, why)
    until = (course.idle_since or now) + timedelta(seconds=options.timeout)
    if now < until:
        return Rest(until, why)
    return RunEnd(_code(board, options), f"nothing new in {options.timeout:g} s; {why}{note}")


def _all_over(board: Board, options: RunOptions) -> RunEnd:
    over = [task for task in in_scope(board, options) if task.type is not Kind.EPIC]
    note = _left_alone(board, options)
    if not over:
        return RunEnd(0, f"no tasks found{note}")
    failed = [task.id for task in over if task.status is Status.FAILED]
    cancelled = [task.id for task in over if task.status is Status.CANCELLED]
    if not failed and not cancelled:
        return RunEnd(0, f"all tasks completed{note}")
    parts = [f"; failed: {', '.join(failed)}"] if failed else []
    parts += [f"; cancelled: {_listed(cancelled)}"] if cancelled else []
    return RunEnd(int(bool(failed)), f"no task is left{''.join(parts)}{note}")


def _left_alone(board: Board, options: RunOptions) -> str:
    """Return which ready tasks a run leaves alone, and why; a run of one epic names only those in it."""
    ready = claimable(board, RUNNER)
    outside = [] if options.epic else [task.id for task in ready if not _is_below(board, task, options)]
    unable = [task.id for task in ready if _is_below(board, task, options) and not _is_meant(board, task, options)]
    note = f"; ready but in no epic: {_listed(outside)} (--all includes them)" if outside else ""
    return f"{note}; ready but without a command for the shell: {_listed(unable)}" if unable else note


def _listed(ids: list[str]) -> str:
    hidden = len(ids) - SHOWN
    return f"{', '.join(ids[:SHOWN])}{f' and {hidden} more' if hidden > 0 else ''}"


def _code(board: Board, options: RunOptions) -> int:
    return int(any(task.status is Status.FAILED for task in in_scope(board, options)))


def _open(board: Board, options: RunOptions) -> list[Task]:
    return [task for task in in_scope(board, options) if task.type is not Kind.EPIC and task.status not in SETTLED]


def _is_meant(board: Board, task: Task, options: RunOptions) -> bool:
    """Return True when a run may take a ready task; the shell agent only takes tasks with a command."""
    return _is_below(board, task, options) and (options.agent != "shell" or bool(task.run))


def _is_below(board: Board, task: Task, options: RunOptions) -> bool:
    if options.epic:
        return within(board, task, Scope(epic=options.epic))
    if _is_orphaned(board, task):
        return options.orphans
    return epic_of(board, task) is not None or options.standalone


def _is_orphaned(board: Board, task: Task) -> bool:
    """Return True when an open task's parent is over or gone."""
    if not task.parent or task.status in SETTLED:
        return False
    above = board.get(task.parent)
    return above is None or above.status in (Status.COMPLETED, Status.CANCELLED)


Order = tuple[bool, int, datetime, int]


def _rank(board: Board, task: Task, course: Course) -> tuple[int, Order, Order]:
    epic, task_order = epic_of(board, task), next_order(task)
    if _is_orphaned(board, task) or epic is None:
        return 4 if _is_orphaned(board, task) else 3, task_order, task_order
    if epic.id == course.epic:
        return 0, task_order, task_order
    return 1 if _has_begun(board.below(epic)) else 2, next_order(epic), task_order


def _holder(task: Task) -> str:
    return task.claim.incarnation if task.claim else ""


def _has_begun(tasks: Iterable[Task]) -> bool:
    return any(task.started_at for task in tasks)


def _fresh_until(task: Task, options: RunOptions, now: datetime) -> datetime | None:
    """Return the end of a changed task's quiet time, so that its author can add more; None for none."""
    updated = task.updated_at
    until = updated + timedelta(seconds=options.debounce) if updated else None
    return until if updated and until and updated <= now < until else None
