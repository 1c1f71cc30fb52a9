"""Tickets of other programs become tasks: states mapped, gates honoured, each ticket once (behaviour 2.24).

Laws:

* A file is no word of a person. A closed ticket with a gate waits at that gate. A verdict in a file does not count.
* An imported task never has a command.
* The worker of a ticket is unknown here. So a ticket in progress becomes pending, and is offered first.
* A ticket is known by its origin. A second import changes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal

import msgspec
from msgspec.structs import replace

from pro0.errors import BadInput, ErrorCode, Pro0Error
from pro0.model.caller import Caller
from pro0.model.ids import HUMAN
from pro0.model.task import Awaiting, Entry, Gate, Kind, Status, Task, TaskList, Wait
from pro0.rules import text
from pro0.rules.tasks import limits, priority
from pro0.rules.tasks.board import Board
from pro0.rules.tasks.changes import acyclic, follow
from pro0.rules.tasks.gates import at_gate
from pro0.rules.tasks.limits import Limits

IMPORT = "import"
"""The act of a task's first entry, and the author of notes not written by a person."""
NAMED = 10
"""The most faults named in one error."""


class Note(msgspec.Struct, frozen=True):
    """A remark in a ticket."""

    text: str
    at: datetime | None = None
    human: bool = False


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """A ticket as read. `origin` is its program and its id there; `parent` and `blocked_by` hold origins too."""

    origin: str
    file: str
    title: str
    status: Literal["open", "in_progress", "closed"]
    description: str = ""
    acceptance: str = ""
    type: Kind = Kind.TASK
    priority: int = priority.USUAL
    labels: tuple[str, ...] = ()
    parent: str | None = None
    blocked_by: tuple[str, ...] = ()
    requires: Gate | None = None
    awaiting: Awaiting | None = None
    created_at: datetime | None = None
    started_at: datetime | None = None
    closed_at: datetime | None = None
    closed_reason: str = ""
    notes: tuple[Note, ...] = ()


def take_over(
    tasks: TaskList,
    tickets: Iterable[Ticket],
    imported: Mapping[str, str],
    caller: Caller,
    now: datetime,
    bounds: Limits = limits.DEFAULT,
) -> tuple[TaskList, list[Task]]:
    """Add the new tickets to the list. `imported` holds the task ids of earlier imports, by origin.

    Raises BadInput with the names of bad files, and Refused for a cycle. Then nothing is imported.
    """
    new = sorted(
        (ticket for ticket in tickets if ticket.origin not in imported),
        key=lambda ticket: (moment(ticket.created_at), ticket.origin),
    )
    if not new:
        return tasks, []
    ids = {ticket.origin: f"task-{tasks.next_id + place}" for place, ticket in enumerate(new)}
    created = _all(new, {**imported, **ids}, caller, now)
    changed = replace(tasks, next_id=tasks.next_id + len(created), tasks=(*tasks.tasks, *created))
    acyclic(changed, {id: origin for origin, id in ids.items()})
    limits.check(Board(changed.tasks), created, bounds)
    changed = follow(changed, now, {task.parent for task in created})
    board = Board(changed.tasks)
    return changed, [board.tasks[task.id] for task in created]


def faults(problems: Sequence[str]) -> BadInput:
    """Return an error with the faults of files, NAMED of them at most."""
    rest = f"; and {len(problems) - NAMED} more" if len(problems) > NAMED else ""
    hint = "correct these files, or move them away; nothing was imported"
    return BadInput(f"cannot import {'; '.join(problems[:NAMED])}{rest}", code=ErrorCode.BAD_IMPORT, hint=hint)


def moment(at: datetime | None) -> datetime:
    """Return a moment in UTC. A moment without a zone counts as UTC, None as the beginning of time."""
    if at is None:
        return datetime.min.replace(tzinfo=UTC)
    if at.tzinfo is None:
        return at.replace(tzinfo=UTC)
    try:
        return at.astimezone(UTC)
    except OverflowError:  # in UTC it is before the first or after the last date of the calendar
        end = datetime.min if at.year == datetime.min.year else datetime.max
        return end.replace(tzinfo=UTC)


def _all(new: Iterable[Ticket], ids: Mapping[str, str], caller: Caller, now: datetime) -> list[Task]:
    tasks, wrong = list[Task](), list[str]()
    for ticket in new:
        try:
            tasks.append(_task(ticket, ids, caller, now))
        except Pro0Error as error:
            wrong.append(f"{ticket.file}: {error.message}")
    if wrong:
        raise faults(wrong)
    return tasks


def _task(ticket: Ticket, ids: Mapping[str, str], caller: Caller, now: datetime) -> Task:
    task = Task(
        id=ids[ticket.origin],
        title=text.title(ticket.title),
        description=text.checked(ticket.description, "description"),
        acceptance=text.checked(ticket.acceptance, "acceptance"),
        type=ticket.type,
        labels=text.labels(ticket.labels),
        parent=_task_id(ticket.parent, ids) if ticket.parent else None,
        dependencies=tuple(dict.fromkeys(_task_id(origin, ids) for origin in ticket.blocked_by)),
        priority=priority.checked(ticket.priority),
        requires=ticket.requires,
        created_at=_with_zone(ticket.created_at) or now,
        created_by=caller.agent_id,
        updated_at=now,
        origin=ticket.origin,
        history=_history(ticket, caller, now),
    )
    return _standing(task, ticket, now)


def _standing(task: Task, ticket: Ticket, now: datetime) -> Task:
    """Put a task into the state of its ticket."""
    begun = _with_zone(ticket.started_at) or task.created_at
    if ticket.status == "closed":
        return _closed(task, ticket, now)
    if ticket.awaiting:
        status = Status.PENDING if ticket.status == "open" else Status.IN_PROGRESS
        wait = Wait(kind=ticket.awaiting, since=now, by=IMPORT)
        return replace(task, status=status, awaiting=wait, started_at=begun if status is Status.IN_PROGRESS else None)
    return replace(task, started_at=begun) if ticket.status == "in_progress" else task


def _closed(task: Task, ticket: Ticket, now: datetime) -> Task:
    over = replace(
        task, started_at=_with_zone(ticket.started_at), closed_reason=text.checked(ticket.closed_reason, "reason")
    )
    # A closed ticket is no approval: only a person's verdict passes the gate.
    if ticket.requires is None:
        return replace(over, status=Status.COMPLETED, completed_at=_with_zone(ticket.closed_at) or now)
    wait = Wait(kind=Awaiting(ticket.requires.value), since=now, by=IMPORT, reason=at_gate(ticket.requires))
    return replace(over, status=Status.IN_PROGRESS, awaiting=wait)


def _history(ticket: Ticket, caller: Caller, now: datetime) -> tuple[Entry, ...]:
    imported = Entry(at=now, actor=caller.agent_id, act=IMPORT, to=Status.PENDING)
    notes = (
        Entry(
            at=_with_zone(note.at) or now,
            actor=HUMAN if note.human else IMPORT,
            act="note",
            text=text.checked(note.text, "note"),
        )
        for note in ticket.notes
    )
    return (imported, *notes)


def _with_zone(at: datetime | None) -> datetime | None:
    return moment(at) if at else None


def _task_id(origin: str, ids: Mapping[str, str]) -> str:
    if origin not in ids:
        raise BadInput(f"it names {origin.partition(':')[2]}, which does not exist")
    return ids[origin]
