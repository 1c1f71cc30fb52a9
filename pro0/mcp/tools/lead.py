"""Tools to start teammates, to shut them down, and to decide on their plans."""

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from pro0.errors import BadInput, Pro0Error
from pro0.mcp import views, waiting
from pro0.mcp.tool_context import ToolContext
from pro0.mcp.tools.team import members_view
from pro0.mcp.tools.tool import LEADS, tool
from pro0.model.ids import LEAD, agent_id_from
from pro0.model.task import Draft, Task
from pro0.model.team import Seat
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.tasks.acting import require_assignable, settings_to_hire
from pro0.ops.tasks.drafting import require_makeable
from pro0.ops.tasks.drafts import SeatDraft, takeable, with_definitions
from pro0.ops.tasks.roles import apply_role
from pro0.ops.team import members, plan_approval
from pro0.ops.team.needs import beyond_all
from pro0.ops.team.status import of_seat

TeammateName = Annotated[str, Meta(description="The teammate's name or id.")]
TITLE = 100
"""The most letters of a title that is made from a task's text."""


@tool("member.spawn", LEADS, waits=True)
def spawn_teammate(
    tool_context: ToolContext,
    name: Annotated[str, Meta(description="Its name; an ended teammate of that name is started again.")],
    category: Annotated[str, Meta(description="The id of its role.")] = "",
    task: Annotated[str, Meta(description="The text of its first task, which is created and reserved for it.")] = "",
    todo_id: Annotated[str | None, Meta(description="The id of an existing task to reserve for it.")] = None,
    agent: Annotated[
        str | None, Meta(description="The agent program; by default the same as yours, else shell.")
    ] = None,
    model: Annotated[str, Meta(description="The model, as the agent program names it.")] = "",
    effort: Annotated[str, Meta(description="The reasoning effort, as the agent program names it.")] = "",
    prompt: Annotated[str, Meta(description="Instructions at its start, added to those on how the team works.")] = "",
    plan: Annotated[bool, Meta(description="Whether it must have a plan approved before it changes anything.")] = False,
) -> views.MemberView:
    """Start a teammate in a session of its own, and wait until it is up. It takes ready tasks by itself."""
    context = tool_context.context
    if task.strip() and todo_id:
        raise BadInput("give task or todo_id, not both")
    draft_task = _first_task(task.strip()) if task.strip() else None
    if draft_task:
        require_makeable(context, draft_task)
    if todo_id:
        require_assignable(context, todo_id, agent_id_from(name))
    draft = SeatDraft(
        name=name,
        agent=agent or _own_agent(context),
        role=category,
        model=model,
        effort=effort,
        prompt=prompt,
        plan=plan,
    )
    settings = settings_to_hire(context)
    [defined] = with_definitions([draft], settings.agents)
    takeable(defined)
    [seat] = members.spawn(context, [apply_role(tool_context.store, defined)], settings.max_teammates)
    waiting.started(context, seat)
    assigned = _reserved(context, seat, draft_task, todo_id)
    member, warning = _view(context, seat), beyond_all(context, assigned)
    return replace(member, note="; ".join(filter(None, (member.note, warning)))) if warning else member


@tool("member.shutdown", LEADS, waits=True, ends=True)
def shutdown_teammate(
    tool_context: ToolContext,
    teammate_name: TeammateName,
    reason: Annotated[str, Meta(description="The reason to give to the teammate.")] = "",
    force: Annotated[bool, Meta(description="End it even if it has not agreed within a minute.")] = False,
) -> views.MemberView:
    """Ask a teammate to shut down, and wait a while for its end.

    A busy teammate says "not yet" and is asked again when it is idle; list_teammates shows the outcome.
    """
    context = tool_context.context
    seat = members.shutdown(context, teammate_name, reason=reason, force=force)
    waiting.ended(context, seat)
    return _view(context, seat)


PlanId = Annotated[str, Meta(description="The id of the plan that you have read; refused if a later plan exists.")]


@tool("plan.approve", LEADS)
def approve_plan(tool_context: ToolContext, teammate_name: TeammateName, plan_id: PlanId) -> views.MemberView:
    """Approve the plan that a teammate has handed in, if the person lets you decide on plans."""
    return _view(tool_context.context, plan_approval.approve(tool_context.context, teammate_name, about=plan_id))


@tool("plan.reject", LEADS)
def reject_plan(
    tool_context: ToolContext,
    teammate_name: TeammateName,
    plan_id: PlanId,
    feedback: Annotated[str, Meta(description="What is wrong with the plan.")],
) -> views.MemberView:
    """Reject the plan of a teammate, which then hands in another, if the person lets you decide on plans."""
    return _view(
        tool_context.context, plan_approval.reject(tool_context.context, teammate_name, feedback, about=plan_id)
    )


def _own_agent(context: Context) -> str:
    """Return the agent program of the caller's own seat, else the default one of members."""
    seats = members.members(context).wanted.seats
    return next((seat.agent for seat in seats if seat.agent_id == LEAD), SeatDraft(name="").agent)


def _reserved(context: Context, seat: Seat, draft: Draft | None, todo_id: str | None) -> list[Task]:
    """Return the task of a new teammate. An error says that the teammate has started: its start is not undone."""
    try:
        if draft:
            return tasks.create(context, [replace(draft, assignee=seat.agent_id)])
        return [tasks.assign(context, todo_id, seat.agent_id)] if todo_id else []
    except Pro0Error as error:
        step = f"{todo_id} was not reserved for it" if todo_id else "its task was not created"
        error.message = f"{seat.agent_id} has started, but {step}: {error.message}"
        tool_names = "assign_task" if todo_id else "create_task, then assign_task"
        error.hint = "; ".join(filter(None, (error.hint, f"do not start it again, but give it a task: {tool_names}")))
        raise


def _first_task(text: str) -> Draft:
    line = text.splitlines()[0]
    title = line if len(line) <= TITLE else f"{line[: TITLE - 1]}…"
    return Draft(title=title, description="" if title == text else text)


def _view(context: Context, seat: Seat) -> views.MemberView:
    """Return a member as list_teammates shows it, even when its seat was removed meanwhile."""
    listed = (member for member in members_view(context, brief=False).members if member.agent_id == seat.agent_id)
    return next(listed, None) or views.member_view(of_seat(context, seat), seat.role)
