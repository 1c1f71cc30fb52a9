"""Every change of a team's task list, as a pure function from list to list.

Each returns a whole new list or raises and changes nothing; what settles by itself settles in the same change, and what
must be told to somebody is put into the list's outbox, so that one write commits act, consequences and notices.
"""

from collections.abc import Callable, Iterable
from datetime import datetime

from msgspec.structs import replace

from pro0.errors import BadInput, NotFound, Refused
from pro0.model.caller import IN_CHARGE, THE_LEAD, Caller, Who
from pro0.model.ids import task_id
from pro0.model.message import Notice
from pro0.model.task import SETTLED, Awaiting, Changes, Draft, Entry, Kind, Status, Task, TaskList, Wait
from pro0.rules import graph, lifecycle, text
from pro0.rules.board import Board, settling, why_not_ready
from pro0.rules.lifecycle import Act, Request

AGENT_COMMAND = "agent-made command"
PRIORITIES = range(-1_000_000, 1_000_001)


def find(tasks: TaskList, id: str) -> Task:
    """Return the task with that id, or raise NotFound."""
    for task in tasks.tasks:
        if task.id == id:
            return task
    raise NotFound(f"there is no {id}", hint="list them: pro0 task list")


def act(tasks: TaskList, id: str, request: Request) -> tuple[TaskList, Task]:
    """Do one act on one task and settle what follows; returns the new list and the task as it is then."""
    board = Board(tasks.tasks)
    before = find(tasks, id)
    if request.act is Act.CLAIM:
        _claimable(board, before, request.caller)
    if request.act is Act.COMPLETE:
        request = replace(request, open_subtasks=len(board.open_children(id)))
    after = lifecycle.advance(before, request)
    if after is before:
        return tasks, before
    changed = _with(tasks, [after])
    if after.status not in SETTLED:
        return changed, after
    changed = settle(changed, request.now)
    return changed, find(changed, id)


def assign(tasks: TaskList, id: str, request: Request, notice_id: str) -> tuple[TaskList, Task]:
    """Reserve a pending task for one member, and owe that member one message (rulings 2, assign)."""
    if find(tasks, id).type is Kind.EPIC:
        raise Refused(f"{id} is an epic, which only groups tasks", code="not_ready")
    before = find(tasks, id)
    changed, task = act(tasks, id, request)
    if before.assignee == request.assignee:
        return tasks, before
    notices = [_assigned(task, request.assignee, notice_id)] if request.assignee else []
    return _owe(changed, request.caller, notices), task


def cancel(tasks: TaskList, id: str, request: Request, new_id: Callable[[], str]) -> tuple[TaskList, Task]:
    """Cancel a task and its open subtasks, deepest first; whoever works on one of them is owed a message."""
    board = Board(tasks.tasks)
    asked = find(tasks, id)
    chosen = [*(task for task in reversed(board.below(asked)) if task.status not in SETTLED), asked]
    holders = [(task.claim.agent_id, task) for task in chosen if task.claim]
    changed = _with(tasks, [lifecycle.advance(task, request) for task in chosen])
    changed = settle(changed, request.now)
    notices = [(to, new_id(), f"{task.id} was cancelled: {request.text or task.title}") for to, task in holders]
    return _owe(changed, request.caller, notices), find(changed, id)


def free(tasks: TaskList, agent_id: str, incarnation: str, how: str, now: datetime) -> TaskList:
    """Give back what a dead session held: its claims, and the member's reservations (rulings 2, proved death)."""
    request = Request(act=Act.DIED, caller=THE_LEAD, now=now, text=f"{agent_id} {how}")
    held = [task for task in tasks.tasks if _held_by(task, agent_id, incarnation)]
    return _with(tasks, [lifecycle.advance(task, request) for task in held]) if held else tasks


def create(
    tasks: TaskList, drafts: Iterable[Draft], caller: Caller, now: datetime, new_id: Callable[[], str]
) -> tuple[TaskList, list[Task]]:
    """Add tasks, all or none; raises NotFound for an unknown reference and Refused for a cycle (rulings 2.6)."""
    drafts = list(drafts)
    ids = {f"task-{tasks.next_id + index}": draft for index, draft in enumerate(drafts)}
    keys = _keys(ids)
    known = {task.id for task in tasks.tasks} | set(ids)
    new = [_made(id, draft, keys, known, caller, now) for id, draft in ids.items()]
    changed = replace(tasks, next_id=tasks.next_id + len(new), tasks=(*tasks.tasks, *new))
    _below_open_parents(tasks, new)
    _acyclic(changed)
    notices = [_assigned(task, task.assignee, new_id()) for task in new if task.assignee]
    return _owe(changed, caller, notices), new


def named(drafts: Iterable[Draft]) -> set[str]:
    """Return the tasks that are there already and that these drafts name; raises BadInput for what is no id."""
    drafts = list(drafts)
    keys = {draft.key for draft in drafts}
    names = [name for draft in drafts for name in (draft.parent, *draft.blocked_by)]
    return {task_id(name) for name in names if name and name not in keys}


def reopen(tasks: TaskList, id: str, request: Request) -> tuple[TaskList, Task]:
    """Make a settled task pending again; what it waits for may have come to wait for it, which is refused."""
    changed, task = act(tasks, id, request)
    _acyclic(changed)
    return changed, task


def update(tasks: TaskList, id: str, changes: Changes, caller: Caller, now: datetime) -> tuple[TaskList, Task]:
    """Change fields of a task that is not settled; raises Refused, NotFound or BadInput and changes nothing."""
    before = find(tasks, id)
    if before.status in SETTLED:
        raise Refused(f"{id} is {before.status}: its fields stay as they are", hint=f"pro0 task reopen {id}")
    known = {task.id for task in tasks.tasks}
    after = _fields(before, changes, known)
    after = _gated(after, caller, now, new=after.run != before.run)
    if changes.run is not None and caller.who is Who.HUMAN:
        after = _agreed(after)
    if after == before:
        return tasks, before
    what = ", ".join(name for name in after.__struct_fields__ if getattr(after, name) != getattr(before, name))
    after = _noted(after, "update", caller, now, what)
    changed = _with(tasks, [after])
    _acyclic(changed)
    return changed, after


def delete(tasks: TaskList, id: str, caller: Caller, *, force: bool, now: datetime) -> TaskList:
    """Remove a task; others that name it are changed only with `force` (rulings 2.6)."""
    gone = find(tasks, id)
    if caller.who is not Who.HUMAN and (gone.requires or gone.awaiting):
        raise Refused(f"{id} is gated: only a human may delete it", code="not_allowed")
    if gone.claim and not force:
        raise Refused(f"{id} is claimed by {gone.claim.agent_id}", hint=f"cancel it first: pro0 task cancel {id}")
    users = [task for task in tasks.tasks if id in task.dependencies or task.parent == id]
    if users and not force:
        names = ", ".join(task.id for task in users)
        raise Refused(f"{id} is named by {names}", hint="--force takes it out of their lists too")
    kept = replace(tasks, tasks=tuple(task for task in tasks.tasks if task.id != id))
    return settle(_with(kept, [_without(task, id) for task in users]), now)


def settle(tasks: TaskList, now: datetime) -> TaskList:
    """Finish every parent that is over, until none is left; doing it again changes nothing (rulings 2.4)."""
    request = Request(act=Act.SETTLE, caller=THE_LEAD, now=now, text="no subtask is open")
    while over := settling(Board(tasks.tasks)):
        tasks = _with(tasks, [lifecycle.advance(task, request) for task in over])
    return tasks


def _claimable(board: Board, task: Task, caller: Caller) -> None:
    if task.claim:
        return
    why = why_not_ready(board, task)
    if why:
        raise Refused(f"{task.id} {why}", code="not_ready", hint="see what is ready: pro0 task ready")
    if task.assignee not in (None, caller.agent_id) and caller.who is not Who.HUMAN:
        raise Refused(f"{task.id} is reserved for {task.assignee}", code="reserved", hint="pro0 task next")


def _held_by(task: Task, agent_id: str, incarnation: str) -> bool:
    if task.claim:
        return task.claim.agent_id == agent_id and task.claim.incarnation == incarnation
    return task.status is Status.PENDING and task.assignee == agent_id


def _with(tasks: TaskList, changed: Iterable[Task]) -> TaskList:
    new = {task.id: task for task in changed}
    return replace(tasks, tasks=tuple(new.get(task.id, task) for task in tasks.tasks))


def _owe(tasks: TaskList, caller: Caller, notices: Iterable[tuple[str, str, str]]) -> TaskList:
    owed = tuple(
        Notice(id=id, from_=caller.agent_id, to=to, content=content)
        for to, id, content in notices
        if to != caller.agent_id
    )
    return replace(tasks, outbox=(*tasks.outbox, *owed))


def _assigned(task: Task, to: str, notice_id: str) -> tuple[str, str, str]:
    return to, notice_id, f"{task.id} is assigned to you: {task.title}"


def _keys(ids: dict[str, Draft]) -> dict[str, str]:
    keys: dict[str, str] = {}
    for id, draft in ids.items():
        if draft.key is None:
            continue
        if draft.key in keys:
            raise BadInput(f"two tasks have the key {draft.key!r}", hint="a key names one task of the file")
        keys[draft.key] = id
    return keys


def _made(id: str, draft: Draft, keys: dict[str, str], known: set[str], caller: Caller, now: datetime) -> Task:
    task = Task(
        id=id,
        title=text.title(draft.title),
        description=text.checked(draft.description, "description"),
        acceptance=text.checked(draft.acceptance, "acceptance"),
        type=draft.type,
        labels=draft.labels,
        run=_command(draft.run),
        timeout=_limit(draft.timeout),
        parent=_resolve(draft.parent, keys, known) if draft.parent else None,
        dependencies=_dependencies(id, [_resolve(name, keys, known) for name in draft.blocked_by]),
        priority=_priority(draft.priority),
        assignee=_reserved(draft.assignee, caller),
        created_at=now,
        created_by=caller.agent_id,
    )
    return _noted(_gated(task, caller, now, new=task.run is not None), "create", caller, now)


def _reserved(assignee: str | None, caller: Caller) -> str | None:
    if assignee and caller.who not in IN_CHARGE:
        raise Refused(f"{caller.agent_id} may not assign tasks: only human or lead agent may", code="not_allowed")
    return assignee


def _resolve(name: str, keys: dict[str, str], known: set[str]) -> str:
    id = keys.get(name) or task_id(name)
    if id not in known:
        raise NotFound(f"there is no {id}", hint="list them: pro0 task list")
    return id


def _dependencies(id: str, names: Iterable[str]) -> tuple[str, ...]:
    dependencies = tuple(dict.fromkeys(names))
    if id in dependencies:
        raise Refused(f"{id} cannot depend on itself", code="cycle")
    return dependencies


def _below_open_parents(tasks: TaskList, new: Iterable[Task]) -> None:
    settled = {task.id: task.status for task in tasks.tasks if task.status in SETTLED}
    for task in new:
        if task.parent in settled:
            raise Refused(
                f"{task.parent} is {settled[task.parent]}: it takes no new subtasks",
                code="wrong_phase",
                hint=f"reopen it first: pro0 task reopen {task.parent}",
            )


def _acyclic(tasks: TaskList) -> None:
    """Refuse tasks that would wait for each other for ever: a task for its dependencies, a parent for its subtasks."""
    waits = {task.id: [*task.dependencies] for task in tasks.tasks}
    for task in tasks.tasks:
        if task.parent in waits:
            waits[task.parent].append(task.id)
    if found := graph.cycle(waits):
        raise Refused(f"that makes a dependency cycle: {' → '.join(found)}", code="cycle", hint="drop one of them")


def _fields(task: Task, changes: Changes, known: set[str]) -> Task:
    added = [_resolve(name, {}, known) for name in changes.add_dependencies]
    dropped = {task_id(name) for name in changes.drop_dependencies}
    return replace(
        task,
        title=task.title if changes.title is None else text.title(changes.title),
        description=_or(changes.description, task.description, "description"),
        acceptance=_or(changes.acceptance, task.acceptance, "acceptance"),
        run=task.run if changes.run is None else _command(changes.run),
        timeout=task.timeout if changes.timeout is None else _limit(changes.timeout),
        priority=task.priority if changes.priority is None else _priority(changes.priority),
        labels=task.labels if changes.labels is None else changes.labels,
        dependencies=tuple(id for id in _dependencies(task.id, (*task.dependencies, *added)) if id not in dropped),
    )


def _or(new: str | None, old: str, what: str) -> str:
    return old if new is None else text.checked(new, what)


def _gated(task: Task, caller: Caller, now: datetime, *, new: bool) -> Task:
    """Hold a new command that an agent made until a human agrees to its exact text (rulings 2.9)."""
    if not new or caller.who is Who.HUMAN:
        return task
    if task.claim or (task.awaiting and not _held(task)):
        now_is = "waits for a human" if task.awaiting else "is being worked on"
        raise Refused(f"{task.id} {now_is}: its command stays as it is", code="not_allowed")
    wait = Wait(kind=Awaiting.ESCALATION, since=now, by=caller.agent_id, reason=AGENT_COMMAND)
    return replace(task, awaiting=wait)


def _agreed(task: Task) -> Task:
    """Lift that hold: a human has set the command, which is to agree to its exact text."""
    return replace(task, awaiting=None) if _held(task) else task


def _held(task: Task) -> bool:
    wait = task.awaiting
    return wait is not None and wait.kind is Awaiting.ESCALATION and wait.reason == AGENT_COMMAND


def _noted(task: Task, what: str, caller: Caller, now: datetime, note: str = "") -> Task:
    entry = Entry(at=now, actor=caller.agent_id, act=what, to=task.status, text=note)
    return replace(task, updated_at=now, history=(*task.history, entry))


def _without(task: Task, id: str) -> Task:
    kept = tuple(name for name in task.dependencies if name != id)
    return replace(task, dependencies=kept, parent=None if task.parent == id else task.parent)


def _command(run: str | None) -> str | None:
    if run is None:
        return None
    if "\0" in run:
        raise BadInput("a command cannot hold a NUL byte")
    return text.checked(run, "command") or None


def _limit(timeout: float | None) -> float | None:
    if timeout is None:
        return None
    if not 0 < timeout <= 7 * 24 * 3600:
        raise BadInput(f"{timeout:g} seconds is no time limit", hint="more than 0, at most a week (604800)")
    return timeout


def _priority(priority: int) -> int:
    if priority not in PRIORITIES:
        raise BadInput(f"priority {priority} is out of range", hint="0 to 4 are usual, lower goes first")
    return priority
