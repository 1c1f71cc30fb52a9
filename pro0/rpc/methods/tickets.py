"""The methods of tasks in two families of names, worded as in the specification (behaviour 2.23)."""

from collections.abc import Iterable
from typing import Annotated, Literal, cast

from msgspec import Meta

from pro0.engine.outcomes import begun
from pro0.model.task import Awaiting, Changes, Draft, Gate, Kind, Policy, Task
from pro0.ops.context import Context
from pro0.ops.tasks import gates, roles, tasks, trees
from pro0.rpc import subscriptions
from pro0.rpc.client import RpcClient
from pro0.rpc.method import both, method
from pro0.rpc.subscriptions import LastSeq, LostId, Tasks
from pro0.rpc.views import CommentView, Nothing, RpcView, TaskView, comment_view, task_view
from pro0.rules.tasks.answers import Remark
from pro0.rules.tasks.board import list_order

TaskId = Annotated[str, Meta(description="The task's id, such as task-7.")]
RoleId = Annotated[str | None, Meta(description="The id of the role that should do it, null for any.")]
Names = Annotated[list[str], Meta(description="Ids of tasks that must be completed first.")]
Dropped = Annotated[list[str], Meta(description="Ids of tasks it no longer depends on.")]
Required = Literal["approval", "review", "content"]
TimeLimit = Annotated[float, Meta(description="The time limit of the command in seconds; 0 removes it.")]
Labels = Annotated[tuple[str, ...], Meta(description="All of its labels: words to find it by.")]


class Session(RpcView, frozen=True, kw_only=True):
    """The session that works on a task."""

    session_id: str


class TaskSnapshot(RpcView, frozen=True, kw_only=True):
    """A new subscription, and all tasks as they are: open ones by priority, the others by their last change."""

    id: str
    tasks: list[TaskView]


class CommentList(RpcView, frozen=True, kw_only=True):
    """What was said about a task, oldest first."""

    comments: list[CommentView]


@method("task.create", *both("create"))
def create(
    client: RpcClient,
    title: str,
    description: str,
    role_id: RoleId,
    parent_id: str | None = None,
    priority: Annotated[int | None, Meta(description="Lower numbers go first; by default after its siblings.")] = None,
    dependencies: Names = [],  # noqa: B006 - never changed
    assignee: str | None = None,
    acceptance: str = "",
    requires: Required | None = None,
    run: str | None = None,
    timeout: TimeLimit | None = None,
    labels: Labels = (),
    type: Kind = Kind.TASK,
    awaiting: Awaiting | None = None,
    policy: Policy | None = None,
) -> TaskView:
    """Add a task."""
    draft = Draft(
        title=title,
        description=description,
        role=role_id,
        parent=parent_id,
        priority=priority,
        blocked_by=tuple(dependencies),
        assignee=assignee,
        acceptance=acceptance,
        requires=Gate(requires) if requires else None,
        run=run,
        timeout=timeout,
        labels=labels,
        type=type,
        awaiting=awaiting,
        policy=policy,
    )
    [task] = tasks.create(client.context, [draft], last=True)
    return task_view(task)


@method("task.update", *both("update"))
def update(
    client: RpcClient,
    task_id: TaskId,
    title: str | None = None,
    description: str | None = None,
    priority: int | None = None,
    role_id: str | None = None,
    acceptance: str | None = None,
    add_dependencies: Names = [],  # noqa: B006 - never changed
    drop_dependencies: Dropped = [],  # noqa: B006 - never changed
    run: str | None = None,
    timeout: TimeLimit | None = None,
    labels: Labels | None = None,
    requires: Annotated[
        Required | Literal[""] | None, Meta(description="The gate before its completion; empty for none.")
    ] = None,
) -> TaskView:
    """Change what a task says, its priority, or what it depends on. A parameter that is left out changes nothing."""
    changes = Changes(
        title=title,
        description=description,
        priority=priority,
        role=role_id,
        acceptance=acceptance,
        add_dependencies=tuple(add_dependencies),
        drop_dependencies=tuple(drop_dependencies),
        run=run,
        timeout=timeout,
        labels=labels,
        requires=requires,
    )
    return task_view(tasks.update(client.context, task_id, changes))


@method("task.delete", *both("delete"))
def delete(client: RpcClient, task_id: TaskId) -> Nothing:
    """Remove a task; refused while others depend on it."""
    tasks.delete(client.context, task_id)
    return Nothing()


@method("task.start", *both("start"), waits=True)
def start(client: RpcClient, task_id: TaskId) -> Session:
    """Start a session for this task alone, and return when the task has begun."""
    context = client.context
    begins = begun(context.team, trees.start(context, task_id), client.show)
    return Session(session_id=task_view(begins).session_id or "")


@method("task.retry", *both("resolve"))
def resolve(
    client: RpcClient,
    task_id: TaskId,
    action: Literal["retry", "continue", "close"],
    feedback: Annotated[str, Meta(description="Text for its session, or for its next one.")] = "",
) -> TaskView:
    """Decide on a task that failed or waits for a person: retry it, continue it in its session, or close it."""
    act = {"retry": gates.retry, "continue": gates.go_on, "close": gates.close}[action]
    return task_view(act(client.context, task_id, feedback))


@method("task.watch", "task.list.subscribe")
def subscribe_to_tasks(client: RpcClient, id: LostId = "", seq: LastSeq = 0) -> TaskSnapshot:
    """Subscribe to the task list: all tasks now, then task.list.changed for each change, whoever makes it."""
    return _subscribed(client, subscriptions.TASKS, id, seq)


@method("task.watch", "ticket.list.subscribe")
def subscribe_to_tickets(client: RpcClient, id: LostId = "", seq: LastSeq = 0) -> TaskSnapshot:
    """Subscribe to the ticket list: all tickets now, then ticket.list.changed for each change, whoever makes it."""
    return _subscribed(client, subscriptions.TICKETS, id, seq)


@method("task.watch", "task.list.unsubscribe")
def unsubscribe_from_tasks(client: RpcClient, id: str) -> Nothing:
    """End a subscription."""
    client.subscriptions.remove(id, subscriptions.TASKS)
    return Nothing()


@method("task.watch", "ticket.list.unsubscribe")
def unsubscribe_from_tickets(client: RpcClient, id: str) -> Nothing:
    """End a subscription."""
    client.subscriptions.remove(id, subscriptions.TICKETS)
    return Nothing()


@method("task.remarks", *both("comment.list"))
def comment_list(client: RpcClient, task_id: TaskId) -> CommentList:
    """List what was said about a task: comments, and the texts that came with acts."""
    context = client.context
    id = tasks.show(context, task_id).id
    return CommentList(comments=[comment_view(id, remark, _title(context)) for remark in tasks.remarks(context, id)])


@method("task.comment", *both("comment.create"))
def comment_create(client: RpcClient, task_id: TaskId, content: str) -> CommentView:
    """Add a comment; its author is the caller."""
    context = client.context
    comment = tasks.comment(context, task_id, content)
    remark = Remark(
        comment.at, comment.author, comment.text, task=comment.author_task, role=comment.author_role, id=comment.id
    )
    return comment_view(tasks.show(context, task_id).id, remark, _title(context))


def _subscribed(client: RpcClient, family: str, id: str, seq: int) -> TaskSnapshot:
    context = client.context
    subscription = client.subscribe(family, lambda: Tasks(context), id, seq)
    listed = cast("Iterable[Task]", subscription.first)
    return TaskSnapshot(id=subscription.id, tasks=[task_view(task) for task in sorted(listed, key=list_order)])


class _Title:
    """Names roles by their ids; reads them once."""

    def __init__(self, context: Context) -> None:
        self._names = {role.id: role.name for role in roles.roles(context)}

    def __call__(self, id: str) -> str:
        return self._names.get(id, id)


_title = _Title
