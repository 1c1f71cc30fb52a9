"""Tasks: every change is one locked write of tasks.json, including the notices owed."""

from collections.abc import Iterable

from msgspec.structs import replace

from pro0.errors import ErrorCode, NotFound, Refused
from pro0.model.caller import ANYONE, IN_CHARGE, LEAD_ONLY, PEOPLE_AND_AGENTS, Who
from pro0.model.home import HookEvent
from pro0.model.ids import HUMAN, task_id, task_number
from pro0.model.task import Awaiting, Changes, Comment, Draft, Entry, Task, TaskList
from pro0.model.team import Seat
from pro0.ops.context import Context, operation
from pro0.ops.mail.messages import pay_if_possible
from pro0.ops.seats import roster
from pro0.ops.tasks import acting, drafting, hooks
from pro0.ops.tasks.acting import act, carry_out, claiming, edit, in_turn, log, make_request, recalled, require_known
from pro0.ops.tasks.gates import at_the_gate, told
from pro0.rules import text
from pro0.rules.runs.scope import EVERYTHING, Scope, within
from pro0.rules.tasks import answers, changes, editing
from pro0.rules.tasks.acts import Act
from pro0.rules.tasks.answers import Remark
from pro0.rules.tasks.board import Board, claimable, is_blocked, list_order, next_order, why_not_ready

RESULT_LIMIT = 64 * 1024
AGENT = "agent"
"""The author of a remark by neither a person nor a member."""


@operation("task.create", PEOPLE_AND_AGENTS)
def create(context: Context, drafts: Iterable[Draft], *, last: bool = False) -> list[Task]:
    """Add tasks, all or none; their dependencies may name each other by key.

    With `last`, a task without a priority goes after its pending siblings (behaviour 2.10).
    """
    drafts = drafting.resolved(context, drafts)
    hooks.gate(context, HookEvent.TASK_CREATED, lambda: drafting.expected(context, drafts, last=last))
    with context.team.require().tasks.change("create tasks") as change:
        change.value, created = drafting.with_drafts(context, change.value, drafts, last=last)
        owes = bool(change.value.outbox)
    for task in created:
        log(context, "create", task)
    if owes:
        pay_if_possible(context, context.team.tasks)
    return created


@operation("task.claim", PEOPLE_AND_AGENTS)
def claim(context: Context, id: str) -> Task:
    """Take a ready task; of several callers exactly one gets it, the others are told who."""
    claiming(context)
    return act(context, id, Act.CLAIM)


@operation("task.take", PEOPLE_AND_AGENTS)
def take(context: Context, *, runnable: bool = False) -> Task | None:
    """Claim the caller's own reserved task, else the next ready one; None when there is none."""
    if not _offers(context, context.team.tasks.read(), runnable=runnable):
        return None
    claiming(context)
    with context.team.tasks.change("take a task") as change:
        offers = _offers(context, change.value, runnable=runnable)
        if not offers:
            return None
        request = in_turn(context, make_request(context, Act.CLAIM))
        change.value, task = changes.act(change.value, offers[0].id, request)
    log(context, Act.CLAIM, task)
    return task


@operation("task.release", ANYONE)
def release(context: Context, id: str, reason: str = "") -> Task:
    """Give a claimed task back."""
    return act(context, id, Act.RELEASE, reason)


@operation("task.complete", PEOPLE_AND_AGENTS)
def complete(context: Context, id: str, result: str = "") -> Task:
    """Finish a claimed task with its result, so that its dependents become ready.

    A gated task then waits at its gate. To a human this is an error: approve is the right act (behaviour 2.1).
    A refusal by a hook is exit 4, and the task stays unchanged.
    """
    text.checked(result, "result", RESULT_LIMIT)
    hooks.gate(context, HookEvent.TASK_COMPLETED, lambda: _to_complete(context, id, result), result=result)
    return at_the_gate(context, act(context, id, Act.COMPLETE, result))


@operation("task.fail", ANYONE)
def fail(context: Context, id: str, reason: str = "") -> Task:
    """Give a claimed task up as failed."""
    return act(context, id, Act.FAIL, reason)


@operation("task.reopen", PEOPLE_AND_AGENTS)
def reopen(context: Context, id: str, reason: str = "") -> Task:
    """Make a settled task pending again; a human's act."""
    return acting.reopen(context, id, reason)


@operation("task.assign", PEOPLE_AND_AGENTS)
def assign(context: Context, id: str, to: str | None) -> Task:
    """Reserve a pending task for one living member, who gets one message; None drops the reservation."""
    agent = roster(context.team).address(to) if to is not None else None
    request = replace(make_request(context, Act.ASSIGN, f"to {agent}" if agent else "to nobody"), assignee=agent)
    notice = context.new_id()

    def change_it(tasks: TaskList) -> tuple[TaskList, Task]:
        return changes.assign(tasks, task_id(id), in_turn(context, request), notice)

    return edit(context, Act.ASSIGN, id, change_it)


@operation("task.cancel", PEOPLE_AND_AGENTS)
def cancel(context: Context, id: str, reason: str = "") -> Task:
    """Cancel a task and its open subtasks; the sessions that work on one, or asked about it, are told."""
    return carry_out(context, id, told(context, make_request(context, Act.CANCEL, reason)))


@operation("task.update", PEOPLE_AND_AGENTS)
def update(context: Context, id: str, fields: Changes) -> Task:
    """Change fields of a task that is not settled."""
    added = {task_id(name) for name in fields.add_dependencies}
    if fields.role:
        fields = replace(fields, role=drafting.role_of(context, fields.role))

    def change_it(tasks: TaskList) -> tuple[TaskList, Task]:
        require_known(context, tasks, changes.find(tasks, task_id(id)), fields.drop_dependencies)
        return editing.update(recalled(context, tasks, added), task_id(id), fields, context.caller, context.now())

    return acting.edit_as_a_person(context, "update", id, change_it, fields)


@operation("task.delete", IN_CHARGE)
def delete(context: Context, id: str, *, force: bool = False) -> Task:
    """Remove a task for good; returns it as it was."""

    def change_it(tasks: TaskList) -> tuple[TaskList, Task]:
        gone = changes.find(tasks, task_id(id))
        now, watchers = context.now(), acting.watchers(context)
        return editing.delete(tasks, gone.id, context.caller, force=force, now=now, watchers=watchers), gone

    return acting.edit_as_a_person(context, "delete", id, change_it)


@operation("task.free", LEAD_ONLY)
def free(context: Context, agent_id: str, incarnation: str, how: str, *, keep: bool = False) -> list[Task]:
    """Give back the tasks of a dead session, and return them; with `keep` they stay reserved for its member."""
    with context.team.tasks.change(f"free the tasks of {agent_id}") as change:
        before = change.value
        change.value = changes.free(
            before, agent_id, incarnation, make_request(context, Act.DIED, f"{agent_id} {how}"), keep=keep
        )
        pairs = zip(before.tasks, change.value.tasks, strict=True)
        freed = [new for old, new in pairs if new is not old]
        owes = bool(change.value.outbox)
    for task in freed:
        log(context, "free", task)
    if owes:
        pay_if_possible(context, context.team.tasks)
    return freed


@operation("task.comment", PEOPLE_AND_AGENTS)
def comment(context: Context, id: str, content: str, *, author: str | None = None) -> Comment:
    """Add a remark to a task; a human may sign it as `agent`, but no agent may sign as `human`."""
    task = show(context, id)
    if author == HUMAN and context.caller.who is not Who.HUMAN:
        raise Refused(f"{context.caller.agent_id} is no human", code=ErrorCode.NOT_ALLOWED)
    if not content.strip():
        raise Refused("a comment needs a text", hint=f'pro0 task comment {task.id} "what you found"')
    text.checked(content, "comment")
    said_by = AGENT if author == AGENT and context.caller.who is Who.HUMAN else context.caller.agent_id
    comments = context.team.comments(task.id)
    comments.place.make()
    with comments.change(f"comment on {task.id}") as change:
        seat = _seat_of(context)
        new = Comment(
            id=context.new_id(),
            at=context.now(),
            author=said_by,
            text=content,
            author_task=seat.task if seat else None,
            author_role=seat.role if seat else "",
        )
        change.value = replace(change.value, comments=(*change.value.comments, new))
    log(context, "comment", task)
    return new


def _seat_of(context: Context) -> Seat | None:
    """Return the calling member's seat; the seat, never the caller, gives task and role."""
    seats = context.team.wanted.read().seats if context.caller.who is Who.MEMBER else ()
    return next((seat for seat in seats if seat.agent_id == context.caller.agent_id), None)


@operation("task.remarks", ANYONE, changes=False)
def remarks(context: Context, id: str) -> list[Remark]:
    """Return the remarks about a task in order: comments, the texts of acts, and a person's answers."""
    acts = [answers.remark(entry) for entry in history(context, id) if entry.text or answers.is_answer(entry)]
    try:
        comments = context.team.comments(task_id(id)).read().comments
    except NotFound:
        comments = ()
    notes = [Remark(c.at, c.author, c.text, task=c.author_task, role=c.author_role, id=c.id) for c in comments]
    return sorted([*acts, *notes], key=lambda remark: remark.at)


@operation("task.history", ANYONE, changes=False)
def history(context: Context, id: str) -> list[Entry]:
    """Return every act on a task, oldest first, including acts that tasks.json no longer has."""
    task = show(context, id)
    return [*context.team.tasks.earlier(task), *task.history]


@operation("task.show", ANYONE, changes=False)
def show(context: Context, id: str) -> Task:
    """Return one task, also from the archive; raises NotFound."""
    listed = context.team.require().tasks.read()
    return changes.find(recalled(context, listed, {task_id(id)}), task_id(id))


@operation("task.list", ANYONE, changes=False)
def list_tasks(context: Context, *, live: bool = True, archived: bool = False) -> list[Task]:
    """Return tasks in the order of `list`: those of tasks.json, those of the archive, or both."""
    listed = context.team.require().tasks.read()
    old = context.team.tasks.archived(listed) if archived else ()
    return sorted((*(listed.tasks if live else ()), *old), key=list_order)


@operation("task.ready", ANYONE, changes=False)
def ready(context: Context, scope: Scope = EVERYTHING) -> list[Task]:
    """Return the tasks that could be claimed now, in the order of `next`."""
    all_of_them = board(context)
    candidates = [task for task in all_of_them if within(all_of_them, task, scope)]
    return sorted((task for task in candidates if why_not_ready(all_of_them, task) is None), key=next_order)


@operation("task.blocked", ANYONE, changes=False)
def blocked(context: Context) -> list[Task]:
    """Return the pending tasks with an open dependency, in the order of `next`."""
    all_of_them = board(context)
    return sorted((task for task in all_of_them if is_blocked(all_of_them, task)), key=next_order)


@operation("task.waiting", ANYONE, changes=False)
def waiting(context: Context, kinds: frozenset[Awaiting], scope: Scope = EVERYTHING) -> list[Task]:
    """Return the tasks that await an answer of one of these kinds from a human, in the order of `next`."""
    all_of_them = board(context)
    candidates = [task for task in all_of_them if task.waits and task.waits.kind in kinds]
    return sorted((task for task in candidates if within(all_of_them, task, scope)), key=next_order)


@operation("task.next", ANYONE, changes=False)
def next_task(context: Context, scope: Scope = EVERYTHING) -> Task | None:
    """Return the task that the caller would be offered next, without claiming it."""
    if context.caller.who is Who.HUMAN:
        return next(iter(ready(context, scope)), None)
    listed = context.team.tasks.read()
    all_of_them = Board(listed.tasks)
    return next((task for task in _offers(context, listed) if within(all_of_them, task, scope)), None)


def board(context: Context) -> Board:
    """Return all tasks of the team as they are now."""
    return Board(context.team.require().tasks.read().tasks)


def family(context: Context, id: str | None = None) -> Board:
    """Return the tasks of tasks.json, or one task, with all subtasks, archived ones too."""
    listed = context.team.require().tasks.read()
    everything = (*listed.tasks, *context.team.tasks.archived(listed))
    whole = Board(sorted(everything, key=lambda task: task_number(task.id)))
    chosen = {task_id(id)} if id is not None else {task.id for task in listed.tasks}
    return Board(
        task for task in whole if task.id in chosen or any(above.id in chosen for above in whole.ancestors(task))
    )


def _offers(context: Context, tasks: TaskList, *, runnable: bool = False) -> list[Task]:
    offers = claimable(Board(tasks.tasks), context.caller.agent_id)
    return [task for task in offers if task.run] if runnable else offers


def _to_complete(context: Context, id: str, result: str) -> list[Task]:
    """Return the task about to be completed, none for a complete one; raises the error that completing would."""
    before = show(context, id)
    listed = recalled(context, context.team.tasks.read(), {before.id})
    _, after = changes.act(listed, before.id, make_request(context, Act.COMPLETE, result))
    return [before] if after is not before and after != before else []
