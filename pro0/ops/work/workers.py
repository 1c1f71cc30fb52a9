"""Workers: tasks delegated to one disposable session each, their output, and its merge."""

from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from pro0 import looking
from pro0.errors import ErrorCode, NotFound, Pro0Error, Refused
from pro0.model.caller import ANYONE, IN_CHARGE, LEAD_ONLY, THE_LEAD
from pro0.model.decision import Harvest
from pro0.model.ids import task_id
from pro0.model.runtime import SeatState
from pro0.model.task import SETTLED, Draft, Entry, Policy, Status, Task, TaskList
from pro0.ops.context import Context, operation
from pro0.ops.seats import roster
from pro0.ops.tasks.acting import act, edit, watchers
from pro0.ops.tasks.tasks import board, create
from pro0.ops.team.members import spawning
from pro0.ops.work import checkouts
from pro0.rules import text
from pro0.rules.lead import dispatch
from pro0.rules.lead.dispatch import Stage
from pro0.rules.tasks import changes, making
from pro0.rules.tasks.acts import Act
from pro0.rules.tasks.board import next_order
from pro0.rules.words import leftovers, prompts
from pro0.worktrees import Repository

TAG = "team"
"""The label of every delegated task."""


TITLE = 100
"""The longest title made from a text, in characters."""


class WorkerResult(msgspec.Struct, frozen=True):
    """A worker's output in git: the unmerged branch, its commits, and the part it could not save."""

    branch: str = ""
    commits: int = 0
    stat: str = ""
    left: str = ""
    also: tuple[str, ...] = ()
    """Other unmerged branches, with commits that `branch` lacks."""
    remains: str = ""
    """The note about a folder that could not be deleted, though its work is saved."""
    stashes: tuple[str, ...] = ()
    """The commits of its stashes."""


class Worker(msgspec.Struct, frozen=True, rename="camel"):
    """A delegated task with its worker."""

    task: Task
    stage: Stage
    agent_id: str
    """The present or last worker, empty for none yet."""
    place: int
    """Its place in line, from 1; 0 for a task not in line."""
    state: SeatState | None


def draft(assignment: str, *, agent: str | None = None, shared: bool = False, run: str | None = None) -> Draft:
    """Return a draft from a text: its first line is the title, a longer text the description; BadInput for no text."""
    first_line = next((line.strip() for line in assignment.splitlines() if line.strip()), "")
    title = first_line if len(first_line) <= TITLE else f"{first_line[: TITLE - 1]}…"
    whole = text.checked("" if title == assignment.strip() else assignment, "description")
    return Draft(title=text.title(title), description=whole, run=making.command(run), agent=agent, shared=shared)


@operation("worker.delegate", IN_CHARGE)
def delegate(context: Context, drafts: list[Draft]) -> list[Task]:
    """Make tasks that each get a worker of their own, in a fresh worktree unless it is `shared`."""
    spawning(context, context.team.wanted.read())
    if any(not draft.shared for draft in drafts):
        Repository(_project(context)).head()
    dispatched = [
        replace(new, policy=Policy.DISPATCH, labels=tuple(dict.fromkeys((*new.labels, TAG)))) for new in drafts
    ]
    return create(context, dispatched)


@operation("worker.list", ANYONE, changes=False)
def workers(context: Context) -> list[Worker]:
    """Return all delegated tasks: those at work first, then those in line, then those that are over."""
    members, all_of_them = roster(context.team), board(context)
    line = [task.id for task in dispatch.to_start(all_of_them)]
    listed = []
    for task in all_of_them:
        if all_of_them.declared(task) is Policy.DISPATCH:
            seat = next((seat for seat in members.wanted.seats if seat.task == task.id), None)
            state = members.state(seat.agent_id) if seat else None
            agent_id = seat.agent_id if seat else task.assignee or ""
            stage = dispatch.stage(all_of_them, task, state) if seat or task.id not in line else Stage.IN_LINE
            place = line.index(task.id) + 1 if stage is Stage.IN_LINE else 0
            listed.append(Worker(task, stage, agent_id, place, state))
    return sorted(listed, key=lambda worker: (worker.task.status in SETTLED, worker.place, next_order(worker.task)))


def find(context: Context, name: str) -> Worker:
    """Return the worker of that name or task; raises NotFound."""
    for worker in workers(context):
        if name.casefold() in (worker.agent_id, worker.task.id, worker.task.id.removeprefix("task-")):
            return worker
    raise NotFound(f"there is no worker {name!r}", hint="list them: pro0 worker list")


@operation("worker.kill", IN_CHARGE)
def kill(context: Context, name: str) -> Worker:
    """Give up a worker's task: the lead ends the worker's process tree, TERM, then KILL. A settled task stays so."""
    worker = find(context, name)
    if worker.task.status is Status.IN_PROGRESS and worker.task.claim:
        act(replace(context, caller=THE_LEAD), worker.task.id, Act.FAIL, f"killed by {context.caller.agent_id}")
    elif worker.task.status not in SETTLED:
        text = f"{worker.task.id} has no worker now"
        raise Refused(text, hint=f"pro0 task cancel {worker.task.id}")
    return worker


@operation("worker.predict", ANYONE, changes=False)
def predict(context: Context, name: str) -> tuple[str, ...]:
    """Return the files in which a merge of a worker's branch would conflict; no checkout is touched."""
    return Repository(_project(context)).predict(_branch(context, find(context, name)))


@operation("worker.merge", IN_CHARGE)
def merge(context: Context, name: str) -> Task:
    """Merge a worker's branch into the project's checkout; raises Refused, and changes nothing, for conflicts."""
    worker = find(context, name)
    branch, repository = _branch(context, worker), Repository(_project(context))
    if not repository.has(branch):
        raise _gone(context, worker.task)
    commit = repository.merge(branch, f"Merge {branch}: {worker.task.title}")
    gone = repository.drop(branch)

    def change_it(tasks: TaskList) -> tuple[TaskList, Task]:
        task = changes.find(tasks, worker.task.id)
        merged = replace(task, branch=None if gone else branch, worktree=None)
        return _with(tasks, _noted(context, merged, "merge", f"{branch} is merged as {commit[:12]}"))

    return edit(context, "merge", worker.task.id, change_it)


@operation("worker.harvested", LEAD_ONLY)
def record_result(context: Context, harvest: Harvest, result: WorkerResult, tail: str) -> None:
    """Note a dead worker's output, and owe the report of it; a repetition tells nobody twice."""

    def change_it(tasks: TaskList) -> tuple[TaskList, Task]:
        task = changes.find(tasks, task_id(harvest.task))
        done = replace(task, worktree=harvest.worktree if result.left else None)
        # A result without a branch means that the branch is merged and gone.
        by, now = context.caller.agent_id, context.now()
        done = dispatch.on_branch(done, result.branch, by, now) if result.branch else replace(done, branch=None)
        done = dispatch.with_left(done, result.also, by, now)
        left = result.left or result.remains
        work = (result.branch, result.commits, result.stat, left)
        notes = [*map(leftovers.not_merged_either, result.also)]
        notes += [leftovers.stash_kept(harvest.agent_id, commit) for commit in result.stashes]
        report = prompts.harvested(harvest, task, tail, work, notes)
        to = watchers(context) if task.status is Status.FAILED else ("lead",)
        owed = [(address, f"{harvest.incarnation}:harvest:{address}", report) for address in to]
        changed, task = _with(tasks, done)
        return changes.owe(changed, THE_LEAD, owed), task

    try:
        edit(context, "harvest", harvest.task, change_it)
    except NotFound:
        context.team.require()  # the task was deleted: nobody waits for the report


def left_before(context: Context, task: Task) -> list[str]:
    """Return the branches of a task's earlier workers that are not merged."""
    with suppress(Pro0Error):
        names = checkouts.left_before(context.team, task) - {task.branch}
        return [name for name in Repository(_project(context)).unmerged(names) if name in names] if names else []
    return []


def is_open(context: Context, worker: Worker) -> bool:
    """Return True while a worker's worktree exists: the worker still works, or the worktree could not be saved."""
    if not worker.task.worktree or not is_over(worker):
        return bool(worker.task.worktree)
    place = Path(worker.task.worktree)
    return looking.exists(place) or any(tree.path == place.resolve() for tree in Repository(_project(context)).all())


def is_over(worker: Worker) -> bool:
    """Return True for a worker whose task is settled, and whose session is gone."""
    return worker.state is None and worker.task.status in SETTLED


def _gone(context: Context, task: Task) -> NotFound:
    """Return the error for a missing branch; the task forgets the branch when no other machine can have it."""
    if context.team.documents.database:
        hint = "a worker on another machine made it; fetch it from that machine"
        return NotFound(f"there is no branch {task.branch} here", hint=hint)

    def change_it(tasks: TaskList) -> tuple[TaskList, Task]:
        current = changes.find(tasks, task.id)
        if current.branch != task.branch:
            return tasks, current
        free = dispatch.on_branch(replace(current, worktree=None), None, context.caller.agent_id, context.now())
        return _with(tasks, free)

    edit(context, "merge", task.id, change_it)
    text = f"the branch {task.branch} no longer exists: it was removed by hand, so {task.id} forgets it"
    return NotFound(text, hint=f"what it did: pro0 task show {task.id}")


def _with(tasks: TaskList, task: Task) -> tuple[TaskList, Task]:
    return changes.with_tasks(tasks, [task]), task


def _noted(context: Context, task: Task, act: str, text: str) -> Task:
    entry = Entry(at=context.now(), actor=context.caller.agent_id, act=act, to=task.status, text=text)
    return replace(task, updated_at=entry.at, history=(*task.history, entry))


def _branch(context: Context, worker: Worker) -> str:
    """Return a finished worker's branch; raises Refused while it works, NotFound when it left nothing."""
    is_there = is_open(context, worker)
    if is_there and is_over(worker):
        text = f"{worker.task.worktree} could not be saved"
        raise Refused(text, code=ErrorCode.KEPT, hint="save its content by hand, then: git worktree remove")
    if is_there:
        hint = f"pro0 worker show {worker.agent_id}"
        raise Refused(f"{worker.agent_id} still works on {worker.task.id}", code=ErrorCode.CONFLICT, hint=hint)
    if not worker.task.branch and (earlier := left_before(context, worker.task)):
        text = f"the last worker of {worker.task.id} left no unmerged work, but an earlier one did"
        raise NotFound(text, hint=f"if it is good: git merge {' '.join(earlier)}")
    if not worker.task.branch:
        hint = f"what it did: pro0 task show {worker.task.id}"
        raise NotFound(f"{worker.task.id} has left no unmerged work", hint=hint)
    return worker.task.branch


def _project(context: Context) -> Path:
    return Path(context.team.require().config.read().project)
