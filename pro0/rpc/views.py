"""The objects that methods answer with, in snake_case; a value at its default is left out."""

from collections.abc import Callable
from datetime import datetime
from functools import cache, partial
from typing import Any, Literal, get_args
from uuid import NAMESPACE_OID, uuid5

import msgspec
from msgspec.structs import FieldInfo, fields

from pro0.model.home import Role
from pro0.model.stored import iso
from pro0.model.task import Awaiting, Gate, Kind, Policy, Task
from pro0.model.team import Grant, Seat, Wanted, Wish
from pro0.rules.tasks.answers import Remark
from pro0.rules.views import task_digest, ticket_status

Status = Literal["open", "in_progress", "needs_review", "done", "closed", "failed"]
WORDS: tuple[Status, ...] = get_args(Status)


class RpcView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A result with fields."""


class TaskView(RpcView, frozen=True, kw_only=True):
    """A task: first the fields that the specification names, then the rest."""

    id: str
    title: str
    description: str
    role_id: str | None
    status: Status
    priority: int
    created_at: datetime | None
    updated_at: datetime | None
    parent_id: str | None = None
    session_id: str | None = None
    type: Kind = Kind.TASK
    acceptance: str = ""
    labels: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    assignee: str | None = None
    claimed_by: str | None = None
    awaiting: Awaiting | None = None
    reason: str = ""
    """The question of a task that waits for a person."""
    requires: Gate | None = None
    policy: Policy | None = None
    run: str | None = None
    timeout: float | None = None
    """The limit of its command in seconds."""
    agent: str | None = None
    branch: str | None = None
    result: str | None = None
    created_by: str = ""
    closed_reason: str = ""
    digest: str = ""
    """A digest of all that a person judges. A verdict on the page names the digest that was shown."""


class CommentView(RpcView, frozen=True, kw_only=True):
    """A remark on a task; `act` is the act that it came with, if any."""

    id: str
    task_id: str
    author_role: str
    content: str
    created_at: datetime
    author_task_id: str | None = None
    author: str = ""
    act: str | None = None


class AgentRole(RpcView, frozen=True, kw_only=True):
    """A role."""

    id: str
    name: str
    role_prompt: str
    agent: str = ""
    model: str = ""


class SeatView(RpcView, frozen=True, kw_only=True):
    """The requested settings of a member."""

    agent_id: str
    name: str
    agent: str
    role: str = ""
    task: str | None = None
    model: str = ""
    effort: str = ""


class WantedView(RpcView, frozen=True, kw_only=True):
    """What the person wants of a team; `max_cost` is in US dollars, 0 for no limit."""

    wish: Wish
    paused: bool
    max_cost: float


class GrantView(RpcView, frozen=True, kw_only=True):
    """A grant; its token is stored nowhere."""

    id: str
    agent_id: str
    by: str
    at: datetime


class Nothing(RpcView, frozen=True, kw_only=True):
    """An empty result: the call succeeded."""


def task_view(task: Task) -> TaskView:
    """Return a task as methods show it."""
    same_fields = {name: getattr(task, name) for name in _SAME}
    [status] = (word for word in WORDS if word == ticket_status(task))
    return TaskView(
        **same_fields,
        status=status,
        digest=task_digest(task),
        role_id=task.role,
        parent_id=task.parent,
        session_id=task.claim.incarnation if task.claim else task.session,
        claimed_by=task.claim.agent_id if task.claim else None,
        awaiting=task.waits.kind if task.waits else None,
        reason=task.waits.reason if task.waits else "",
    )


def comment_view(task: str, remark: Remark, title: Callable[[str], str]) -> CommentView:
    """Return a remark as methods show it; `title` returns the name of a role by its id, "" for no role."""
    return CommentView(
        id=remark.id or str(uuid5(NAMESPACE_OID, f"{task} {iso(remark.at)} {remark.author} {remark.act}")),
        task_id=task,
        author_role=title(remark.role) or remark.author,
        content=remark.text,
        created_at=remark.at,
        author_task_id=remark.task,
        author=remark.author,
        act=remark.act,
    )


def role_view(role: Role) -> AgentRole:
    """Return a role as methods show it."""
    return AgentRole(id=role.id, name=role.name, role_prompt=role.prompt, agent=role.agent, model=role.model)


def plain(value: object, worded: Callable[[str], str] = str) -> object:
    """Return a result as JSON values: keys in snake_case and in the words of a family, views as in `SHOWN`."""
    if type(value) in SHOWN:
        value = SHOWN[type(value)][1](value)
    if isinstance(value, msgspec.Struct):
        pairs = ((field, getattr(value, field.name)) for field in _fields(type(value)))
        return {worded(snake(f.encode_name)): plain(v, worded) for f, v in pairs if not _left_out(value, f, v)}
    if isinstance(value, dict):
        return {str(key): plain(item, worded) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, worded) for item in value]
    return msgspec.to_builtins(value)


def snake(name: str) -> str:
    """Return a camelCase name in snake_case, except the names in `_KEPT`."""
    return name if name in _KEPT else "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _left_out(whole: msgspec.Struct, field: FieldInfo, value: object) -> bool:
    return whole.__struct_config__.omit_defaults and field.default is not msgspec.NODEFAULT and value == field.default


def _same(view: type[RpcView], value: object) -> RpcView:
    """Return the view whose fields are all fields of the value."""
    return view(**{name: getattr(value, name) for name in view.__struct_fields__})


SHOWN: dict[type, tuple[type[RpcView], Callable[[Any], RpcView]]] = {
    Task: (TaskView, task_view),
    Seat: (SeatView, partial(_same, SeatView)),
    Wanted: (WantedView, partial(_same, WantedView)),
    Grant: (GrantView, partial(_same, GrantView)),
}
"""Stored values that are shown as views, so that other programs' keys, hashes and histories stay in the store."""
_fields = cache(fields)
_KEPT = ("taskId", "ticketId", "memberId", "needId")
_SAME = [
    name for name in TaskView.__struct_fields__ if name in Task.__struct_fields__ and name not in ("status", "awaiting")
]
