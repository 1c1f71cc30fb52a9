"""A team's progress: can anything still move by itself, and if not, how did its work end (behaviour 3.19)."""

from enum import IntEnum

import msgspec

from pro0 import processes
from pro0.model.caller import ANYONE
from pro0.model.need import Need
from pro0.model.runtime import ENDED, SeatState
from pro0.model.task import SETTLED, Kind, Status, Task
from pro0.model.team import Wanted, Wish
from pro0.ops.context import Context, operation
from pro0.ops.seats import Roster, roster
from pro0.ops.team.costs import spent
from pro0.ops.team.needs import seen, unled
from pro0.ops.team.status import counts
from pro0.rules.lead.hiring import startable
from pro0.rules.needs import needs
from pro0.rules.task_needs import LIST_FAILED, failed_before
from pro0.rules.tasks.board import Board, claimable, hopeless, why_not_ready
from pro0.rules.tasks.gates import wait_in_words
from pro0.store.teams import TeamStore


class WorkState(IntEnum):
    """The state of a team's work; the value is the exit code of `team wait` (behaviour 3.19)."""

    ALL_DONE = 0
    SOMETHING_FAILED = 1
    WAITS = 4


class Progress(msgspec.Struct, frozen=True, rename="camel"):
    """The progress of a team: moving or not, and at rest its outcome and the open tasks."""

    moving: bool
    outcome: WorkState
    counts: dict[str, int]
    left: tuple[str, ...]
    needs: tuple[Need, ...] = ()
    """What needs the person, once nothing moves by itself."""


@operation("team.progress", ANYONE, changes=False)
def progress(context: Context) -> Progress:
    """Return whether anything runs or could be taken by a living member (behaviour 3.19)."""
    team_roster, listed = roster(context.team), context.team.tasks.read()
    board, archived = Board(listed.tasks), listed.archived
    open_tasks = [task for task in board if task.status not in SETTLED]
    moving = _moves(context.team, team_roster, board)
    failed = [task for task in board if task.status is Status.FAILED]
    stuck = [task for task in open_tasks if hopeless(board, task)]
    lost = failed or stuck or archived.failed
    outcome = WorkState.SOMETHING_FAILED if lost else WorkState.WAITS if open_tasks else WorkState.ALL_DONE
    remaining = _left(board, [*failed, *open_tasks], _why_not_taken(team_roster.wanted))
    if archived.failed:
        remaining.append(f"{failed_before(archived)}: {LIST_FAILED}")
    needed = () if moving else needs(seen(context.team, team_roster, listed, context.now()))
    return Progress(moving, outcome, counts(board, archived), tuple(remaining), needed)


def _moves(team: TeamStore, team_roster: Roster, board: Board) -> bool:
    """Return True while work goes on, or will go on by itself: a claimed task, or one that somebody can take."""
    desired, lost = team_roster.wanted, _lost(team, team_roster)
    if any(task.claim and task.claim.agent_id not in lost for task in board if task.status is Status.IN_PROGRESS):
        return True
    if desired.wish is Wish.STOP:
        return False
    is_led = bool(team.machine) or not unled(team_roster.runtime)  # who leads on another machine cannot be seen
    if is_led and _harvests(team_roster, board):
        return True
    if desired.paused:
        return False
    may_start = not (desired.max_cost and spent(team.usage.read().sessions) >= desired.max_cost)
    if is_led and may_start and startable(board):
        return True
    return _somebody_can(team_roster, board, lost | _unbegun(team_roster, may_start=may_start))


def _lost(team: TeamStore, team_roster: Roster) -> set[str]:
    """Return the members that died together with the lead: nobody notices their end and frees their tasks."""
    if not unled(team_roster.runtime):
        return set()
    members_here = [seat.agent_id for seat in team_roster.wanted.seats if seat.machine == team.machine]
    return {agent_id for agent_id in members_here if not _lives(team_roster.state(agent_id))}


def _lives(state: SeatState | None) -> bool:
    """Return True for a session of which a process may still run."""
    if state is None or state.state in ENDED:
        return False
    return any(process is not None and processes.may_live(process) for process in (state.guard, state.agent))


def _harvests(team_roster: Roster, board: Board) -> bool:
    """Return True while a finished worker's output is being saved."""
    over = {task.id for task in board if task.status in SETTLED}
    return any(seat.disposable and seat.task in over for seat in team_roster.wanted.seats)


def _unbegun(team_roster: Roster, *, may_start: bool) -> set[str]:
    """Return the members without a session for which none will start: a start failed, or nothing may start."""
    return {
        seat.agent_id
        for seat in team_roster.wanted.seats
        if team_roster.state(seat.agent_id) is None and (not may_start or team_roster.runtime.failed(seat))
    }


def _somebody_can(team_roster: Roster, board: Board, absent: set[str]) -> bool:
    """Return True when a living member could take a task by itself; the shell agent takes only those with `run`."""
    for seat in team_roster.live():
        if seat.task or seat.agent == "command" or seat.agent_id in absent:
            continue
        offers = claimable(board, seat.agent_id)
        if any(task.run or seat.agent != "shell" for task in offers):
            return True
    return False


def _why_not_taken(desired: Wanted) -> str:
    """Return why nobody takes a ready task; this names a stopped or paused team, since no need does."""
    if desired.wish is Wish.STOP:
        return "ready, but the team is stopped; pro0 team resume lets it go on"
    if desired.paused:
        return "ready, but the team is paused; pro0 team unpause lets it go on"
    return "ready, but nobody takes it"


def _left(board: Board, tasks: list[Task], why_not_taken: str) -> list[str]:
    tasks_left = [task for task in tasks if task.type is not Kind.EPIC or _is_left_alone(board, task)]
    return [f"{task.id} {task.status.words}: {_why_left(board, task) or why_not_taken}" for task in tasks_left]


def _is_left_alone(board: Board, epic: Task) -> bool:
    """Return True for an epic with all subtasks completed or cancelled; otherwise its subtasks are named instead."""
    return all(child.status in (Status.COMPLETED, Status.CANCELLED) for child in board.children(epic.id))


def _why_left(board: Board, task: Task) -> str:
    """Return the obstacle of a task, "" for a ready one."""
    if task.status is Status.FAILED:
        return task.closed_reason or "no reason was given"
    if task.status is Status.DONE:
        return "waits for its subtasks"
    if task.type is Kind.EPIC and not task.waits:
        return "an epic without open subtasks; close it: pro0 task close"
    if task.waits:
        return f"awaiting {wait_in_words(task.waits)}"
    return (why_not_ready(board, task) or "").removeprefix("is ")
