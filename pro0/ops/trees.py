"""Sessions for tasks: what a human wants started, and what the lead notes when it opens one."""

from msgspec.structs import replace

from pro0.model.caller import HUMAN_ONLY, LEAD_ONLY, Caller, Who
from pro0.model.task import Task
from pro0.ops.acting import act, carry_out, request
from pro0.ops.context import Context, operation
from pro0.ops.tasks import claiming
from pro0.rules.acts import Act


@operation("task.start", HUMAN_ONLY)
def start(context: Context, id: str, agent: str | None = None) -> Task:
    """Ask for a session of its own for a task, supervised unless the task says otherwise; the lead opens it."""
    claiming(context)
    return carry_out(context, id, replace(request(context, Act.WISH), agent=agent))


@operation("task.begin", LEAD_ONLY)
def begin(context: Context, id: str, agent_id: str, incarnation: str) -> Task:
    """Give a session that is about to be opened the claim of its task."""
    claiming(context)
    holder = Caller(Who.MEMBER, agent_id, incarnation)
    return carry_out(context, id, replace(request(context, Act.START), holder=holder))


@operation("task.undo_start", LEAD_ONLY)
def undo_start(context: Context, id: str, why: str) -> Task:
    """Take the claim of a session back that could not be opened."""
    return act(context, id, Act.UNDO_START, why)
