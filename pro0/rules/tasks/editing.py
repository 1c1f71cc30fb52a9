"""Change the fields of a task, or delete a task."""

from datetime import datetime

from msgspec.structs import replace

from pro0.errors import BadInput, ErrorCode, Refused
from pro0.model.caller import IN_CHARGE, Caller, Who
from pro0.model.ids import LEAD, task_id
from pro0.model.task import SETTLED, Changes, Entry, Gate, Status, Task, TaskList
from pro0.rules import text
from pro0.rules.tasks import gates, priority, subtasks
from pro0.rules.tasks.acts import TaskPhase, phase
from pro0.rules.tasks.board import Board
from pro0.rules.tasks.changes import acyclic, find, follow, with_tasks
from pro0.rules.tasks.making import command, dependencies, resolve, time_limit


def update(tasks: TaskList, id: str, changes: Changes, caller: Caller, now: datetime) -> tuple[TaskList, Task]:
    """Change fields of an unsettled task, or raise Refused, NotFound or BadInput and change nothing."""
    before = find(tasks, id)
    _may_update(Board(tasks.tasks), before, changes, caller)
    if before.status in SETTLED:
        raise Refused(f"{id} is {before.status}: its fields cannot be changed", hint=f"pro0 task reopen {id}")
    after = _fields(before, changes, {task.id for task in tasks.tasks})
    after = _gated(before, after, caller, now, agreed=changes.run is not None)
    if after == before:
        return tasks, before
    # A description equal to the title follows the title; the history names the title alone.
    reported = replace(after, description=before.description) if after.more == before.more else after
    fields = ", ".join(name for name in reported.__struct_fields__ if getattr(reported, name) != getattr(before, name))
    entry = Entry(at=now, actor=caller.agent_id, act="update", to=after.status, text=fields)
    after = replace(after, updated_at=now, history=(*after.history, entry))
    changed = with_tasks(tasks, [after])
    acyclic(changed)
    return changed, after


def delete(
    tasks: TaskList,
    id: str,
    caller: Caller,
    *,
    force: bool,
    now: datetime,
    watchers: tuple[str, ...] = (LEAD,),
) -> TaskList:
    """Delete a task. With `force` other tasks drop their references to it, else it raises Refused (behaviour 2.6)."""
    gone = find(tasks, id)
    if caller.who is not Who.HUMAN and (gone.requires or gone.awaiting):
        raise Refused(f"{id} is gated: only a human may delete it", code=ErrorCode.NOT_ALLOWED)
    if caller.who is not Who.HUMAN and _decided_by_a_person(Board(tasks.tasks), gone):
        hint = "a person retries, closes or deletes what has failed: pro0 task list --status failed"
        raise Refused(
            f"{id} or a task below it has failed in its tree: only a human may delete it",
            code=ErrorCode.NOT_ALLOWED,
            hint=hint,
        )
    if gone.claim and not force:
        raise Refused(f"{id} is claimed by {gone.claim.agent_id}", hint=f"cancel it first: pro0 task cancel {id}")
    users = [task for task in tasks.tasks if id in task.dependencies or task.parent == id]
    if users and not force:
        names = ", ".join(task.id for task in users)
        raise Refused(f"{names} refer to {id}", hint="--force removes these references too")
    remaining = replace(tasks, tasks=tuple(task for task in tasks.tasks if task.id != id))
    return follow(with_tasks(remaining, [_without(task, id) for task in users]), now, {gone.parent}, watchers)


def _decided_by_a_person(board: Board, gone: Task) -> bool:
    """Return True when a task holds a failure that stops a supervised tree, its own or one below it (behaviour 2.8)."""
    return any(task.status is Status.FAILED and board.supervisor(task) for task in (gone, *board.below(gone)))


def _may_update(board: Board, task: Task, changes: Changes, caller: Caller) -> None:
    """Let a supervised session change the subtasks of its own task. Only a person changes a gate (behaviour 2.2)."""
    if changes.requires is not None and caller.who is not Who.HUMAN:
        raise Refused(f"only a human changes what {task.id} requires", code=ErrorCode.NOT_ALLOWED)
    above = board.supervisor(task)
    if caller.who not in IN_CHARGE and not (above and subtasks.works_on(board, above, caller)):
        text = f"{caller.agent_id} may not update {task.id}, which is no subtask of its own task"
        raise Refused(text, code=ErrorCode.NOT_ALLOWED)


def _fields(task: Task, changes: Changes, task_ids: set[str]) -> Task:
    added = [resolve(name, {}, task_ids) for name in changes.add_dependencies]
    dropped = {task_id(name) for name in changes.drop_dependencies}
    if both := [id for id in dict.fromkeys(added) if id in dropped]:
        raise BadInput(f"{', '.join(both)} cannot be both added and dropped", hint="name it in one of the two lists")
    return replace(
        task,
        title=task.title if changes.title is None else text.title(changes.title),
        description=_or(changes.description, task.more, "description"),
        acceptance=_or(changes.acceptance, task.acceptance, "acceptance"),
        run=task.run if changes.run is None else command(changes.run),
        timeout=task.timeout if changes.timeout is None else time_limit(changes.timeout or None),
        priority=task.priority if changes.priority is None else priority.checked(changes.priority),
        labels=task.labels if changes.labels is None else text.labels(changes.labels),
        role=task.role if changes.role is None else text.one_line(changes.role, "role") or None,
        requires=task.requires if changes.requires is None else _gate(changes.requires),
        dependencies=tuple(id for id in dependencies(task.id, (*task.dependencies, *added)) if id not in dropped),
    )


def _or(new: str | None, old: str, noun: str) -> str:
    return old if new is None else text.checked(new, noun)


def _gate(word: str) -> Gate | None:
    if word and word not in tuple(Gate):
        raise BadInput(f"{word!r} is no gate", hint=f"one of {', '.join(Gate)}; none removes it")
    return Gate(word) if word else None


def _gated(before: Task, after: Task, caller: Caller, now: datetime, *, agreed: bool) -> Task:
    """Hold an agent's changed command until a person agrees to its exact text, or sets it (behaviour 2.9)."""
    if caller.who is Who.HUMAN:
        return _agreed(after) if agreed and after.unagreed else after
    if after.run == before.run:
        return after
    if phase(before) is not TaskPhase.PENDING:
        raise Refused(f"{before.id} is {phase(before)}: its command cannot be changed", code=ErrorCode.NOT_ALLOWED)
    return gates.held(after, caller.agent_id, now) if after.run else replace(after, unagreed=False)


def _agreed(task: Task) -> Task:
    """Lift the hold of a command after a person has set it. Any other wait stays."""
    wait = task.awaiting
    held = wait is not None and wait.reason == gates.AGENT_COMMAND
    return replace(task, unagreed=False, awaiting=None if held else wait)


def _without(task: Task, id: str) -> Task:
    dependencies = tuple(name for name in task.dependencies if name != id)
    return replace(task, dependencies=dependencies, parent=None if task.parent == id else task.parent)
