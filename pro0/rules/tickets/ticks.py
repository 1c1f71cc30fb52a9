"""The files of the program `ticks`: `.tick/issues/ID.json`, one tick each."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Literal, TypeVar

import msgspec

from pro0.decoding import decoder
from pro0.errors import BadInput
from pro0.model.task import Awaiting, Gate, Kind
from pro0.rules.tickets.importing import Note, Ticket

_NOTE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d) - (\[human\] )?(.*)")
Word = TypeVar("Word", Gate, Awaiting)


class _Tick(msgspec.Struct):
    """The imported fields of a tick."""

    id: str
    title: str
    status: Literal["open", "in_progress", "closed"]
    description: str = ""
    acceptance_criteria: str = ""
    notes: str = ""
    type: str = "task"
    priority: int = 2
    labels: tuple[str, ...] | None = None
    parent: str | None = None
    blocked_by: tuple[str, ...] | None = None
    requires: str | None = None
    awaiting: str | None = None
    manual: bool = False
    created_at: datetime | None = None
    started_at: datetime | None = None
    closed_at: datetime | None = None
    closed_reason: str = ""


_TICK = decoder(_Tick)


def read(data: bytes, file: str) -> Ticket:
    """Read the tick in a file, or raise BadInput. A manual tick without another wait waits for a person's work."""
    try:
        tick = _TICK.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError) as error:
        raise BadInput(str(error)) from None
    if not tick.id:
        raise BadInput("it has no id")
    return Ticket(
        origin=_origin(tick.id),
        file=file,
        title=tick.title,
        status=tick.status,
        description=tick.description,
        acceptance=tick.acceptance_criteria,
        type=Kind.EPIC if tick.type == "epic" else Kind.TASK,
        priority=tick.priority,
        labels=tick.labels or (),
        parent=_origin(tick.parent) if tick.parent else None,
        blocked_by=tuple(_origin(name) for name in tick.blocked_by or ()),
        requires=_word(Gate, tick.requires),
        awaiting=_word(Awaiting, tick.awaiting) or (Awaiting.WORK if tick.manual else None),
        created_at=tick.created_at,
        started_at=tick.started_at,
        closed_at=tick.closed_at,
        closed_reason=tick.closed_reason,
        notes=tuple(_notes(tick.notes)),
    )


def _word(kind: type[Word], text: str | None) -> Word | None:
    """Return the value of a word, or None. An unknown word raises BadInput: a gate must not be dropped."""
    if not text:
        return None
    try:
        return kind(text)
    except ValueError:
        raise BadInput(f"{text!r} is none of {', '.join(kind)}") from None


def _origin(id: str) -> str:
    return f"tick:{id}"


def _notes(text: str) -> Iterator[Note]:
    """Yield the notes in a flat text. A line without a time belongs to the note before."""
    note: Note | None = None
    for line in text.splitlines():
        match = _NOTE.fullmatch(line)
        if match is None:
            note = Note(f"{note.text}\n{line}" if note else line, note.at if note else None, bool(note and note.human))
            continue
        if note:
            yield note
        note = Note(match[3], _time(match[1]), bool(match[2]))
    if note and note.text.strip():
        yield note


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
