"""Seats for tasks: the lead makes them and takes them away, as `rules.lead.hiring` decides."""

from msgspec.structs import replace

from pro0.agents.installed import first_installed
from pro0.model import ids
from pro0.model.caller import LEAD_ONLY
from pro0.model.task import Policy, Status, Task
from pro0.model.team import Seat, Wanted
from pro0.ops.context import Context, operation
from pro0.ops.seats import Roster
from pro0.ops.tasks import roles
from pro0.ops.tasks.acting import settings
from pro0.ops.team.members import renewed, with_seat
from pro0.rules.tasks.board import Board
from pro0.rules.tasks.changes import find
from pro0.store.teams import Store


@operation("member.hire", LEAD_ONLY)
def hire(context: Context, id: str, agent_id: str) -> Seat | None:
    """Ask for a session for one task; None when its seat is there and its session lives, or the name is taken."""
    team = context.team.require()
    tasks = team.tasks.read()
    task = find(tasks, ids.task_id(id))
    with team.wanted.change(f"hire for {task.id}") as change:
        members = Roster(team.name, change.value, team.runtime.read())
        seat = next((s for s in change.value.seats if s.task == task.id), None)
        if seat and not members.ended(seat.agent_id) and not members.runtime.failed(seat):
            return None
        # The name was taken meanwhile: the lead picks a free one at its next look.
        if seat is None and any(s.agent_id == agent_id for s in change.value.seats):
            return None
        board = Board(tasks.tasks)
        hired = _rehired(context, seat, task) if seat else _seat(context, task, board, agent_id, change.value)
        hired = renewed(hired, members.runtime, fresh=hired.fresh)
        team.mailbox(hired.agent_id).make()
        change.value = with_seat(change.value, hired)
    team.log_event(context.now(), context.caller.agent_id, "member.hire", agent=hired.agent_id, task=task.id)
    return hired


@operation("member.dismiss", LEAD_ONLY)
def dismiss(context: Context, agent_id: str, generation: int) -> None:
    """Remove the seat of a task, unless it has a newer generation; its mailbox, log and usage stay."""
    with context.team.require().wanted.change(f"dismiss {agent_id}") as change:
        gone = [s for s in change.value.seats if s.task and (s.agent_id, s.generation) == (agent_id, generation)]
        if gone:
            change.value = replace(change.value, seats=tuple(s for s in change.value.seats if s not in gone))
    context.team.log_event(context.now(), context.caller.agent_id, "member.dismiss", agent=agent_id)


def _seat(context: Context, task: Task, board: Board, agent_id: str, wanted: Wanted) -> Seat:
    """Return the seat of a task; the agent is the one asked for, its role's, the default, or its parent's."""
    role, above = roles.of(Store(context.team.paths.home), task.role), board.supervisor(task)
    parent = next((seat for seat in wanted.seats if above and seat.agent_id == above.assignee), None)
    chosen = task.start.agent if task.start else None
    defaults, disposable = settings(context), board.declared(task) is Policy.DISPATCH
    agent = (
        chosen
        or task.agent
        or role.agent
        or defaults.task_agent
        or (parent.agent if parent else _any_agent(task, disposable=disposable))
    )
    like = parent if parent and parent.agent == agent else None
    return Seat(
        agent_id=agent_id,
        name=agent_id,
        generation=0,
        agent=agent,
        role=task.role or "",
        task=task.id,
        machine=context.team.machine,
        worktree=disposable and not task.shared,
        disposable=disposable,
        argv=role.argv if role.agent == agent else like.argv if like else (),
        model=role.model or (like.model if like else ""),
        effort=like.effort if like else "",
        permission_mode=like.permission_mode if like else None,
        definition=defaults.agents.get(agent),
    )


def _any_agent(task: Task, *, disposable: bool) -> str:
    """Return the agent when nobody has chosen one; in a worker, shell is useful only for a command."""
    return (first_installed() if disposable and not task.run else None) or "shell"


def _rehired(context: Context, seat: Seat, task: Task) -> Seat:
    """Return the seat of a task for another session; it resumes if the agent is the same and the task goes on."""
    agent = (task.start.agent if task.start else None) or seat.agent
    definition = settings(context).agents.get(agent, seat.definition if agent == seat.agent else None)
    fresh = agent != seat.agent or task.status is not Status.DONE
    return replace(seat, agent=agent, definition=definition, fresh=fresh)
