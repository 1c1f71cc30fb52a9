"""The events of a team as lines for people; `--json` has every field."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from pro0.cli.output import line, local

Event = dict[str, object]
_SEEN = frozenset({"at", "actor", "event", "pid"})
_UNTOLD = frozenset(
    {*("uid", "id", "type", "seat", "incarnation", "generation", "ground", "prepared", "tells", "epoch"), "work_folder"}
)
"""Fields left out of the lines: they mean nothing to a person, or are shown in another way."""
_WHO = ("agentId", "to", "taskId", "requestId")
"""The fields with the subject of a lead's decision; the first one present counts."""


def text_of(event: Event) -> str:
    """Return one event as one line: time, actor, act and details."""
    kind = str(event.get("event"))
    detail = event.get("detail")
    if kind == "decided" and isinstance(detail, dict):
        body = f"{event.get('action')} {_about(detail)}"
    else:
        body = f"{kind}  {_details(event.items())}"
    return line(f"{_moment(event.get('at'))}  {event.get('actor', 'lead')}  {body}".rstrip())


def _about(detail: Mapping[str, object]) -> str:
    """Return a decision's details as text, its subject first."""
    seat = detail.get("seat")
    fields = {**seat, **detail} if isinstance(seat, dict) else detail
    subject = next((str(fields[name]) for name in _WHO if fields.get(name)), "")
    content = detail.get("content") or detail.get("line")
    rest = _details((name, value) for name, value in detail.items() if name not in (*_WHO, "content", "line"))
    return "  ".join(filter(None, (f"{subject}: {content}" if content else subject, rest)))


def _details(items: Iterable[tuple[str, object]]) -> str:
    shown_items = [(name, value) for name, value in items if name not in _SEEN | _UNTOLD]
    return "  ".join(f"{name}={_value(value)}" for name, value in shown_items if value not in ("", None, [], {}, False))


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ",".join(f"{name}:{_plain(item)}" for name, item in value.items())
    return ",".join(map(_plain, value)) if isinstance(value, list) else str(value)


def _plain(value: object) -> str:
    """Return a nested value as text, or … for a structure."""
    return "…" if isinstance(value, dict | list) else str(value)


def _moment(at: object) -> str:
    try:
        return local(datetime.fromisoformat(str(at)))
    except ValueError:
        return str(at)
