"""Carry out an act on a task: one locked write of tasks.json, including the notices owed."""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pro0.errors import ErrorCode, NotFound, Refused
from pro0.model.caller import THE_HUMAN, Who
from pro0.model.ids import HUMAN, LEAD, task_id, task_number
from pro0.model.task import Changes, Task, TaskList
from pro0.model.team import Wish
from pro0.ops.context import Context, require_living
from pro0.ops.mail.messages import addresses, pay_if_possible
from pro0.rules import text
from pro0.rules.tasks import archive, changes
from pro0.rules.tasks.acts import Act, Request, ended_wait
from pro0.rules.tasks.limits import Limits
from pro0.rules.views import task_digest

if TYPE_CHECKING:
    from pro0.config import Settings

Edit = Callable[[TaskList], tuple[TaskList, Task]]


def act(context: Context, id: str, verb: Act, reason: str = "") -> Task:
    """Perform one act on one task."""
    return carry_out(context, id, make_request(context, verb, reason))


def carry_out(context: Context, id: str, request: Request) -> Task:
    """Carry out a request on one task."""

    def change_it(tasks: TaskList) -> tuple[TaskList, Task]:
        return changes.act(tasks, task_id(id), in_turn(context, request))

    return edit(context, request.act, id, change_it, with_relatives=request.act in _MAY_REOPEN)


class _NeedsVerdict(Exception):
    """A task, as it is found under the lock, needs a person's verdict first."""


def reopen(context: Context, id: str, reason: str) -> Task:
    """Reopen a task; one cancelled while it waited for a person needs a verdict, which cancelling must not replace."""
    request = make_request(context, Act.REOPEN, reason)

    def change_it(tasks: TaskList) -> tuple[TaskList, Task]:
        return changes.act(tasks, task_id(id), in_turn(context, request))

    return _with_verdict(context, "task.reopen", ended_wait, Act.REOPEN, id, change_it, with_relatives=True)


def edit_as_a_person(context: Context, verb: str, id: str, change_it: Edit, fields: Changes | None = None) -> Task:
    """Change one task like `edit`; a change that takes away a gate, a wait or an unagreed command needs a verdict."""

    def takes_away(task: Task) -> bool:
        gated = bool(task.requires or task.awaiting or task.unagreed)
        return gated and (fields is None or fields.requires is not None or fields.run is not None)

    return _with_verdict(context, f"change what {task_id(id)} waits for", takes_away, verb, id, change_it)


def _with_verdict(
    context: Context,
    verdict: str,
    needs_one: Callable[[Task], bool],
    verb: str,
    id: str,
    change_it: Edit,
    *,
    with_relatives: bool = False,
) -> Task:
    """Change one task; if it needs a verdict under the lock, release the lock, ask the person, and change it then."""

    def unproved(tasks: TaskList) -> tuple[TaskList, Task]:
        if needs_one(changes.find(tasks, task_id(id))):
            raise _NeedsVerdict
        return change_it(tasks)

    if not needs_one(_as_it_is(context, id)):
        with suppress(_NeedsVerdict):  # it came to need one meanwhile
            return edit(context, verb, id, unproved, with_relatives=with_relatives)
    context.person(verdict, about_task=True)  # a person may take long, so nobody waits for the list meanwhile
    return edit(context, verb, id, change_it, with_relatives=with_relatives)


def _as_it_is(context: Context, id: str) -> Task:
    """Return a task, live or archived, as the caller was shown it."""
    listed = recalled(context, context.team.require().tasks.read(), {task_id(id)})
    _require_same(context, listed, id)
    return changes.find(listed, task_id(id))


def edit(context: Context, verb: str, id: str, change_it: Edit, *, with_relatives: bool = False) -> Task:
    """Change one task, live or archived, log the change, and deliver the notices owed.

    With `with_relatives`, the tasks it names are also looked up in the archive, since the act may reopen the task.
    """
    with context.team.require().tasks.change(f"{verb} a task") as change:
        listed = recalled(context, change.value, {task_id(id)}, with_relatives=with_relatives)
        _require_same(context, listed, id)
        changed, task = change_it(listed)
        if changed is not listed:
            change.value = changed
        owes = bool(change.value.outbox)
    log(context, verb, task)
    if owes:
        pay_if_possible(context, context.team.tasks)
    return task


def _require_same(context: Context, listed: TaskList, id: str) -> None:
    """Raise Refused when the task has changed since the caller was shown it."""
    if context.shown and task_digest(changes.find(listed, task_id(id))) != context.shown:
        text = f"{id} has changed since it was shown"
        raise Refused(text, code=ErrorCode.STALE_ANSWER, hint=f"look at it again: pro0 task show {id}")


def make_request(context: Context, act: Act, reason: str = "") -> Request:
    """Return the request for one act of this caller, with the limits in force and the watchers of a stop."""
    request = Request(act=act, caller=context.caller, now=context.now(), text=text.checked(reason, "text"))
    if act is Act.COMPLETE:
        request = replace(request, cycles=limits(context).cycles)
    return replace(request, watchers=watchers(context)) if act in _MAY_STOP else request


def in_turn(context: Context, request: Request) -> Request:
    """Stamp a request with the time under the lock; a caller kept waiting comes later in the history too.

    A member on a machine that has joined is checked again before it claims: the machine may have been given up.
    """
    if request.act is Act.CLAIM and context.team.machine and context.caller.who is Who.MEMBER:
        require_living(context)
    return replace(request, now=context.now())


def recalled(context: Context, listed: TaskList, ids: Iterable[str], *, with_relatives: bool = False) -> TaskList:
    """Return the list with these tasks from the archive; with `with_relatives`, also the tasks they name."""
    looked_up: set[str] = set()
    while missing := archive.absent(listed, ids, with_relatives=with_relatives) - looked_up:
        looked_up |= missing
        listed = archive.recall(listed, context.team.tasks.look_up(listed, missing))
    return listed


def require_known(context: Context, tasks: TaskList, task: Task, dropped: Iterable[str]) -> None:
    """Raise NotFound for an id that is no task, live or archived, nor a dependency (behaviour 2.6)."""
    unknown = {task_id(name) for name in dropped}.difference(task.dependencies, (known.id for known in tasks.tasks))
    unknown -= {old.id for old in context.team.tasks.look_up(tasks, archive.absent(tasks, unknown))}
    if unknown:
        raise NotFound(f"there is no {min(unknown, key=task_number)}", hint="list them: pro0 task list")


def require_assignable(context: Context, id: str, to: str) -> None:
    """Raise the error that `assign` would raise now, though the member may not be there yet; change nothing."""
    listed = context.team.require().tasks.read()
    request = replace(make_request(context, Act.ASSIGN), assignee=to)
    changes.assign(recalled(context, listed, {task_id(id)}), task_id(id), request, "")


def environ(context: Context) -> Mapping[str, str]:
    """Return the variables for settings: a session's are its team's start variables, never its own."""
    if context.caller.who in (Who.HUMAN, Who.LEAD):
        return os.environ
    return context.team.environment.read().variables


def settings(context: Context) -> "Settings":
    """Return the settings in force; no session can change them by its environment."""
    from pro0.ops import trust  # start-up time: most commands need no settings

    project = Path(context.team.config.read().project)
    return trust.settings(context.team.paths.home, project, environ(context))


def settings_to_hire(context: Context) -> "Settings":
    """Return the settings in force for new sessions; raises Refused when teams are turned off."""
    from pro0.config import require_enabled

    chosen = settings(context)
    require_enabled(chosen)
    return chosen


def limits(context: Context) -> Limits:
    """Return the limits in force; no session can raise them."""
    chosen = settings(context)
    return Limits(
        depth=chosen.max_subtask_depth,
        subtasks=chosen.max_subtasks_per_parent,
        minutes=chosen.task_timeout_minutes,
        cycles=chosen.max_review_cycles,
    )


def watchers(context: Context) -> tuple[str, ...]:
    """Return the watchers of a stopped supervised tree: lead and human, once each (behaviour 2.8)."""
    return (LEAD,) if LEAD in addresses(context.team, THE_HUMAN) else (LEAD, HUMAN)


def log(context: Context, verb: str, task: Task) -> None:
    """Log an act on a task in events.jsonl."""
    context.team.log_event(context.now(), context.caller.agent_id, f"task.{verb}", task=task.id, status=task.status)


_MAY_REOPEN = frozenset({Act.REOPEN, Act.RETRY, Act.CONTINUE, Act.CLOSE})
_MAY_STOP = frozenset(
    {
        Act.FAIL,
        Act.HAND_OFF,
        Act.COMPLETE,
        Act.HOLD,
        Act.CLOSE,
        Act.DIED,
        Act.CANCEL,
        Act.APPROVE,
        Act.REJECT,
        Act.CLEAR,
    }
)
"""The acts that may stop a tree, at the task itself or at a parent that then comes to its gate."""


def claiming(context: Context) -> None:
    """Refuse claims while the team is paused or stopping (behaviour 3.9)."""
    wishes = context.team.require().wanted.read()
    if wishes.wish is Wish.STOP:
        raise Refused(f"{context.team.name} is stopping, so no task can be claimed", code=ErrorCode.STOPPING)
    if wishes.paused:
        raise Refused(f"{context.team.name} is paused", code=ErrorCode.PAUSED, hint="pro0 team unpause")
    mine = next((seat for seat in wishes.seats if seat.task and seat.agent_id == context.caller.agent_id), None)
    if mine:
        hint = f"see it: pro0 task show {mine.task}"
        raise Refused(f"this session is for {mine.task} only", code=ErrorCode.TASK_SESSION, hint=hint)
