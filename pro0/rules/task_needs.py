"""Needs of the person that arise from tasks: a part of the list in `needs`."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from pro0.model.ids import HUMAN
from pro0.model.need import Need, NeedKind, Picture
from pro0.model.runtime import ENDED, Phase, SeatState, State
from pro0.model.stored import iso
from pro0.model.task import Archived, Awaiting, Kind, Policy, Status, Task
from pro0.model.team import Seat, Wish
from pro0.rules.tasks.board import Board, over_above, why_not_ready
from pro0.rules.tasks.gates import at_gate, wait_in_words
from pro0.rules.tasks.subtasks import waits_for_subtasks
from pro0.rules.words import prompts

LIST_FAILED = "pro0 task list --archived --status failed"
IDLE_CLAIM_AFTER = timedelta(minutes=2)
"""Time an agent may be idle with a claim before the person hears of it."""
NAMED = 3
"""The most tasks named in one sentence."""
_BY_WAIT = {
    Awaiting.INPUT: NeedKind.QUESTION,
    Awaiting.REVIEW: NeedKind.REVIEW,
    Awaiting.ESCALATION: NeedKind.ESCALATION,
}


def of_tasks(picture: Picture, board: Board) -> Iterator[Need]:
    """Yield the needs of single tasks."""
    idle = {task.id: (since, state) for since, state, task in idle_claims(picture, board)}
    for task in board:
        if task.waits:
            yield _wait(task)
        elif task.status is Status.FAILED:
            yield _failed(task)
        elif ended := _never_complete(board, task):
            yield _stuck(task, ended)
        elif task.id in idle:
            since, state = idle[task.id]
            if since + IDLE_CLAIM_AFTER <= picture.now:
                yield _idle_claim(task, state, since)
        elif _runs(picture) and _holds_up_its_tree(board, task):
            yield _empty_epic(task)
        elif _runs(picture) and (why := _stalls(board, task)):
            sentence = f"{task.id} stands still: {why}: {task.title}"
            over = over_above(board, task)
            command = f"pro0 task reopen {over.id}" if over else f"pro0 task start {task.id}"
            yield need_of(NeedKind.STALLED, task.id, sentence, command, task.updated_at, why=why)


def of_archive(archived: Archived) -> Iterator[Need]:
    """Yield one need for all failed tasks in the archive."""
    if archived.failed:
        yield need_of(
            NeedKind.FAILED, "archive", failed_before(archived), LIST_FAILED, None, stamp=str(archived.failed)
        )


def failed_before(archived: Archived) -> str:
    """Return the number of failed tasks in the archive, in words."""
    return f"{archived.failed} archived task{' has' if archived.failed == 1 else 's have'} failed"


def untaken(picture: Picture, board: Board) -> Iterator[Need]:
    """Yield one need for each reason why no present member can take ready tasks."""
    if not _runs(picture):
        return
    ended = {seat.agent_id for seat, state in states(picture) if state.state in ENDED}
    members = [seat for seat in picture.wanted.seats if seat.agent_id not in ended and not seat.task]
    pool = (task for task in board if _in_a_pool(board, task) and not any(_can(seat, task) for seat in members))
    kinds: dict[tuple[str, str], list[Task]] = {}
    for task in pool:
        if why_not_ready(board, task) is None:
            kinds.setdefault(_nobody(members, task), []).append(task)
    for (way, why), unclaimable in kinds.items():
        task, rest = unclaimable[0], f" and {len(unclaimable) - NAMED} more" if len(unclaimable) > NAMED else ""
        named = tuple(each.id for each in unclaimable[:NAMED])
        sentence = f"{', '.join(named)}{rest}: ready, but {why}"
        command = way.format(task.id)
        need = need_of(NeedKind.UNTAKEN, task.id, sentence, command, task.created_at, why=why, look=_show(task))
        yield replace(need, others=named[1:])


def beyond(members: Sequence[Seat], board: Board, new: Iterable[Task]) -> str:
    """Return the tasks that no present member can do, in one sentence; empty for none, or without members.

    The sentence is shown when tasks are made or assigned, so that nobody waits in vain.
    """
    pool = [task for task in new if _in_a_pool(board, task) and task.type is not Kind.EPIC and not task.waits]
    unclaimable = [task for task in pool if members and not any(_can(seat, task) for seat in members)]
    if not unclaimable:
        return ""
    names = ", ".join(task.id for task in unclaimable[:NAMED])
    rest = f" and {len(unclaimable) - NAMED} more" if len(unclaimable) > NAMED else ""
    owner = next((seat for seat in members if seat.agent_id == unclaimable[0].assignee), None)
    subject = f"{owner.agent_id} cannot do" if owner else "no member here can do"
    why = "its program takes no tasks" if owner and owner.agent == "command" else "a shell runs only commands (--run)"
    return f"{subject} {names}{rest}: {why}; start a member that can: pro0 member spawn NAME --agent AGENT"


def idle_claims(picture: Picture, board: Board) -> Iterator[tuple[datetime, SeatState, Task]]:
    """Yield each task in progress with an idle holder: since when, the holder's session, and the task."""
    idle = {state.incarnation: state for _, state in states(picture) if state.state is State.IDLE}
    for task in board:
        if task.claim and task.status is Status.IN_PROGRESS and not task.waits and task.claim.incarnation in idle:
            state = idle[task.claim.incarnation]
            yield max(state.since, task.claim.since or task.claim.claimed_at), state, task


def states(picture: Picture) -> Iterator[tuple[Seat, SeatState]]:
    """Yield each seat with the state of its present session."""
    by_generation = {(state.agent_id, state.generation): state for state in picture.runtime.seats}
    for seat in picture.wanted.seats:
        if state := by_generation.get((seat.agent_id, seat.generation)):
            yield seat, state


def of_member(kind: NeedKind, id: str, sentence: str, command: str, since: datetime | None, **details: str) -> Need:
    """Return a need whose subject is a member."""
    return need_of(kind, id, sentence, command, since, member=id, **details)


def need_of(kind: NeedKind, subject: str, sentence: str, command: str, since: datetime | None, **details: str) -> Need:
    """Return a need about one subject; its id is made of its kind, its subject, and `stamp` or else `since`."""
    stamp = details.pop("stamp", "") or (iso(since) if since else "")
    id = f"{kind.replace(' ', '-')}:{subject}{f':{stamp}' if stamp else ''}"
    return Need(id=id, kind=kind, subject=subject, others=(), what=sentence, command=command, since=since, **details)


def _show(task: Task) -> str:
    return f"pro0 task show {task.id}"


def _wait(task: Task) -> Need:
    wait = task.waits
    assert wait
    sentence = f"{task.id} waits for you ({wait_in_words(wait)}): {task.title}"
    kind = _BY_WAIT.get(wait.kind, NeedKind.GATE)
    answer = " ANSWER" if kind is NeedKind.QUESTION else ""
    command = f"pro0 task approve {task.id}{answer}"
    why = "" if wait.reason == at_gate(wait.kind) else wait.reason
    details = {"why": why, "member": task.assignee or "", "awaiting": str(wait.kind), "look": _show(task)}
    return need_of(kind, task.id, sentence, command, wait.since, **details)


def _failed(task: Task) -> Need:
    about = task.title or task.closed_reason
    sentence, at = f"{task.id} has failed{f': {about}' if about else ''}", task.completed_at or task.updated_at
    retry = f"pro0 task retry {task.id}"
    return need_of(
        NeedKind.FAILED,
        task.id,
        sentence,
        retry,
        at,
        why=task.closed_reason,
        member=task.assignee or "",
        look=_show(task),
    )


def _never_complete(board: Board, task: Task) -> list[str]:
    """Return the dependencies that are cancelled or missing: a failed one is a need itself."""
    if task.status is not Status.PENDING:
        return []
    dependencies = {id: board.get(id) for id in task.dependencies}
    return [
        id for id, dependency in dependencies.items() if dependency is None or dependency.status is Status.CANCELLED
    ]


def _stuck(task: Task, ended: list[str]) -> Need:
    sentence = f"{task.id} can never start, it needs {', '.join(ended)}: {task.title}"
    command, stamp = f"pro0 task unblock {task.id} {' '.join(ended)}", ",".join(ended)
    return need_of(NeedKind.STUCK, task.id, sentence, command, task.updated_at, stamp=stamp, look=_show(task))


def _idle_claim(task: Task, state: SeatState, since: datetime) -> Need:
    id, said = state.agent_id, prompts.said_in_short(state.turn) if state.turn else ""
    sentence = f"{id} has ended its turn, and holds {task.id}: {task.title}"
    ask = f'pro0 send {id} "how is {task.id}?"'
    return need_of(
        NeedKind.IDLE_CLAIM, task.id, sentence, ask, since, member=id, look=f"pro0 member peek {id}", why=said
    )


def _runs(picture: Picture) -> bool:
    """Return True when the team is to work now: not paused, stopped or about to stop."""
    running = picture.wanted.wish is Wish.RUN and picture.runtime.phase is Phase.RUNNING
    return running and not picture.wanted.paused


def _stalls(board: Board, task: Task) -> str:
    """Return the reason a task in a supervised tree goes on only when a person starts it, or an empty string."""
    if task.type is not Kind.EPIC and (over := over_above(board, task)):
        return f"{over.id}, above it, is {over.status.words}"
    if task.start or board.declared(task) is not Policy.SUPERVISED or task.type is Kind.EPIC:
        return ""
    if task.claim is None and waits_for_subtasks(board, task):  # its assignee is the member of the session that is gone
        return "its session is gone"
    above = board.supervisor(task)
    if task.assignee is None and above is None and why_not_ready(board, task) is None:
        return "it does not start by itself"
    return ""


def _holds_up_its_tree(board: Board, task: Task) -> bool:
    """Return True for an epic without open subtasks when its supervised tree waits for nothing else."""
    if task.type is not Kind.EPIC or task.status is not Status.PENDING or board.open_children(task.id):
        return False
    above = board.supervisor(task)
    if above is None or above.claim is None or not waits_for_subtasks(board, above):
        return False
    return all(task.status in (Status.COMPLETED, Status.CANCELLED) for task in board.watched(above.id))


def _empty_epic(task: Task) -> Need:
    why = "it has no open subtask"
    sentence = f"{task.id} stands still: {why}: {task.title}"
    command, look = f"pro0 task complete {task.id}", _show(task)
    return need_of(NeedKind.STALLED, task.id, sentence, command, task.updated_at, why=why, look=look)


def _can(seat: Seat, task: Task) -> bool:
    """Return True when a member can take this task on its own; the shell agent takes only tasks with a command."""
    able = seat.agent != "command" and bool(task.run or seat.agent != "shell")
    return able and task.assignee in (None, seat.agent_id)


def _in_a_pool(board: Board, task: Task) -> bool:
    free = task.status is Status.PENDING and task.start is None and task.assignee != HUMAN
    return free and (bool(task.assignee) or board.declared(task) in (None, Policy.POOL))


def _nobody(members: list[Seat], task: Task) -> tuple[str, str]:
    """Return the command that finds somebody, without the task's id, and the reason why nobody takes this task."""
    if task.assignee:
        return "pro0 task assign {} MEMBER", f"{task.assignee} does not take it"
    why = "members here only run commands" if members and not task.run else "nobody here can take it"
    return "pro0 member spawn NAME --agent AGENT", why
