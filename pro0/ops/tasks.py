"""Tasks: every change is one locked write of tasks.json, which also carries the notices it owes."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime

import msgspec
from msgspec.structs import replace

from pro0.errors import NotFound, Refused, StoreError
from pro0.model.caller import ANYONE, IN_CHARGE, LEAD_ONLY, PEOPLE_AND_AGENTS, Who
from pro0.model.ids import task_id
from pro0.model.task import Changes, Comment, Draft, Entry, Task, TaskList
from pro0.model.team import Wish
from pro0.ops.context import Context, already, operation
from pro0.ops.messages import deliver
from pro0.ops.seats import roster
from pro0.rules import archive, changes, text
from pro0.rules.board import Board, claimable, list_order, next_order, why_not_ready
from pro0.rules.lifecycle import Act, Request
from pro0.store.files import add_folder

RESULT_LIMIT = 64 * 1024

Edit = Callable[[TaskList], tuple[TaskList, Task]]


class Remark(msgspec.Struct, frozen=True):
    """One line of what was said about a task: a comment, or the text that came with an act."""

    at: datetime
    author: str
    text: str
    act: str | None = None


@operation("task.create", PEOPLE_AND_AGENTS)
def create(context: Context, drafts: Iterable[Draft]) -> list[Task]:
    """Add tasks, all or none; their dependencies may name each other by key."""
    drafts = [_known_assignee(context, draft) for draft in drafts]
    with context.team.require().tasks.change("create tasks") as change:
        listed = _recalled(context, change.value, changes.named(drafts))
        change.value, made = changes.create(listed, drafts, context.caller, context.now(), context.new_id)
        owes = bool(change.value.outbox)
    for task in made:
        _log(context, "create", task)
    if owes:
        _pay(context)
    return made


@operation("task.claim", PEOPLE_AND_AGENTS)
def claim(context: Context, id: str) -> Task:
    """Take a ready task; of several callers exactly one gets it, the others are told who (S004-037)."""
    _claiming(context)
    return _act(context, id, Act.CLAIM)


@operation("task.take", PEOPLE_AND_AGENTS)
def take(context: Context, *, runnable: bool = False) -> Task | None:
    """Claim the caller's own reserved task, else the next ready one; None when there is none."""
    if not _offers(context, context.team.tasks.read(), runnable=runnable):
        return None
    _claiming(context)
    with context.team.tasks.change("take a task") as change:
        offers = _offers(context, change.value, runnable=runnable)
        if not offers:
            return None
        request = _request(context, Act.CLAIM)
        change.value, task = changes.act(change.value, offers[0].id, request)
    _log(context, Act.CLAIM, task)
    return task


@operation("task.release", ANYONE)
def release(context: Context, id: str, reason: str = "") -> Task:
    """Give a claimed task back."""
    return _act(context, id, Act.RELEASE, reason)


@operation("task.complete", PEOPLE_AND_AGENTS)
def complete(context: Context, id: str, result: str = "") -> Task:
    """Finish a claimed task with its result; its dependents become ready (S004-051)."""
    return _act(context, id, Act.COMPLETE, text.checked(result, "result", RESULT_LIMIT))


@operation("task.fail", ANYONE)
def fail(context: Context, id: str, reason: str = "") -> Task:
    """Give a claimed task up as failed."""
    return _act(context, id, Act.FAIL, reason)


@operation("task.reopen", PEOPLE_AND_AGENTS)
def reopen(context: Context, id: str, reason: str = "") -> Task:
    """Make a settled task pending again; a human's act."""
    request = _request(context, Act.REOPEN, text.checked(reason, "text"))

    def edit(tasks: TaskList) -> tuple[TaskList, Task]:
        return changes.reopen(_recalled(context, tasks, {task_id(id)}, named=True), task_id(id), request)

    return _edit(context, Act.REOPEN, id, edit)


@operation("task.assign", PEOPLE_AND_AGENTS)
def assign(context: Context, id: str, to: str | None) -> Task:
    """Reserve a pending task for one living member, who gets one message; None drops the reservation."""
    agent = roster(context.team).address(to) if to is not None else None
    request = replace(_request(context, Act.ASSIGN, f"to {agent}" if agent else "to nobody"), assignee=agent)
    notice = context.new_id()
    return _edit(context, Act.ASSIGN, id, lambda tasks: changes.assign(tasks, task_id(id), request, notice))


@operation("task.cancel", PEOPLE_AND_AGENTS)
def cancel(context: Context, id: str, reason: str = "") -> Task:
    """Cancel a task and its open subtasks; whoever works on one is told."""
    request = _request(context, Act.CANCEL, reason)
    return _edit(context, Act.CANCEL, id, lambda tasks: changes.cancel(tasks, task_id(id), request, context.new_id))


@operation("task.update", IN_CHARGE)
def update(context: Context, id: str, fields: Changes) -> Task:
    """Change fields of a task that is not settled."""
    now, added = context.now(), {task_id(name) for name in fields.add_dependencies}

    def edit(tasks: TaskList) -> tuple[TaskList, Task]:
        return changes.update(_recalled(context, tasks, added), task_id(id), fields, context.caller, now)

    return _edit(context, "update", id, edit)


@operation("task.delete", IN_CHARGE)
def delete(context: Context, id: str, *, force: bool = False) -> Task:
    """Remove a task for good; returns it as it was."""

    def edit(tasks: TaskList) -> tuple[TaskList, Task]:
        gone = changes.find(tasks, task_id(id))
        return changes.delete(tasks, gone.id, context.caller, force=force, now=context.now()), gone

    return _edit(context, "delete", id, edit)


@operation("task.free", LEAD_ONLY)
def free(context: Context, agent_id: str, incarnation: str, how: str) -> list[Task]:
    """Give back what a dead session held; returns those tasks."""
    with context.team.tasks.change(f"free the tasks of {agent_id}") as change:
        before = change.value
        change.value = changes.free(before, agent_id, incarnation, how, context.now())
        pairs = zip(before.tasks, change.value.tasks, strict=True)
        freed = [new for old, new in pairs if new is not old]
    for task in freed:
        _log(context, "free", task)
    return freed


@operation("task.comment", PEOPLE_AND_AGENTS)
def comment(context: Context, id: str, content: str) -> Comment:
    """Add a remark to a task."""
    task = show(context, id)
    if not content.strip():
        raise Refused("a comment needs a text", hint=f'pro0 task comment {task.id} "what you found"')
    new = Comment(
        id=context.new_id(),
        at=context.now(),
        author=context.caller.agent_id,
        text=text.checked(content, "comment"),
    )
    comments = context.team.comments(task.id)
    add_folder(comments.folder)
    with comments.change(f"comment on {task.id}") as change:
        change.value = replace(change.value, comments=(*change.value.comments, new))
    _log(context, "comment", task)
    return new


@operation("task.remarks", ANYONE, changes=False)
def remarks(context: Context, id: str) -> list[Remark]:
    """Return what was said about a task, comments and the texts of acts, in order."""
    acts = [Remark(entry.at, entry.actor, entry.text, entry.act) for entry in history(context, id) if entry.text]
    try:
        said = context.team.comments(task_id(id)).read().comments
    except NotFound:
        said = ()
    return sorted([*acts, *(Remark(c.at, c.author, c.text) for c in said)], key=lambda remark: remark.at)


@operation("task.history", ANYONE, changes=False)
def history(context: Context, id: str) -> list[Entry]:
    """Return all that was ever done to a task, oldest first, also what is no longer in tasks.json."""
    task = show(context, id)
    return [*context.team.tasks.earlier(task), *task.history]


@operation("task.show", ANYONE, changes=False)
def show(context: Context, id: str) -> Task:
    """Return one task, also from the archive; raises NotFound."""
    listed = context.team.require().tasks.read()
    return changes.find(_recalled(context, listed, {task_id(id)}), task_id(id))


@operation("task.list", ANYONE, changes=False)
def list_tasks(context: Context, *, live: bool = True, archived: bool = False) -> list[Task]:
    """Return tasks in the order of `list`: those of tasks.json, those of the archive, or both."""
    listed = context.team.require().tasks.read()
    old = context.team.tasks.archived(listed) if archived else ()
    return sorted((*(listed.tasks if live else ()), *old), key=list_order)


@operation("task.ready", ANYONE, changes=False)
def ready(context: Context) -> list[Task]:
    """Return the tasks that could be claimed now, in the order of `next`."""
    all_of_them = board(context)
    return sorted((task for task in all_of_them if why_not_ready(all_of_them, task) is None), key=next_order)


@operation("task.next", ANYONE, changes=False)
def next_task(context: Context) -> Task | None:
    """Return the task that the caller would be offered next, without claiming it."""
    offers = ready(context) if context.caller.who is Who.HUMAN else _offers(context, context.team.tasks.read())
    return offers[0] if offers else None


def board(context: Context) -> Board:
    """Return all tasks of the team as they are now."""
    return Board(context.team.require().tasks.read().tasks)


def settle_debts(context: Context) -> None:
    """Deliver what tasks.json owes, then take it off the list; again after a crash, nobody is told twice.

    What cannot be delivered, since a mailbox is corrupt, stays owed, and keeps nobody else from being told.
    """

    def owed() -> set[str]:
        return {notice.id for notice in context.team.tasks.read().outbox}

    paid = deliver(context, context.team.tasks.read().outbox, owed)
    if not paid:
        return
    with already("they are told"), context.team.tasks.change("deliver notices") as change:
        left = tuple(notice for notice in change.value.outbox if notice.id not in paid)
        change.value = replace(change.value, outbox=left)


def _act(context: Context, id: str, act: Act, said: str = "") -> Task:
    request = _request(context, act, text.checked(said, "text"))
    return _edit(context, act, id, lambda tasks: changes.act(tasks, task_id(id), request))


def _edit(context: Context, what: str, id: str, edit: Edit) -> Task:
    with context.team.require().tasks.change(f"{what} a task") as change:
        listed = _recalled(context, change.value, {task_id(id)})
        changed, task = edit(listed)
        if changed is not listed:
            change.value = changed
        owes = bool(change.value.outbox)
    _log(context, what, task)
    if owes:
        _pay(context)
    return task


def _pay(context: Context) -> None:
    """Deliver what an act owes; the act is done, and what cannot be delivered now the lead delivers later."""
    with suppress(StoreError):
        settle_debts(context)


def _recalled(context: Context, listed: TaskList, ids: Iterable[str], *, named: bool = False) -> TaskList:
    """Return the list with these tasks from the archive and, with `named`, with what they name."""
    asked: set[str] = set()
    while wanted := archive.absent(listed, ids, named=named) - asked:
        asked |= wanted
        listed = archive.recall(listed, context.team.tasks.look_up(listed, wanted))
    return listed


def _request(context: Context, act: Act, said: str = "") -> Request:
    return Request(act=act, caller=context.caller, now=context.now(), text=said)


def _offers(context: Context, tasks: TaskList, *, runnable: bool = False) -> list[Task]:
    offers = claimable(Board(tasks.tasks), context.caller.agent_id)
    return [task for task in offers if task.run] if runnable else offers


def _claiming(context: Context) -> None:
    """Refuse claims while the team is paused or stopping (rulings 3.9)."""
    wanted = context.team.require().wanted.read()
    if wanted.wish is Wish.STOP:
        raise Refused(f"{context.team.name} is stopping: nothing is claimed now", code="stopping")
    if wanted.paused:
        raise Refused(f"{context.team.name} is paused", code="paused", hint="pro0 team unpause")


def _known_assignee(context: Context, draft: Draft) -> Draft:
    if draft.assignee is None:
        return draft
    return replace(draft, assignee=roster(context.team).address(draft.assignee))


def _log(context: Context, what: str, task: Task) -> None:
    context.team.log_event(context.now(), context.caller.agent_id, f"task.{what}", task=task.id, status=task.status)
