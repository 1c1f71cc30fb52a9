"""Tools of the shared task list, with the names that agents know."""

from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from pro0.mcp import views
from pro0.mcp.tool_context import ToolContext
from pro0.mcp.tools.tool import EVERYBODY, LEADS, TaskId, tool
from pro0.model.task import SETTLED, Changes, Draft, Gate, Task
from pro0.ops.tasks import gates, tasks
from pro0.ops.team.needs import beyond_all

Which = Literal["open", "all", "pending", "in_progress", "done", "completed", "failed", "cancelled"]
Gates = Literal["approval", "review", "content"]
Role = Annotated[str | None, Meta(description="The id of the role that should do it.")]
Limit = Annotated[int, Meta(ge=1, le=200, description="How many to return at most.")]
Names = Annotated[list[str], Meta(description="Ids of tasks that must be completed first.")]


@tool("task.list", EVERYBODY)
def list_tasks(
    tool_context: ToolContext,
    status: Annotated[
        Which, Meta(description="Only tasks with this status; open: pending, in_progress or done.")
    ] = "open",
    limit: Limit = 50,
) -> views.TaskPage:
    """List the team's tasks: who has each of them, and why a waiting one is not ready."""
    listed = tasks.list_tasks(tool_context.context)
    if status == "open":
        listed = [task for task in listed if task.status not in SETTLED]
    elif status != "all":
        listed = [task for task in listed if task.status == status]
    return views.task_page(tasks.board(tool_context.context), listed, limit)


@tool("task.ready", EVERYBODY)
def get_claimable_tasks(tool_context: ToolContext, limit: Limit = 20) -> views.TaskPage:
    """List the tasks that you could claim now, those reserved for you first. Claim one before you work on it."""
    me = tool_context.context.caller.agent_id
    claimable = [task for task in tasks.ready(tool_context.context) if task.assignee in (None, me)]
    claimable.sort(key=lambda task: task.assignee != me)
    return views.task_page(tasks.board(tool_context.context), claimable, limit)


@tool("task.claim", EVERYBODY)
def claim_task(tool_context: ToolContext, task_id: TaskId) -> views.TaskDetail:
    """Claim a ready task, and get all of it. If several try, exactly one gets it; the others are told who has it."""
    return _detail(tool_context, tasks.claim(tool_context.context, task_id).id)


@tool("task.complete", EVERYBODY)
def complete_task(
    tool_context: ToolContext,
    task_id: TaskId,
    result: Annotated[str, Meta(description="The result of the work, in a few sentences.")],
) -> views.TaskLine:
    """Finish a task that you have claimed; tasks that wait for it become ready."""
    return _line(tool_context, tasks.complete(tool_context.context, task_id, result).id)


@tool("task.release", EVERYBODY)
def release_task(
    tool_context: ToolContext,
    task_id: TaskId,
    reason: Annotated[str, Meta(description="Why, for whoever takes it next.")] = "",
) -> views.TaskLine:
    """Give a task that you have claimed back to the list, unfinished."""
    return _line(tool_context, tasks.release(tool_context.context, task_id, reason).id)


@tool("task.create", LEADS)
def create_task(
    tool_context: ToolContext,
    title: Annotated[str, Meta(description="One line.")],
    description: Annotated[str, Meta(description="What to do, for somebody who has read nothing else.")] = "",
    dependencies: Names = [],  # noqa: B006 - never changed
    priority: Annotated[int | None, Meta(description="Lower numbers go first; by default after its siblings.")] = None,
    assignee: Annotated[str | None, Meta(description="The teammate to reserve it for; by default none.")] = None,
    parent: Annotated[str | None, Meta(description="The id of the task it is a part of.")] = None,
    acceptance: Annotated[str, Meta(description="How to tell that it is done.")] = "",
    run: Annotated[str | None, Meta(description="A command for a shell member to run; a person must agree.")] = None,
    role_id: Role = None,
    requires: Annotated[Gates | None, Meta(description="What a person must give before it is complete.")] = None,
    labels: Annotated[list[str], Meta(description="Words to find it by.")] = [],  # noqa: B006
) -> views.TaskLine:
    """Add a task to the team's list. Teammates take ready tasks by themselves, in the order of priority."""
    draft = Draft(
        title=title,
        description=description,
        blocked_by=tuple(dependencies),
        assignee=assignee,
        parent=parent,
        acceptance=acceptance,
        run=run,
        priority=priority,
        role=role_id,
        requires=Gate(requires) if requires else None,
        labels=tuple(labels),
    )
    [task] = tasks.create(tool_context.context, [draft], last=True)
    return _doable(tool_context, task)


@tool("task.assign", LEADS)
def assign_task(
    tool_context: ToolContext,
    task_id: TaskId,
    teammate_name: Annotated[
        str | None, Meta(description="The teammate; without one, the reservation is removed.")
    ] = None,
) -> views.TaskLine:
    """Reserve a pending task for one teammate, which is told so."""
    return _doable(tool_context, tasks.assign(tool_context.context, task_id, teammate_name))


@tool("task.update", EVERYBODY)
def update_task(
    tool_context: ToolContext,
    task_id: TaskId,
    title: str | None = None,
    description: str | None = None,
    acceptance: str | None = None,
    priority: int | None = None,
    add_dependencies: Names = [],  # noqa: B006 - never changed
    drop_dependencies: Annotated[list[str], Meta(description="Tasks that it no longer depends on.")] = [],  # noqa: B006
    labels: Annotated[list[str] | None, Meta(description="Its new labels, which replace the old ones.")] = None,
) -> views.TaskLine:
    """Change what a task says, its priority, or what it depends on. A parameter that is left out changes nothing.

    A teammate may change the open subtasks of its own task.
    """
    changes = Changes(
        title=title,
        description=description,
        acceptance=acceptance,
        priority=priority,
        add_dependencies=tuple(add_dependencies),
        drop_dependencies=tuple(drop_dependencies),
        labels=None if labels is None else tuple(labels),
    )
    return _line(tool_context, tasks.update(tool_context.context, task_id, changes).id)


@tool("task.retry", LEADS)
def retry_task(
    tool_context: ToolContext,
    task_id: TaskId,
    reason: Annotated[str, Meta(description="What to do differently this time.")] = "",
) -> views.TaskLine:
    """Make a failed task pending again, for somebody to take."""
    return _line(tool_context, gates.retry(tool_context.context, task_id, reason).id)


@tool("task.cancel", LEADS, ends=True)
def cancel_task(
    tool_context: ToolContext,
    task_id: TaskId,
    reason: Annotated[str, Meta(description="Why, for whoever works on it.")] = "",
) -> views.TaskLine:
    """Cancel a task and its open subtasks; whoever works on one is told."""
    return _line(tool_context, tasks.cancel(tool_context.context, task_id, reason).id)


def _line(tool_context: ToolContext, id: str) -> views.TaskLine:
    """Return a task as it is now; only the whole list tells why it waits."""
    return views.task_line(tasks.board(tool_context.context), tasks.show(tool_context.context, id))


def _doable(tool_context: ToolContext, task: Task) -> views.TaskLine:
    """Return a task, with a warning when no member of the team can do it."""
    line = _line(tool_context, task.id)
    warning = beyond_all(tool_context.context, [task])
    return replace(line, note=f"{line.note}; {warning}") if warning else line


def _detail(tool_context: ToolContext, id: str) -> views.TaskDetail:
    return views.task_detail(tasks.board(tool_context.context), tasks.show(tool_context.context, id))
