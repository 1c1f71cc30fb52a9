"""A team's progress: can anything still move by itself, and if not, how did its work end (behaviour 3.19)."""

from enum import IntEnum

import msgspec

from pro0.model.caller import ANYONE
from pro0.model.need import Need
from pro0.model.runtime import ENDED
from pro0.model.task import SETTLED, Kind, Status, Task
from pro0.model.team import Wish
from pro0.ops.context import Context, operation
from pro0.ops.seats import Roster, roster
from pro0.ops.team.needs import seen
from pro0.ops.team.status import counts
from pro0.rules.lead.hiring import startable
from pro0.rules.needs import needs
from pro0.rules.task_needs import LIST_FAILED, failed_before
from pro0.rules.tasks.board import Board, claimable, hopeless, why_not_ready
from pro0.rules.tasks.gates import wait_in_words


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
    at_work = any(task.claim and task.status is Status.IN_PROGRESS for task in open_tasks)
    moving = (
        at_work
        or _harvests(team_roster, board)
        or (not team_roster.wanted.paused and (bool(startable(board)) or _somebody_can(team_roster, board)))
    )
    failed = [task for task in board if task.status is Status.FAILED]
    stuck = [task for task in open_tasks if hopeless(board, task)]
    lost = failed or stuck or archived.failed
    outcome = WorkState.SOMETHING_FAILED if lost else WorkState.WAITS if open_tasks else WorkState.ALL_DONE
    remaining = _left(board, [*failed, *open_tasks])
    if archived.failed:
        remaining.append(f"{failed_before(archived)}: {LIST_FAILED}")
    needed = () if moving else needs(seen(context.team, team_roster, listed, context.now()))
    return Progress(moving, outcome, counts(board, archived), tuple(remaining), needed)


def _harvests(team_roster: Roster, board: Board) -> bool:
    """Return True while a finished worker's output is being saved."""
    over = {task.id for task in board if task.status in SETTLED}
    return team_roster.wanted.wish is Wish.RUN and any(
        seat.disposable and seat.task in over for seat in team_roster.wanted.seats
    )


def _somebody_can(team_roster: Roster, board: Board) -> bool:
    """Return True when a living member could take a task by itself; the shell agent takes only those with `run`."""
    for seat in team_roster.live():
        state = team_roster.state(seat.agent_id)
        if seat.task or seat.agent == "command" or (state and state.state in ENDED):
            continue
        offers = claimable(board, seat.agent_id)
        if any(task.run or seat.agent != "shell" for task in offers):
            return True
    return False


def _left(board: Board, tasks: list[Task]) -> list[str]:
    named = [task for task in tasks if task.type is not Kind.EPIC or _is_left_alone(board, task)]
    return [f"{task.id} {task.status.words}: {_why_left(board, task)}" for task in named]


def _is_left_alone(board: Board, epic: Task) -> bool:
    """Return True for an epic with nothing left below it; of any other what is below it is named."""
    return all(child.status in (Status.COMPLETED, Status.CANCELLED) for child in board.children(epic.id))


def _why_left(board: Board, task: Task) -> str:
    if task.status is Status.FAILED:
        return task.closed_reason or "no reason was given"
    if task.status is Status.DONE:
        return "waits for its subtasks"
    if task.type is Kind.EPIC and not task.waits:
        return "an epic with nothing left below it; pro0 task close ends it"
    if task.waits:
        return f"awaiting {wait_in_words(task.waits)}"
    return (why_not_ready(board, task) or "ready, but nobody takes it").removeprefix("is ")
