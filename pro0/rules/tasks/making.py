"""Drafts become tasks: all of them or none, with their references, gates and priorities."""

from collections.abc import Callable, Iterable
from datetime import datetime

from msgspec.structs import replace

from pro0.errors import BadInput, ErrorCode, NotFound, Refused
from pro0.model.caller import IN_CHARGE, Caller, Who
from pro0.model.ids import LEAD, task_id
from pro0.model.task import SETTLED, Draft, Entry, Policy, Status, Task, TaskList, Wait
from pro0.rules import text
from pro0.rules.tasks import gates, limits, priority, subtasks
from pro0.rules.tasks.board import Board
from pro0.rules.tasks.changes import acyclic, assigned, follow, owe
from pro0.rules.tasks.limits import Limits
from pro0.rules.words.acts import callers


def create(
    tasks: TaskList,
    drafts: Iterable[Draft],
    caller: Caller,
    now: datetime,
    new_id: Callable[[], str],
    *,
    bounds: Limits = limits.DEFAULT,
    last: bool = False,
    watchers: tuple[str, ...] = (LEAD,),
) -> tuple[TaskList, list[Task]]:
    """Add all tasks or none; raise NotFound for an unknown reference and Refused for a cycle (behaviour 2.6).

    With `last` a task without priority goes after its pending siblings. Under a supervised parent it always does.
    """
    drafts = list(drafts)
    ids = {f"task-{tasks.next_id + index}": draft for index, draft in enumerate(drafts)}
    keys = _keys(ids)
    task_ids = {task.id for task in tasks.tasks} | set(ids)
    new = [_task_of_draft(id, draft, keys, task_ids, caller, now) for id, draft in ids.items()]
    _below_open_parents(tasks, new)
    changed = replace(tasks, next_id=tasks.next_id + len(new), tasks=(*tasks.tasks, *new))
    acyclic(changed, {id: key for key, id in keys.items()})
    _below_its_own(Board(changed.tasks), new, caller)
    _delegated_by_who_may(Board(changed.tasks), new, caller)
    limits.check(Board(changed.tasks), new, bounds)
    unplaced = {id for id, draft in ids.items() if draft.priority is None}
    changed = priority.with_priorities(changed, unplaced, at_end=last)
    board = Board(changed.tasks)
    created = [board.tasks[task.id] for task in new]
    notices = [assigned(task, task.assignee, new_id()) for task in created if task.assignee]
    notices += [notice for task in created if task.awaiting for notice in subtasks.stop_notices(board, task, watchers)]
    return follow(owe(changed, caller, notices), now, watchers=watchers), created


def named_tasks(drafts: Iterable[Draft]) -> set[str]:
    """Return the ids of existing tasks in the references of these drafts, or raise BadInput for a bad id."""
    drafts = list(drafts)
    keys = {draft.key for draft in drafts}
    names = [name for draft in drafts for name in (draft.parent, *draft.blocked_by)]
    return {task_id(name) for name in names if name and name not in keys}


def resolve(name: str, keys: dict[str, str], task_ids: set[str]) -> str:
    """Resolve a key or an id to an id, or raise NotFound."""
    id = keys.get(name) or task_id(name)
    if id not in task_ids:
        raise NotFound(f"there is no {id}", hint="list them: pro0 task list")
    return id


def dependencies(id: str, names: Iterable[str], called: str | None = None) -> tuple[str, ...]:
    """Return dependencies, each once, or raise Refused for a task, or what it is `called`, depending on itself."""
    each = tuple(dict.fromkeys(names))
    if id in each:
        raise Refused(f"{called or id} cannot depend on itself", code=ErrorCode.CYCLE)
    return each


def command(run: str | None) -> str | None:
    """Return a valid command of a task, None for no command, or raise BadInput."""
    if run is None:
        return None
    if "\0" in run:
        raise BadInput("a command cannot hold a NUL byte")
    return text.checked(run, "command") or None


def time_limit(timeout: float | None) -> float | None:
    """Return a valid time limit of a task's command in seconds, None for no limit, or raise BadInput."""
    if timeout is None:
        return None
    if not 0 < timeout <= 7 * 24 * 3600:
        raise BadInput(f"{timeout:g} seconds is no time limit", hint="more than 0, at most a week (604800)")
    return timeout


def _keys(ids: dict[str, Draft]) -> dict[str, str]:
    keys: dict[str, str] = {}
    for id, draft in ids.items():
        if draft.key is None:
            continue
        if draft.key in keys:
            raise BadInput(f"two tasks have the key {draft.key!r}", hint="a key names one task of the file")
        keys[draft.key] = id
    return keys


def _task_of_draft(
    id: str, draft: Draft, keys: dict[str, str], task_ids: set[str], caller: Caller, now: datetime
) -> Task:
    task = Task(
        id=id,
        title=text.title(draft.title),
        description=text.checked(draft.description, "description"),
        acceptance=text.checked(draft.acceptance, "acceptance"),
        type=draft.type,
        labels=text.labels(draft.labels),
        run=command(draft.run),
        timeout=time_limit(draft.timeout),
        parent=resolve(draft.parent, keys, task_ids) if draft.parent else None,
        dependencies=dependencies(id, [resolve(name, keys, task_ids) for name in draft.blocked_by], draft.key),
        priority=priority.checked(priority.USUAL if draft.priority is None else draft.priority),
        role=text.one_line(draft.role, "role") or None if draft.role else None,
        requires=draft.requires,
        policy=draft.policy,
        agent=draft.agent,
        shared=draft.shared,
        assignee=_reserved(draft.assignee, caller),
        created_at=now,
        created_by=caller.agent_id,
    )
    entry = Entry(at=now, actor=caller.agent_id, act="create", to=Status.PENDING)
    return replace(_waiting(task, draft, caller, now), updated_at=now, history=(entry,))


def _waiting(task: Task, draft: Draft, caller: Caller, now: datetime) -> Task:
    """Let a new task wait for a person: on the draft's request, or for an agent-made command (behaviour 2.9)."""
    if task.run is not None and caller.who is not Who.HUMAN:
        return gates.held(task, caller.agent_id, now)
    if draft.awaiting is None:
        return task
    return replace(task, awaiting=Wait(kind=draft.awaiting, since=now, by=caller.agent_id))


def _reserved(assignee: str | None, caller: Caller) -> str | None:
    if assignee and caller.who not in IN_CHARGE:
        text = f"{caller.agent_id} may not assign tasks: only {callers(IN_CHARGE)} may"
        raise Refused(text, code=ErrorCode.NOT_ALLOWED)
    return assignee


def _below_open_parents(tasks: TaskList, new: Iterable[Task]) -> None:
    settled = {task.id: task.status for task in tasks.tasks if task.status in SETTLED}
    for task in new:
        if task.parent in settled:
            raise Refused(
                f"{task.parent} is {settled[task.parent]}: it takes no new subtasks",
                code=ErrorCode.WRONG_PHASE,
                hint=f"reopen it first: pro0 task reopen {task.parent}",
            )


def _delegated_by_who_may(board: Board, new: Iterable[Task], caller: Caller) -> None:
    """Refuse a teammate or a worker any task under the dispatch policy: it would start workers (behaviour 3.16)."""
    if caller.who is Who.MEMBER and any(board.declared(task) is Policy.DISPATCH for task in new):
        text = f"{caller.agent_id} may not delegate: only {callers(IN_CHARGE)} may"
        raise Refused(text, code=ErrorCode.NOT_ALLOWED, hint='say what is needed: pro0 task comment ID "blocked: …"')


def _below_its_own(board: Board, new: Iterable[Task], caller: Caller) -> None:
    """Let a supervised session make tasks only below its own. Other members make none in such trees (behaviour 2.9)."""
    if caller.who is not Who.MEMBER:
        return
    mine = {task.id for task in board if subtasks.works_on(board, task, caller)}
    for task in new:
        chain = {above.id for above in board.ancestors(task)}
        if not chain & mine and (mine or board.supervisor(task)):
            place = f"under {', '.join(sorted(mine))}" if mine else "under a task that it works on"
            text = f"{caller.agent_id} may make supervised tasks only {place}"
            raise Refused(text, code=ErrorCode.NOT_ALLOWED, hint="pro0 task create TITLE --parent ID")
