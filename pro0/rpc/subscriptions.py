"""What one client is subscribed to: a snapshot first, then each change as a notification."""

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Literal, TypeVar

import msgspec

from pro0.errors import ErrorCode, NotFound, Refused
from pro0.model.need import Need
from pro0.ops.context import Context, new_id
from pro0.ops.team import feed
from pro0.ops.team.status import MemberStatus
from pro0.rpc.views import RpcView, TaskView, task_view

V = TypeVar("V")

LIMIT = 16
"""Subscriptions of one client, at most."""
TASKS, TICKETS, MEMBERS, NEEDS = FAMILIES = "task", "ticket", "member", "need"


class ListChange(RpcView, frozen=True, kw_only=True):
    """One change of a list; `seq` counts up by one."""

    id: str
    seq: int
    operation: Literal["create", "update", "delete"]


class TaskChange(ListChange, frozen=True, kw_only=True):
    """One change of the list: the task as it is now, of a deleted one its id."""

    task: TaskView | None = None
    deleted: str | None = msgspec.field(name="taskId", default=None)


class MemberChange(ListChange, frozen=True, kw_only=True):
    """One change of the list: the member as it is now, of one that is gone its id."""

    member: MemberStatus | None = None
    deleted: str | None = msgspec.field(name="memberId", default=None)


class NeedChange(ListChange, frozen=True, kw_only=True):
    """One change of the list: the need as it is now, of one that is over its id."""

    need: Need | None = None
    deleted: str | None = msgspec.field(name="needId", default=None)


CHANGES: dict[str, tuple[type[ListChange], str]] = {
    TASKS: (TaskChange, "task"),
    TICKETS: (TaskChange, "task"),
    MEMBERS: (MemberChange, "member"),
    NEEDS: (NeedChange, "need"),
}
"""Family → how a change is told, and in which field."""
Change = tuple[Literal["create", "update", "delete"], str, object]
"""What was done to which one, and what it is now."""


class Subscription:
    """One subscription to a list: what is not told yet is the difference to what was told last.

    So one that is told late is told less, and misses nothing.
    """

    def __init__(self, family: str, changes: Callable[[], Iterable[Change]]) -> None:
        self.id = new_id()
        self.family = family
        self._changes = changes
        self._seq = 0

    def changes(self) -> list[ListChange]:
        """Return what has changed since the last call."""
        return [self._told(change) for change in self._changes()]

    def _told(self, change: Change) -> ListChange:
        self._seq += 1
        kind, field = CHANGES[self.family]
        operation, key, value = change
        now = {"deleted": key} if operation == "delete" else {field: value}
        return kind(id=self.id, seq=self._seq, operation=operation, **now)


class Tasks:
    """The task list, archived tasks among them."""

    def __init__(self, context: Context) -> None:
        self._feed = feed.subscribe(context)
        [first] = self._feed.news()
        self.now = first.tasks or ()

    def changes(self) -> Iterator[Change]:
        """Yield what has changed since the last call."""
        for event in self._feed.news():
            assert event.event != "snapshot"
            task = event.task
            yield event.event, task.id if task else event.id or "", task_view(task) if task else None


class Values(Generic[V]):
    """A list that is looked at anew each time; `look` returns it by the ids of what is in it."""

    def __init__(self, look: Callable[[], dict[str, V]]) -> None:
        self._look = look
        self.now = look()

    def changes(self) -> Iterator[Change]:
        """Yield what has changed since the last call."""
        before, self.now = self.now, self._look()
        for key, value in self.now.items():
            if value != before.get(key):
                yield "update" if key in before else "create", key, value
        yield from (("delete", key, None) for key in before if key not in self.now)


class Subscriptions:
    """All subscriptions of one client."""

    def __init__(self) -> None:
        self._by_id: dict[str, Subscription] = {}

    def __bool__(self) -> bool:
        return bool(self._by_id)

    def add(self, one: Subscription) -> str:
        """Go on telling this one and return its id; raises Refused for one too many."""
        if len(self._by_id) >= LIMIT:
            said = f"this client has {LIMIT} subscriptions"
            raise Refused(said, code=ErrorCode.TOO_MANY, hint="unsubscribe one of them")
        self._by_id[one.id] = one
        return one.id

    def remove(self, id: str, family: str) -> None:
        """End a subscription; raises NotFound."""
        if id not in self._by_id or self._by_id[id].family != family:
            raise NotFound(f"there is no subscription {id[:50]!r}", hint="it is over already, or another client's")
        del self._by_id[id]

    def changes(self) -> list[tuple[str, ListChange]]:
        """Return what is to be told now, each with the family of its words."""
        return [(one.family, change) for one in self._by_id.values() for change in one.changes()]
