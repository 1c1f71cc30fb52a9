"""The files of the program `ticket`: `.tickets/ID.md`, front matter and text."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Literal, cast

from pro0.errors import BadInput
from pro0.model.task import Kind
from pro0.rules.tickets.importing import Note, Ticket

_FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"([A-Za-z][\w-]*):[ \t]*(.*?)[ \t]*")
_TITLE = re.compile(r"^# +(.+?)[ \t]*$", re.MULTILINE)
_ACCEPTANCE, _NOTES = "Acceptance Criteria", "Notes"
_NOTE = re.compile(r"^\*\*(\d{4}-\d\d-\d\dT[^*\n]+)\*\*[ \t]*$", re.MULTILINE)
_STATES = ("open", "in_progress", "closed")
_State = Literal["open", "in_progress", "closed"]


def read(data: bytes, file: str) -> Ticket:
    """Read the ticket in a file, or raise BadInput."""
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise BadInput(f"it is not UTF-8 text: {error.reason}") from None
    front = _FRONT.match(text)
    if front is None:
        raise BadInput("it does not begin with front matter")
    fields, body = _fields(front[1]), text[front.end() :]
    title = _TITLE.search(body)
    if title is None:
        raise BadInput("it has no title")
    if not fields.get("id"):
        raise BadInput("it has no id")
    sections = [*_sections(body[: title.start()]), *_sections(body[title.end() :])]
    return Ticket(
        origin=_origin(fields["id"]),
        file=file,
        title=title[1],
        status=_status(fields.get("status", "")),
        description=_description(sections),
        acceptance=_text(sections, _ACCEPTANCE),
        type=Kind.EPIC if fields.get("type") == "epic" else Kind.TASK,
        priority=_priority(fields.get("priority", "2")),
        labels=tuple(_list(fields.get("tags", ""))),
        parent=_origin(fields["parent"]) if fields.get("parent") else None,
        blocked_by=tuple(_origin(name) for name in _list(fields.get("deps", ""))),
        created_at=_time(fields.get("created", "")),
        notes=tuple(_notes(_text(sections, _NOTES))),
    )


def _origin(id: str) -> str:
    return f"ticket:{id}"


def _fields(front: str) -> Mapping[str, str]:
    """Read the fields, one a line: each value is a word, a text, or a list in brackets."""
    fields = {}
    for line in front.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _FIELD.fullmatch(line)
        if match is None:
            raise BadInput(f"its front matter has a line that is no field: {line[:40]!r}")
        fields[match[1]] = _bare(match[2])
    return fields


def _bare(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def _list(text: str) -> list[str]:
    inside = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    return [bare for part in inside.split(",") if (bare := _bare(part.strip()))]


def _sections(body: str) -> Iterator[tuple[str, str]]:
    """Yield the text before the first `##` heading, under an empty name, then each section under its own name."""
    parts = re.split(r"^## +(.+?)[ \t]*$", body, flags=re.MULTILINE)
    yield "", parts[0].strip()
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        yield name, text.strip()


def _text(sections: Iterable[tuple[str, str]], heading: str) -> str:
    """Return the texts of all sections with a name."""
    return "\n\n".join(text for name, text in sections if name == heading and text)


def _description(sections: Iterable[tuple[str, str]]) -> str:
    plain = [(name, text) for name, text in sections if name not in (_ACCEPTANCE, _NOTES)]
    parts = [f"## {name}\n\n{text}" if name else text for name, text in plain]
    return "\n\n".join(part for part in parts if part)


def _notes(text: str) -> Iterator[Note]:
    parts = _NOTE.split(text)
    if parts[0].strip():
        yield Note(parts[0].strip())
    for at, note in zip(parts[1::2], parts[2::2], strict=True):
        if note.strip():
            yield Note(note.strip(), _time(at))


def _status(text: str) -> _State:
    if text not in _STATES:
        raise BadInput(f"its status is {text!r}, not one of {', '.join(_STATES)}")
    return cast(_State, text)


def _priority(text: str) -> int:
    if not re.fullmatch(r"-?\d{1,9}", text):
        raise BadInput(f"its priority is {text!r}, which is no number")
    return int(text)


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
