"""Tools of tasks in two families of names, task and ticket: what an agent may do to its own task (behaviour 2.23)."""

from typing import Annotated, Literal

from msgspec import Meta

from pro0.mcp import views
from pro0.mcp.tool_context import ToolContext
from pro0.mcp.tools.tool import EVERYBODY, OwnTask, TaskId, both, tool
from pro0.mcp.tools.work import Limit, Role
from pro0.model.task import Awaiting, Draft
from pro0.ops.tasks import gates, roles, tasks
from pro0.rules.tasks import answers
from pro0.rules.tasks.answers import Remark
from pro0.rules.views import ticket_status

COMMENTS = 100
"""The most remarks in one answer; the newest ones are in it."""

Board = Annotated[str | None, Meta(description="The task's id; by default your task's parent, else your own task.")]


Awaited = Literal["review", "work", "approval", "input", "content", "escalation", "checkpoint"]


@tool("task.list", EVERYBODY, names=both("list"))
def task_list(tool_context: ToolContext, limit: Limit = 100) -> views.TaskPage:
    """List all tasks: open, in_progress, needs_review, done, closed or failed."""
    return views.task_page(
        tasks.board(tool_context.context), tasks.list_tasks(tool_context.context), limit, ticket_status
    )


@tool("task.show", EVERYBODY, names=both("get"))
def task_get(tool_context: ToolContext, task_id: TaskId) -> views.TaskDetail:
    """Get everything about one task."""
    return views.task_detail(
        tasks.board(tool_context.context), tasks.show(tool_context.context, task_id), ticket_status
    )


@tool("task.remarks", EVERYBODY, names=both("comment_list"))
def task_comment_list(tool_context: ToolContext, task_id: Board = None) -> views.CommentsView:
    """List what was said about a task, oldest first. Before you begin, read the comments of your task's parent."""
    id = tool_context.shared_task(task_id)
    comments = [_comment_view(remark) for remark in tasks.remarks(tool_context.context, id)]
    return views.CommentsView(task_id=id, comments=comments[-COMMENTS:], left_out=max(0, len(comments) - COMMENTS))


@tool("task.create", EVERYBODY, names=both("create"))
def task_create(
    tool_context: ToolContext,
    title: Annotated[str, Meta(description="One line.")],
    description: Annotated[str, Meta(description="What to do, for somebody who has read nothing else.")],
    priority: Annotated[int | None, Meta(description="Lower numbers go first; by default after its siblings.")] = None,
    role_id: Role = None,
) -> views.TaskLine:
    """Add a subtask to your session's task, or a task to the team's list if your session has none."""
    draft = Draft(title=title, description=description, parent=tool_context.task, priority=priority, role=role_id)
    [task] = tasks.create(tool_context.context, [draft], last=True)
    return _line(tool_context, task.id)


@tool("role.list", EVERYBODY)
def role_list(tool_context: ToolContext) -> views.RolesView:
    """List the roles that a task can have."""
    listed = roles.roles(tool_context.context)
    return views.RolesView(roles=[views.RoleView(id=r.id, name=r.name, agent=r.agent) for r in listed])


@tool("task.complete", EVERYBODY, names=both("mark_done"))
def task_mark_done(
    tool_context: ToolContext,
    task_id: OwnTask = None,
    result: Annotated[str, Meta(description="The result of the work.")] = "",
) -> views.TaskLine:
    """Mark your own task as done."""
    return _line(tool_context, tasks.complete(tool_context.context, tool_context.own_task(task_id), result).id)


@tool("task.fail", EVERYBODY, names=both("mark_failed"))
def task_mark_failed(
    tool_context: ToolContext,
    error: Annotated[str, Meta(description="What went wrong, with details.")],
    task_id: OwnTask = None,
) -> views.TaskLine:
    """Mark your own task as failed, when it cannot be done."""
    return _line(tool_context, tasks.fail(tool_context.context, tool_context.own_task(task_id), error).id)


@tool("task.hand_off", EVERYBODY, names=both("request_review"))
def task_request_review(
    tool_context: ToolContext,
    reason: Annotated[str, Meta(description="What the person should decide or look at.")],
    task_id: OwnTask = None,
    awaiting: Annotated[
        Awaited | None, Meta(description="What you need; by default an answer in a tree, else a review.")
    ] = None,
) -> views.TaskLine:
    """Hand your own task to a person, when only they can decide how it goes on. Stop working on it then."""
    id = tool_context.own_task(task_id)
    kind = Awaiting(awaiting) if awaiting else gates.usual_kind(tool_context.context, id)
    return _line(tool_context, gates.hand_off(tool_context.context, id, kind, reason).id)


@tool("task.comment", EVERYBODY, names=both("comment_create"))
def task_comment_create(
    tool_context: ToolContext,
    content: Annotated[str, Meta(description="What others should know.")],
    task_id: Board = None,
) -> views.CommentsView:
    """Add a comment where others look for it: to your task's parent, or to the task you name."""
    id = tool_context.shared_task(task_id)
    comment = tasks.comment(tool_context.context, id, content)
    remark = Remark(comment.at, comment.author, comment.text, task=comment.author_task, role=comment.author_role)
    return views.CommentsView(task_id=id, comments=[_comment_view(remark)])


def _comment_view(remark: Remark) -> views.Said:
    return views.Said(
        at=remark.at,
        author=remark.author,
        text=answers.line(remark),
        act=remark.act,
        author_task=remark.task,
        author_role=remark.role,
    )


def _line(tool_context: ToolContext, id: str) -> views.TaskLine:
    return views.task_line(tasks.board(tool_context.context), tasks.show(tool_context.context, id), ticket_status)
