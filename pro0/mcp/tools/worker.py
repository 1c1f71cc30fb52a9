"""Tools to give work to workers, each of which ends with its one task."""

from typing import Annotated

from msgspec import Meta

from pro0.mcp import views, waiting
from pro0.mcp.tool_context import ToolContext
from pro0.mcp.tools.tool import LEADS, tool
from pro0.model.task import SETTLED
from pro0.ops.tasks.acting import settings
from pro0.ops.tasks.drafts import SeatDraft, with_definitions
from pro0.ops.work import workers
from pro0.ops.work.workers import Worker

WorkerName = Annotated[str, Meta(description="The worker's name, or the id of its task.")]


@tool("worker.delegate", LEADS, waits=True)
def delegate_tasks(
    tool_context: ToolContext,
    tasks: Annotated[list[str], Meta(description="What to do: one text for each worker, which knows nothing else.")],
    agent: Annotated[str | None, Meta(description="The agent program; by default the usual one for tasks.")] = None,
    shared: Annotated[bool, Meta(description="Work in the project's checkout, not in worktrees.")] = False,
) -> views.WorkersView:
    """Give each task to a worker: a new session in a new git worktree. It ends when its task is over.

    A message tells you when a worker is done, crashes or is blocked; answer with a comment on its task.
    """
    context = tool_context.context
    if agent is not None:
        with_definitions([SeatDraft(name="worker", agent=agent)], settings(context).agents)
    delegated = workers.delegate(context, [workers.draft(text, agent=agent, shared=shared) for text in tasks])
    waiting.led(context)
    ids = {task.id for task in delegated}
    return views.WorkersView(workers=[_line(worker) for worker in workers.workers(context) if worker.task.id in ids])


@tool("worker.list", LEADS)
def list_workers(tool_context: ToolContext) -> views.WorkersView:
    """List delegated tasks: those at work, those in line, and those that left an unmerged branch."""
    unfinished = [
        worker
        for worker in workers.workers(tool_context.context)
        if worker.task.status not in SETTLED or worker.task.branch
    ]
    return views.WorkersView(workers=[_line(worker) for worker in unfinished])


@tool("worker.kill", LEADS, ends=True)
def kill_worker(tool_context: ToolContext, worker: WorkerName) -> views.WorkerLine:
    """End a worker with all its processes. Its task counts as failed, and its work is saved on its branch."""
    workers.kill(tool_context.context, worker)
    return _line(workers.find(tool_context.context, worker))


@tool("worker.merge", LEADS)
def merge_worker(tool_context: ToolContext, worker: WorkerName) -> views.Answered:
    """Merge a worker's branch into the project's checkout. It is refused, and changes nothing, if it would conflict."""
    task = workers.merge(tool_context.context, worker)
    return views.Answered(answered=f"{task.id} is merged")


def _line(worker: Worker) -> views.WorkerLine:
    task = worker.task
    return views.WorkerLine(
        task=task.id,
        title=task.title,
        stage=worker.stage,
        worker=worker.agent_id or None,
        place=worker.place,
        branch=task.branch,
        note=task.closed_reason or (task.result or "").strip().partition("\n")[0],
    )
