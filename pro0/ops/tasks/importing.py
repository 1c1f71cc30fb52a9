"""Import tickets of other programs: all new ones in one write, or none."""

from collections.abc import Sequence

from pro0.model.caller import HUMAN_ONLY
from pro0.model.task import Task
from pro0.ops.context import Context, operation
from pro0.ops.mail.messages import pay_if_possible
from pro0.ops.tasks.acting import limits, log
from pro0.rules.tickets.importing import Ticket, take_over


@operation("task.import", HUMAN_ONLY)
def import_all(context: Context, tickets: Sequence[Ticket]) -> list[Task]:
    """Make tasks of the tickets that were not imported before; a human's act, since they come with a state."""
    with context.team.require().tasks.change("import tasks") as change:
        before = change.value
        existing = (*before.tasks, *context.team.tasks.archived(before))
        imported = {task.origin: task.id for task in existing if task.origin}
        change.value, created = take_over(before, tickets, imported, context.caller, context.now(), limits(context))
        owes = bool(change.value.outbox)
    for task in created:
        log(context, "import", task)
    if owes:
        pay_if_possible(context, context.team.tasks)
    return created
