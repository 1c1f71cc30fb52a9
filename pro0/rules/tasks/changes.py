"""Every act on a team's task list, as a pure function from list to list.

Each function returns a whole new list, or raises and changes nothing. Tasks that settle by themselves do so in the same
change. Notices go into the list's outbox. So one write commits the act, its consequences and its notices.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec.structs import replace

from pro0.errors import ErrorCode, NotFound, Refused
from pro0.model.caller import THE_LEAD, Caller, Who
from pro0.model.ids import HUMAN, LEAD
from pro0.model.message import Notice
from pro0.model.task import SETTLED, Kind, Status, Task, TaskList
from pro0.rules.tasks import answers, graph, lifecycle, subtasks
from pro0.rules.tasks.acts import ANSWERS, Act, Request, TaskPhase, phase
from pro0.rules.tasks.board import Board, over_above, settling, why_not_ready
from pro0.rules.tasks.effects import is_reserved
from pro0.rules.tasks.finishing import finished
from pro0.rules.tasks.subtasks import notice_id
from pro0.rules.words import prompts


def find(tasks: TaskList, id: str) -> Task:
    """Return the task with this id, or raise NotFound."""
    for task in tasks.tasks:
        if task.id == id:
            return task
    raise NotFound(f"there is no {id}", hint="list them: pro0 task list")


def act(tasks: TaskList, id: str, request: Request) -> tuple[TaskList, Task]:
    """Apply one act and its consequences; return the new list and the changed task.

    Raises Refused for a reopening that would close a cycle: a dependency of a settled task may depend on it by now.
    """
    board = Board(tasks.tasks)
    before = find(tasks, id)
    if request.act in _NEEDS_A_READY_TASK and (before.status is not Status.DONE or before.type is Kind.EPIC):
        _claimable(board, before, request)
    after = lifecycle.advance(before, _informed(board, before, request))
    if after is before:
        return tasks, before
    changed = with_tasks(tasks, [after])
    if after.status is Status.CANCELLED:
        changed = _cancelled_below(changed, before, request)
    if before.status in SETTLED:
        acyclic(changed)  # other tasks may have come to depend on it while it was settled
    changed = _tell_of_a_stop(changed, before, after, request)
    changed = _tell_the_answer(changed, before, after, request)
    if not _has_consequences(before, after):
        return changed, after
    changed = follow(changed, request.now, {after.parent}, request.watchers)
    if before.status not in SETTLED:
        changed = _tell_that_all_is_done(changed, after, request)
    return changed, find(changed, id)


def assign(tasks: TaskList, id: str, request: Request, notice: str) -> tuple[TaskList, Task]:
    """Reserve a pending task for one member, and queue one notice to that member (behaviour 2.16)."""
    if find(tasks, id).type is Kind.EPIC:
        raise Refused(f"{id} is an epic, which only groups tasks", code=ErrorCode.NOT_READY)
    before = find(tasks, id)
    changed, task = act(tasks, id, request)
    if before.assignee == request.assignee:
        return tasks, before
    notices = [assigned(task, request.assignee, notice)] if request.assignee else []
    return owe(changed, request.caller, notices), task


def free(tasks: TaskList, agent_id: str, incarnation: str, request: Request, *, keep: bool = False) -> TaskList:
    """Release the claims of a dead session and the reservations of its member (behaviour 3.11).

    With `keep` the member continues at once in another session, so its tasks stay reserved for it.
    """
    for task in tasks.tasks:
        if _held_by(task, agent_id, incarnation) and (task.claim or not keep):
            tasks, freed = act(tasks, task.id, request)
            if keep and freed.status is Status.PENDING:
                tasks = with_tasks(tasks, [replace(freed, assignee=agent_id)])
    return tasks


def follow(
    tasks: TaskList, now: datetime, moved: Iterable[str | None] = (), watchers: tuple[str, ...] = (LEAD,)
) -> TaskList:
    """Settle finished parents, and let supervised parents review (behaviour 2.4).

    `moved` names the parents whose subtasks have just changed. A second call changes nothing. A parent that comes to
    its gate may stop a tree: the `watchers` are told.
    """
    parents = set(moved)
    request = Request(act=Act.SETTLE, caller=THE_LEAD, now=now, text="no subtask is open")
    # Each settled parent may be the last open subtask of its own parent.
    while over := settling(Board(tasks.tasks), parents):
        settled = [lifecycle.advance(task, request) for task in over]
        tasks = with_tasks(tasks, settled)
        stopped = [task for task in settled if task.waits]
        board = Board(tasks.tasks)
        tasks = owe(
            tasks, THE_LEAD, [notice for task in stopped for notice in subtasks.stop_notices(board, task, watchers)]
        )
        parents.update(task.parent for task in over)
    reviewed, notices = subtasks.reviews(Board(tasks.tasks), now)
    return owe(with_tasks(tasks, reviewed), THE_LEAD, notices) if reviewed else tasks


def with_tasks(tasks: TaskList, changed: Iterable[Task]) -> TaskList:
    """Replace the tasks of a list with changed tasks of the same id."""
    new = {task.id: task for task in changed}
    return replace(tasks, tasks=tuple(new.get(task.id, task) for task in tasks.tasks))


def owe(tasks: TaskList, caller: Caller, notices: Iterable[tuple[str, str, str]]) -> TaskList:
    """Add notices, each (to, id, content), to the outbox. Nobody is told of their own acts.

    The lead is an exception: somebody else reads its mail.
    """
    owed = tuple(
        Notice(id=id, from_=caller.agent_id, to=to, content=content)
        for to, id, content in notices
        if to != caller.agent_id or caller.who is Who.LEAD
    )
    return replace(tasks, outbox=(*tasks.outbox, *owed)) if owed else tasks


def assigned(task: Task, to: str, notice_id: str) -> tuple[str, str, str]:
    """Return the notice to a member about a task reserved for it."""
    return to, notice_id, f"{task.id} is assigned to you: {task.title}"


def acyclic(tasks: TaskList, called: Mapping[str, str] | None = None) -> None:
    """Raise Refused for a cycle of waits: a task waits for its dependencies, a parent for its subtasks.

    It names a task that is not made yet as whoever asks for it does, if it is `called` something.

    A subtask of a supervised parent waits for that parent's own work too. A settled task waits for nothing, and may be
    in the archive.
    """
    waits = {task.id: [*task.dependencies] for task in tasks.tasks if task.status not in SETTLED}
    for id, turns in _turns(Board(tasks.tasks)).items():
        waits.setdefault(id, []).extend(turns)
    for task in tasks.tasks:
        if task.parent in waits:
            waits[task.parent].append(task.id)
    if cycle := graph.cycle(waits):
        arrows = graph.arrows([(called or {}).get(id, id) for id in cycle])
        raise Refused(f"that makes a dependency cycle: {arrows}", code=ErrorCode.CYCLE, hint="drop one of them")


def _turns(board: Board) -> dict[str, list[str]]:
    """Return what pending subtasks of pending supervised parents wait for: the parent's own work, not its end.

    That work is a node of its own, which waits for the parent's unmet dependencies and for the work above it.
    """
    waits: dict[str, list[str]] = {}
    for task in board:
        above = board.supervisor(task) if task.status is Status.PENDING else None
        if above is None or above.status is not Status.PENDING:
            continue
        work = f"the work of {above.id}"
        waits[task.id] = [work]
        waits.setdefault(f"the work of {task.id}", []).append(work)
        needed = filter(None, map(board.get, above.dependencies))
        waits.setdefault(work, []).extend(
            dependency.id for dependency in needed if dependency.status is not Status.COMPLETED
        )
    return waits


_NEEDS_A_READY_TASK = frozenset({Act.CLAIM, Act.START, Act.WISH})
_ASKS_FOR_SUBTASKS = frozenset({Act.COMPLETE, Act.APPROVE, Act.CLOSE})
_STOPPED = frozenset({TaskPhase.FAILED, TaskPhase.AWAITING})


def _informed(board: Board, task: Task, request: Request) -> Request:
    """Add the facts about other tasks to a request: the policy and the count of open subtasks."""
    counted: Iterable[Task] = ()
    if request.act in _ASKS_FOR_SUBTASKS:  # to tick a task off, nothing at all below it may be open
        counted = board.below(task) if phase(task) is TaskPhase.PENDING else board.awaited(task)
    still_open = sum(subtask.status not in SETTLED for subtask in counted)
    return replace(request, policy=board.declared(task), open_subtasks=still_open)


def _has_consequences(before: Task, after: Task) -> bool:
    """Return True for a change that may let a parent or the task itself settle; an epic may settle after its wait."""
    freed = bool(before.awaiting) and not after.awaiting
    return freed or after.status is Status.DONE or not SETTLED.isdisjoint((before.status, after.status))


def _claimable(board: Board, task: Task, request: Request) -> None:
    if task.claim:
        return
    why = why_not_ready(board, task)
    if why:
        hint = "see what is ready: pro0 task ready"
        if over := over_above(board, task):
            hint = f"reopen it first: pro0 task reopen {over.id}"
        elif task.status in SETTLED and request.caller.who is Who.HUMAN:
            hint = f"pro0 task {'retry' if task.status is Status.FAILED else 'reopen'} {task.id}"
        raise Refused(f"{task.id} {why}", code=ErrorCode.NOT_READY, hint=hint)
    caller = request.caller
    if task.assignee not in (None, caller.agent_id) and caller.who in lifecycle.AGENTS:
        raise Refused(f"{task.id} is reserved for {task.assignee}", code=ErrorCode.RESERVED, hint="pro0 task next")


def _cancelled_below(tasks: TaskList, root: Task, request: Request) -> TaskList:
    """Cancel the open tasks below a cancelled one. Queue notices to all who work on them or wait for an answer."""
    below = [task for task in Board(tasks.tasks).below(root) if task.status not in SETTLED]
    cancel = replace(request, act=Act.CANCEL)
    tasks = with_tasks(tasks, [lifecycle.advance(task, cancel) for task in below])
    affected = [*reversed(below), *([] if request.act in ANSWERS else [root])]  # a rejection is told with its question
    held = [(to, find(tasks, task.id)) for task in affected if (to := _who_has(task, request))]
    reason = request.text
    return owe(tasks, request.caller, [(to, notice_id(task, to), prompts.cancelled(task, reason)) for to, task in held])


def _who_has(task: Task, request: Request) -> str | None:
    """Return the holder of a task's claim, or else the member with a living session that waits for an answer on it."""
    if task.claim:
        return task.claim.agent_id
    return request.hearers.get(task.session or "") if task.waits else None


def _tell_of_a_stop(tasks: TaskList, before: Task, after: Task, request: Request) -> TaskList:
    """Queue notices to those above a newly stopped task, once per stop (behaviour 2.8)."""
    if phase(before) in _STOPPED or phase(after) not in _STOPPED:
        return tasks
    return owe(tasks, request.caller, subtasks.stop_notices(Board(tasks.tasks), after, request.watchers))


def _tell_the_answer(tasks: TaskList, before: Task, task: Task, request: Request) -> TaskList:
    """Queue a notice of a person's answer to the session that continues the task, else to the session that asked."""
    if request.act not in ANSWERS:
        return tasks
    to = _who_has(task if task.claim else before, request)
    return owe(tasks, request.caller, [(to, notice_id(task, to), answers.message(task))]) if to else tasks


def _tell_that_all_is_done(tasks: TaskList, task: Task, request: Request) -> TaskList:
    """Queue one notice to the person once nothing is left to do."""
    letter = finished(tasks.tasks)
    if not letter or request.caller.who is Who.HUMAN:  # nobody is told of their own acts
        return tasks
    return owe(tasks, THE_LEAD, [(HUMAN, notice_id(task, "all done"), letter)])


def _held_by(task: Task, agent_id: str, incarnation: str) -> bool:
    if task.claim:
        return task.claim.agent_id == agent_id and task.claim.incarnation == incarnation
    return is_reserved(task, agent_id)
