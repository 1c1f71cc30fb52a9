"""Tools of who leads: teammates come and go (S004-044, 047, 049; rulings 3.16), and everybody sees who is there."""

from contextlib import suppress
from typing import Annotated

from msgspec import Meta

from pro0.errors import BadInput, TimedOut
from pro0.mcp import views
from pro0.mcp.desk import Desk
from pro0.mcp.tool import LEADS, TEAMMATES, tool
from pro0.model.ids import LEAD
from pro0.model.task import Draft
from pro0.model.team import Seat
from pro0.ops import members, tasks
from pro0.ops.context import Context
from pro0.ops.members import SeatDraft
from pro0.ops.status import status

PATIENCE = 20.0
"""Seconds that a call waits for a teammate to end; clients give up on a tool some time after that."""
TITLE = 100
"""Letters of a task's title that is made of its text."""

Teammate = Annotated[str, Meta(description="The teammate's name or id.")]


@tool("member.spawn", LEADS, waits=True)
def spawn_teammate(
    desk: Desk,
    name: Annotated[str, Meta(description="What it is called; an ended teammate of that name is started again.")],
    category: Annotated[str, Meta(description="Its role id.")] = "",
    task: Annotated[str, Meta(description="What it should do first; it becomes a task reserved for it.")] = "",
    todo_id: Annotated[str | None, Meta(description="The id of a task that is there, to be reserved for it.")] = None,
    agent: Annotated[str | None, Meta(description="The agent program; without it the same as yours, or shell.")] = None,
    prompt: Annotated[str, Meta(description="What it is told at its start, besides how the team works.")] = "",
) -> views.MemberView:
    """Start a teammate in a session of its own, and wait until it is up. It takes ready tasks by itself."""
    context = desk.context
    if task and todo_id:
        raise BadInput("a task or a todo_id, not both")
    if todo_id:
        tasks.show(context, todo_id)
    draft = SeatDraft(name=name, agent=agent or _own_agent(context), role=category, prompt=prompt)
    [seat] = members.spawn(context, [draft], desk.settings().max_teammates)
    _started(context, seat)
    if task:
        tasks.create(context, [_first(task, seat)])
    elif todo_id:
        tasks.assign(context, todo_id, seat.agent_id)
    return _view(context, seat.agent_id)


@tool("member.shutdown", LEADS, waits=True)
def shutdown_teammate(
    desk: Desk,
    teammate_name: Teammate,
    reason: Annotated[str, Meta(description="What it is told.")] = "",
    force: Annotated[bool, Meta(description="End it even if it has not agreed in a minute.")] = False,
) -> views.MemberView:
    """Ask a teammate to shut down, and wait a while for its end.

    One that works says "not yet" and is asked again when it is idle; list_teammates shows how it went.
    """
    context = desk.context
    _ended(context, members.shutdown(context, teammate_name, reason=reason, force=force))
    return _view(context, members.members(context).find(teammate_name).agent_id)


@tool("member.list", LEADS)
def list_teammates(desk: Desk) -> views.Members:
    """List all teammates with what each does now: its state, its task, its unread messages."""
    return _members(desk.context, brief=False)


@tool("member.list", TEAMMATES)
def get_team_members(desk: Desk) -> views.Members:
    """List who is on the team, to know whom you can write to."""
    return _members(desk.context, brief=True)


def _started(context: Context, seat: Seat) -> None:
    from pro0.engine import outcomes
    from pro0.engine.launch import ensure_lead

    ensure_lead(context.team)
    outcomes.started(context.team, [seat], _quietly)


def _ended(context: Context, seat: Seat) -> None:
    from pro0.engine import outcomes
    from pro0.engine.launch import ensure_lead

    ensure_lead(context.team)
    with suppress(TimedOut):  # it was asked, and its state says that it has not ended yet
        outcomes.shut_down(context.team, seat, _quietly, patience=PATIENCE)


def _own_agent(context: Context) -> str:
    """Return the agent program of the caller's own seat, else the one that members have by default."""
    seats = members.members(context).wanted.seats
    return next((seat.agent for seat in seats if seat.agent_id == LEAD), SeatDraft(name="").agent)


def _first(text: str, seat: Seat) -> Draft:
    line = text.strip().splitlines()[0]
    title = line if len(line) <= TITLE else f"{line[: TITLE - 1]}…"
    return Draft(title=title, description="" if title == text.strip() else text, assignee=seat.agent_id)


def _members(context: Context, *, brief: bool) -> views.Members:
    roles = {seat.agent_id: seat.role for seat in members.members(context).wanted.seats}
    listed = status(context).members
    seen = [views.member_view(member, roles.get(member.agent_id, ""), brief=brief) for member in listed]
    return views.Members(team=context.team.name, members=seen)


def _view(context: Context, agent_id: str) -> views.MemberView:
    return next(member for member in _members(context, brief=False).members if member.agent_id == agent_id)


def _quietly(_said: str) -> None:
    """Show nothing: who waits is a program."""
