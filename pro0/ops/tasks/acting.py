"""Carry out an act on a task: one locked write of tasks.json, including the notices owed."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from pro0.config import Settings, require_enabled
from pro0.model.caller import THE_HUMAN, Who
from pro0.model.ids import HUMAN, LEAD, task_id
from pro0.model.task import Task, TaskList
from pro0.ops import trust
from pro0.ops.context import Context
from pro0.ops.mail.messages import addresses, pay_if_possible
from pro0.rules import text
from pro0.rules.tasks import archive, changes
from pro0.rules.tasks.acts import Act, Request
from pro0.rules.tasks.limits import Limits

Edit = Callable[[TaskList], tuple[TaskList, Task]]


def act(context: Context, id: str, what: Act, said: str = "") -> Task:
    """Do one act on one task."""
    return carry_out(context, id, request(context, what, said))


def carry_out(context: Context, id: str, asked: Request) -> Task:
    """Carry out a request on one task."""
    reopens = asked.act in _MAY_REOPEN
    return edit(
        context, asked.act, id, lambda tasks: changes.act(tasks, task_id(id), in_turn(context, asked)), named=reopens
    )


def edit(context: Context, what: str, id: str, change_it: Edit, *, named: bool = False) -> Task:
    """Change one task, live or archived, log the change, and deliver the notices owed.

    With `named`, the tasks it names are also looked up in the archive, since the act may reopen the task.
    """
    with context.team.require().tasks.change(f"{what} a task") as change:
        listed = recalled(context, change.value, {task_id(id)}, named=named)
        changed, task = change_it(listed)
        if changed is not listed:
            change.value = changed
        owes = bool(change.value.outbox)
    log(context, what, task)
    if owes:
        pay_if_possible(context, context.team.tasks)
    return task


def request(context: Context, act: Act, said: str = "") -> Request:
    """Return the request for one act of this caller, with the limits in force and the watchers of a stop."""
    asked = Request(act=act, caller=context.caller, now=context.now(), text=text.checked(said, "text"))
    if act is Act.COMPLETE:
        asked = replace(asked, cycles=limits(context).cycles)
    return replace(asked, watchers=watchers(context)) if act in _MAY_STOP else asked


def in_turn(context: Context, asked: Request) -> Request:
    """Stamp a request with the time under the lock; a caller kept waiting comes later in the history too."""
    return replace(asked, now=context.now())


def recalled(context: Context, listed: TaskList, ids: Iterable[str], *, named: bool = False) -> TaskList:
    """Return the list with these tasks from the archive; with `named`, also the tasks they name."""
    asked: set[str] = set()
    while wanted := archive.absent(listed, ids, named=named) - asked:
        asked |= wanted
        listed = archive.recall(listed, context.team.tasks.look_up(listed, wanted))
    return listed


def environ(context: Context) -> Mapping[str, str]:
    """Return the variables for settings: a session's are its team's start variables, never its own."""
    if context.caller.who in (Who.HUMAN, Who.LEAD):
        return os.environ
    return context.team.environment.read().variables


def settings(context: Context) -> Settings:
    """Return the settings in force; no session can change them by its environment."""
    project = Path(context.team.config.read().project)
    return trust.settings(context.team.paths.home, project, environ(context))


def settings_to_hire(context: Context) -> Settings:
    """Return the settings in force for new sessions; raises Refused when teams are turned off."""
    known = settings(context)
    require_enabled(known)
    return known


def limits(context: Context) -> Limits:
    """Return the limits in force; no session can raise them."""
    known = settings(context)
    return Limits(
        depth=known.max_subtask_depth,
        subtasks=known.max_subtasks_per_parent,
        minutes=known.task_timeout_minutes,
        cycles=known.max_review_cycles,
    )


def watchers(context: Context) -> tuple[str, ...]:
    """Return the watchers of a stopped supervised tree: lead and human, once each (behaviour 2.8)."""
    return (LEAD,) if LEAD in addresses(context.team, THE_HUMAN) else (LEAD, HUMAN)


def log(context: Context, what: str, task: Task) -> None:
    """Log an act on a task in events.jsonl."""
    context.team.log_event(context.now(), context.caller.agent_id, f"task.{what}", task=task.id, status=task.status)


_MAY_REOPEN = frozenset({Act.REOPEN, Act.RETRY, Act.CONTINUE, Act.CLOSE})
_MAY_STOP = frozenset({Act.FAIL, Act.HAND_OFF, Act.COMPLETE, Act.HOLD, Act.CLOSE, Act.DIED})
