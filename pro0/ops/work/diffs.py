"""The work of a member, a worker or a task's session: looked up by name, compared with the checkout, merged."""

from pathlib import Path

import msgspec
from msgspec.structs import replace

from pro0 import looking
from pro0.diffs import Difference, Fork, difference, fork
from pro0.errors import BadInput, ErrorCode, NotFound, Pro0Error, Refused
from pro0.git.commands import Git
from pro0.model.caller import ANYONE, IN_CHARGE
from pro0.model.task import Task
from pro0.model.team import Seat
from pro0.ops.context import Context, operation
from pro0.ops.seats import roster
from pro0.ops.tasks import tasks
from pro0.ops.team.machines import where
from pro0.ops.work import travelling
from pro0.ops.work.workers import find as find_worker
from pro0.store.paths import worktree
from pro0.worktrees import Repository
from pro0.worktrees.merging import head_is_passing

NAMED = 3
"""The most files named in one line."""


class NamedWork(msgspec.Struct, frozen=True):
    """Somebody's work in git: in a worktree, on a branch, or among the others' files in the project's checkout."""

    name: str
    fork: Fork
    shared: bool = False
    """True in the project's checkout, where nobody knows whose changes are whose."""
    missing: Path | None = None
    """The folder of a living session that is not there, as after a move: what is not committed there is unknown."""


def find(context: Context, name: str, *, bring: bool = False) -> NamedWork:
    """Return the work of a member, a worker or a task; raises NotFound when it left nothing that is not merged.

    With `bring`, commits on another machine come home first; raises EnvironmentMissing when it is out of reach.
    """
    folded = name.strip().casefold()
    for seat in roster(context.team).wanted.seats:
        if folded in (seat.agent_id, seat.name.casefold()):
            return _of_seat(context, seat, bring=bring)
    return _of_task(context, _task(context, name), bring=bring)


@operation("diff.show", ANYONE, changes=False)
def show(context: Context, name: str) -> tuple[NamedWork, Difference]:
    """Return somebody's work with its commits and changed files; commits on another machine come home first."""
    work = find(context, name, bring=True)
    return work, _difference(work)


def measured(context: Context, name: str) -> Difference | None:
    """Return the commits and files of somebody's own work, None where there is none or git cannot tell."""
    try:
        work = find(context, name)
        return None if work.shared else _difference(work)
    except Pro0Error:
        return None


def measured_task(context: Context, task: Task) -> tuple[str, Difference | None]:
    """Return the member in whose worktree a task was done, "" for its own worktree, and all changes there, or None."""
    if not (task.started_at or task.branch or task.worktree):
        return "", None
    try:
        work = _of_task(context, task)
        worker = "" if work.name == task.id else work.name
        return worker, None if work.shared else _difference(work)
    except Pro0Error:
        return "", None


@operation("member.predict", ANYONE, changes=False)
def predict(context: Context, name: str) -> tuple[str, ...]:
    """Return the files in which a merge of a member's commits would conflict; no checkout is touched."""
    return Repository(_project(context)).predict(_mergeable(context, name).fork.tip)


@operation("member.merge", IN_CHARGE)
def merge(context: Context, name: str) -> tuple[NamedWork, str]:
    """Merge a member's commits into the project's checkout; return its work before the merge, and the commit.

    Raises Refused, and changes nothing, for conflicts.
    """
    work = _mergeable(context, name, bring=True)
    branch = work.fork.branch or work.fork.tip[:12]
    return work, Repository(_project(context)).merge(
        work.fork.branch or work.fork.tip, f"Merge {branch} of {work.name}"
    )


def _mergeable(context: Context, name: str, *, bring: bool = False) -> NamedWork:
    work = _of_seat(context, roster(context.team).find(name), bring=bring)
    if work.shared:
        text = f"{work.name} has no worktree: it works in the project's checkout"
        raise Refused(text, hint="members with one: pro0 member spawn NAME --worktree")
    if _is_passing(work.fork):
        text = f"{work.name} is in the middle of a rebase or bisection in {work.fork.folder}"
        hint = f"when that is over: pro0 member merge {work.name}"
        raise Refused(text, code=ErrorCode.DIRTY, hint=hint)
    if work.fork.tip == work.fork.base:
        raise _nothing_committed(work)
    return work


def _is_passing(line: Fork) -> bool:
    """Return True if the tip of a line of work may be only a part of it, as in the middle of a rebase."""
    if line.branch or not line.files:
        return False
    git = Git(line.folder)
    return head_is_passing(git) or git.run("rev-parse", "HEAD") != line.tip  # it may have ended since


def _nothing_committed(work: NamedWork) -> NotFound:
    """Return the error for work without a commit; it names the uncommitted files."""
    text, changed = f"{work.name} has no unmerged commits", _difference(work)
    if not changed.files:
        return NotFound(text, hint=f"what it did: pro0 member show {work.name}")
    names = [change.path for change in changed.files]
    rest = [f"{len(names) - NAMED} more"] if len(names) > NAMED else []
    files, ask = ", ".join([*names[:NAMED], *rest]), f'pro0 send {work.name} "commit your work"'
    return NotFound(f"{text}; not committed: {files}", hint=f"{ask}, then: pro0 member merge {work.name}")


def _difference(work: NamedWork) -> Difference:
    """Return the commits and files of a work; a missing folder counts as unreadable."""
    found = difference(work.fork)
    return replace(found, unreadable=f"there is no folder {work.missing}") if work.missing else found


def _of_seat(context: Context, seat: Seat, *, bring: bool = False) -> NamedWork:
    config = context.team.config.read()
    state = roster(context.team).state(seat.agent_id)
    if seat.machine != context.team.machine:
        text = f"the changes of {seat.agent_id} are on {where(context.team, seat)}"
        raise NotFound(text, hint="look there, or push the branch there and fetch it here")
    if not seat.worktree:
        return NamedWork(seat.agent_id, fork(Path(config.project)), shared=True)
    if travelling.travels(seat):
        code = travelling.MemberCode(context.team, seat)
        if bring or not code.branch:
            code.bring()
        return NamedWork(seat.agent_id, fork(Path(config.project), branch=code.branch))
    place = worktree(context.team.paths.home, config.name, config.uid, seat.agent_id)
    folder = Path(state.worktree) if state and state.worktree else place
    if looking.exists(folder):
        return NamedWork(seat.agent_id, fork(Path(config.project), folder))
    if state is None or not state.branch:
        raise NotFound(f"{seat.agent_id} has no worktree yet", hint=f"pro0 member show {seat.agent_id}")
    missing = None if roster(context.team).over(seat.agent_id) else folder
    return NamedWork(seat.agent_id, fork(Path(config.project), branch=state.branch), missing=missing)


def _of_task(context: Context, task: Task, *, bring: bool = False) -> NamedWork:
    if task.worktree and looking.exists(task.worktree):
        return NamedWork(task.id, fork(_project(context), Path(task.worktree)))
    if task.branch:
        return NamedWork(task.id, fork(_project(context), branch=task.branch))
    holder = task.claim.agent_id if task.claim else task.assignee
    seats = roster(context.team).wanted.seats
    worker = next((seat for seat in seats if seat.task == task.id), None)
    if worker:
        return replace(_of_seat(context, worker, bring=bring), name=task.id)
    seat = next((seat for seat in seats if seat.agent_id == holder and not seat.task), None)
    if seat is None:
        raise NotFound(f"{task.id} has left no unmerged work", hint=f"what it did: pro0 task show {task.id}")
    return _of_seat(context, seat, bring=bring)


def _task(context: Context, name: str) -> Task:
    """Return the task with that id, or the task of the worker with that name."""
    try:
        return find_worker(context, name).task
    except NotFound:
        pass
    try:
        return tasks.show(context, name)
    except (BadInput, NotFound):
        text = f"{name!r} is not a member, worker or task"
        raise NotFound(text, hint="look: pro0 member list, pro0 task list") from None


def _project(context: Context) -> Path:
    return Path(context.team.require().config.read().project)
