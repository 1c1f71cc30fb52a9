"""Drafts of tasks: their roles and assignees by id, and the list with their tasks."""

from collections.abc import Iterable

from msgspec.structs import replace

from pro0.model.task import Draft, Task, TaskList
from pro0.ops.context import Context
from pro0.ops.seats import roster
from pro0.ops.tasks.acting import limits, recalled, watchers
from pro0.rules.tasks import making
from pro0.store.teams import Store


def resolved(context: Context, drafts: Iterable[Draft]) -> list[Draft]:
    """Return the drafts with ids of known roles and members; raises NotFound for an unknown one."""
    return [_with_known_role(context, _with_known_assignee(context, draft)) for draft in drafts]


def with_drafts(context: Context, listed: TaskList, drafts: list[Draft], *, last: bool) -> tuple[TaskList, list[Task]]:
    """Return the list with all tasks of these drafts, and these tasks; raises like `making.create`."""
    return making.create(
        recalled(context, listed, making.named_tasks(drafts)),
        drafts,
        context.caller,
        context.now(),
        context.new_id,
        bounds=limits(context),
        last=last,
        watchers=watchers(context),
    )


def expected(context: Context, drafts: list[Draft], *, last: bool) -> list[Task]:
    """Return the tasks that these drafts would become now."""
    return with_drafts(context, context.team.tasks.read(), drafts, last=last)[1]


def require_makeable(context: Context, draft: Draft) -> None:
    """Raise the error that `create` would raise now, except the refusal of a hook; make nothing."""
    expected(context, resolved(context, [draft]), last=False)


def role_of(context: Context, name: str) -> str:
    """Return the id of a role; raises NotFound for an unknown one."""
    from pro0.ops.tasks import roles  # start-up time

    return roles.find_role(Store(context.team.paths.home), name).id


def _with_known_role(context: Context, draft: Draft) -> Draft:
    return replace(draft, role=role_of(context, draft.role)) if draft.role else draft


def _with_known_assignee(context: Context, draft: Draft) -> Draft:
    if draft.assignee is None:
        return draft
    return replace(draft, assignee=roster(context.team).address(draft.assignee))
