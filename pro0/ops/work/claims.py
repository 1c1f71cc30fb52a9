"""The claim of a working program of pro0's own: the shell agent and the runner ask here if it still holds."""

from pro0.errors import ErrorCode
from pro0.model.task import Task
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.store.paths import CONCERNS_A_MEMBER
from pro0.store.watch import Watch

OVER = frozenset({ErrorCode.STALE_SESSION, ErrorCode.NOT_MEMBER})
"""Error codes of a session counted as over. None of its requests will be done any more."""
NOT_NOW = frozenset({ErrorCode.PAUSED, ErrorCode.STOPPING})
"""Error codes of a team without claims for now."""
TAKEN_AWAY = "it was taken away"


def holds(context: Context, task: Task) -> bool:
    """Return True while the caller's session has the same claim with which it took the task; raises NotFound."""
    claim = tasks.show(context, task.id).claim
    return claim is not None and (claim.incarnation, claim.epoch) == (context.caller.incarnation, task.epoch)


def changes(context: Context) -> Watch:
    """Return a watch on everything that may change the caller's work: tasks, its mailbox, the team."""
    team, documents = context.team, context.team.documents
    return documents.watch(
        [documents.tasks, team.mailbox(context.caller.agent_id).place, documents.team], CONCERNS_A_MEMBER
    )
