"""Sessions for tasks: a human's wish for one, and the lead's records of opening, failing and timing out."""

from msgspec.structs import replace

from pro0.model.caller import HUMAN_ONLY, LEAD_ONLY, Caller, Who
from pro0.model.decision import WorkFolder
from pro0.model.ids import task_id
from pro0.model.task import Task, TaskList
from pro0.ops.context import Context, operation
from pro0.ops.tasks.acting import carry_out, claiming, edit, in_turn, make_request, settings
from pro0.ops.tasks.drafts import SeatDraft, with_definitions
from pro0.rules.lead import dispatch
from pro0.rules.tasks import changes, subtasks
from pro0.rules.tasks.acts import Act, Request


@operation("task.start", HUMAN_ONLY)
def start(context: Context, id: str, agent: str | None = None) -> Task:
    """Ask for a session of its own for a task, supervised unless the task says otherwise; the lead opens it."""
    claiming(context)
    if agent is not None:
        with_definitions([SeatDraft(name=id, agent=agent)], settings(context).agents)
    return carry_out(context, id, replace(make_request(context, Act.WISH), agent=agent))


@operation("task.begin", LEAD_ONLY)
def begin(context: Context, id: str, agent_id: str, incarnation: str, work_folder: WorkFolder | None = None) -> Task:
    """Give a new session the claim of its task; a session keeps a claim that it has."""
    claiming(context)
    holder = Caller(Who.MEMBER, agent_id, incarnation)
    request = replace(make_request(context, Act.START), holder=holder)

    def change_it(tasks: TaskList) -> tuple[TaskList, Task]:
        task = changes.find(tasks, task_id(id))
        if task.claim and task.claim.incarnation == incarnation:
            return tasks, task
        changed, task = changes.act(tasks, task.id, in_turn(context, request))
        if work_folder and work_folder.path:
            task = dispatch.on_branch(task, work_folder.branch, context.caller.agent_id, context.now())
            task = replace(task, worktree=work_folder.path)
        return changes.with_tasks(changed, [task]), task

    return edit(context, Act.START, id, change_it)


@operation("task.undo_start", LEAD_ONLY)
def undo_start(context: Context, id: str, why: str, *, incarnation: str = "") -> Task:
    """Take back the claim of a session that could not be opened, if it has one; a human may start the task again.

    A task that nobody started by hand fails instead: otherwise the lead would retry it for ever.
    """

    def change_it(tasks: TaskList) -> tuple[TaskList, Task]:
        task = changes.find(tasks, task_id(id))
        if incarnation and (task.claim is None or task.claim.incarnation != incarnation):
            return tasks, task
        act = Act.UNDO_START if subtasks.was_asked_for(task) else Act.FAIL
        changed, task = changes.act(tasks, task.id, _request(context, act, why))
        task = dispatch.on_branch(task, None, context.caller.agent_id, context.now())
        task = replace(task, worktree=None)
        return changes.with_tasks(changed, [task]), task

    return edit(context, Act.UNDO_START, id, change_it)


@operation("task.expire", LEAD_ONLY)
def expire(context: Context, id: str, epoch: int, minutes: int) -> Task:
    """Fail a task if the claim of this epoch is older than the limit (behaviour 2.7)."""
    why = f"timed out: in progress for more than taskTimeoutMinutes ({minutes})"

    def change_it(tasks: TaskList) -> tuple[TaskList, Task]:
        task = changes.find(tasks, task_id(id))
        if task.claim is None or task.claim.epoch != epoch:
            return tasks, task
        return changes.act(tasks, task.id, _request(context, Act.FAIL, why))

    return edit(context, Act.FAIL, id, change_it)


def _request(context: Context, act: Act, why: str) -> Request:
    return in_turn(context, make_request(context, act, why))
