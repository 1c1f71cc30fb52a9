"""How an act on a task is done: one locked write of tasks.json, which also carries the notices it owes."""

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
    """Do what a request says on one task."""
    reopens = asked.act in _MAY_REOPEN
    return edit(
        context, asked.act, id, lambda tasks: changes.act(tasks, task_id(id), in_turn(context, asked)), named=reopens
    )


def edit(context: Context, what: str, id: str, change_it: Edit, *, named: bool = False) -> Task:
    """Change one task, wherever it is, note it in the log, and deliver what is owed.

    With `named` what the task names is looked for in the archive too: it may be open again afterwards.
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
    """Return the request for one act of this caller, with the limits in force and who is told of what stops."""
    asked = Request(act=act, caller=context.caller, now=context.now(), text=text.checked(said, "text"))
    if act is Act.COMPLETE:
        asked = replace(asked, cycles=limits(context).cycles)
    return replace(asked, watchers=watchers(context)) if act in _MAY_STOP else asked


def in_turn(context: Context, asked: Request) -> Request:
    """Return a request with the time of its turn, under the lock: who waited comes later, also by the history."""
    return replace(asked, now=context.now())


def recalled(context: Context, listed: TaskList, ids: Iterable[str], *, named: bool = False) -> TaskList:
    """Return the list with these tasks from the archive and, with `named`, with what they name."""
    asked: set[str] = set()
    while wanted := archive.absent(listed, ids, named=named) - asked:
        asked |= wanted
        listed = archive.recall(listed, context.team.tasks.look_up(listed, wanted))
    return listed


def environ(context: Context) -> Mapping[str, str]:
    """Return the variables that decide settings: of a session not its own, but those its team was started with."""
    if context.caller.who in (Who.HUMAN, Who.LEAD):
        return os.environ
    return context.team.environment.read().variables


def settings(context: Context) -> Settings:
    """Return the settings in force, of which no session can change any by its environment."""
    project = Path(context.team.config.read().project)
    return trust.settings(context.team.paths.home, project, environ(context))


def settings_to_hire(context: Context) -> Settings:
    """Return the settings in force for new sessions; raises Refused when teams are turned off."""
    known = settings(context)
    require_enabled(known)
    return known


def limits(context: Context) -> Limits:
    """Return the limits in force, which no session can raise."""
    known = settings(context)
    return Limits(
        depth=known.max_subtask_depth,
        subtasks=known.max_subtasks_per_parent,
        minutes=known.task_timeout_minutes,
        cycles=known.max_review_cycles,
    )


def watchers(context: Context) -> tuple[str, ...]:
    """Return who is told when a supervised tree stops: lead and human, once each (behaviour 2.8)."""
    return (LEAD,) if LEAD in addresses(context.team, THE_HUMAN) else (LEAD, HUMAN)


def log(context: Context, what: str, task: Task) -> None:
    """Note in events.jsonl what was done to a task."""
    context.team.log_event(context.now(), context.caller.agent_id, f"task.{what}", task=task.id, status=task.status)


_MAY_REOPEN = frozenset({Act.REOPEN, Act.RETRY, Act.CONTINUE, Act.CLOSE})
_MAY_STOP = frozenset({Act.FAIL, Act.HAND_OFF, Act.COMPLETE, Act.HOLD, Act.CLOSE, Act.DIED})
