"""What one client is subscribed to: a snapshot first, then each change as a notification."""

from typing import Literal

import msgspec

from pro0.errors import NotFound
from pro0.model.task import Task
from pro0.ops.context import Context, new_id
from pro0.ops.team import feed
from pro0.rpc.views import RpcView, TaskView, task_view
from pro0.rules.feed import FeedEvent

LIMIT = 16
"""Subscriptions of one client, at most."""
TASKS, TICKETS = FAMILIES = "task", "ticket"


class TaskChange(RpcView, frozen=True, kw_only=True):
    """One change of the list: the task as it is now, of a deleted one its id. `seq` counts up by one."""

    id: str
    seq: int
    operation: Literal["create", "update", "delete"]
    task: TaskView | None = None
    deleted: str | None = msgspec.field(name="taskId", default=None)


class Subscription:
    """One subscription to the task list: what is not told yet is the difference to what was told last.

    So one that is told late is told less, and misses nothing.
    """

    def __init__(self, context: Context, family: str) -> None:
        self.id = new_id()
        self.family = family
        self._feed = feed.subscribe(context)
        self._seq = 0

    def snapshot(self) -> tuple[Task, ...]:
        """Return all tasks as they are now; what is told later is told from here on."""
        [first] = self._feed.news()
        return first.tasks or ()

    def changes(self) -> list[TaskChange]:
        """Return what has changed since the last call."""
        return [self._change(event) for event in self._feed.news()]

    def _change(self, event: FeedEvent) -> TaskChange:
        self._seq += 1
        assert event.event != "snapshot"
        task = task_view(event.task) if event.task else None
        return TaskChange(id=self.id, seq=self._seq, operation=event.event, task=task, deleted=event.id)


class Subscriptions:
    """All subscriptions of one client."""

    def __init__(self) -> None:
        self._by_id: dict[str, Subscription] = {}

    def __bool__(self) -> bool:
        return bool(self._by_id)

    def add(self, one: Subscription) -> None:
        """Go on telling this one."""
        self._by_id[one.id] = one

    @property
    def full(self) -> bool:
        """Return True when there may be no more of them."""
        return len(self._by_id) >= LIMIT

    def remove(self, id: str, family: str) -> None:
        """End a subscription; raises NotFound."""
        if id not in self._by_id or self._by_id[id].family != family:
            raise NotFound(f"there is no subscription {id[:50]!r}", hint="it is over already, or another client's")
        del self._by_id[id]

    def changes(self) -> list[tuple[str, TaskChange]]:
        """Return what is to be told now, each with the family of its words."""
        return [(one.family, change) for one in self._by_id.values() for change in one.changes()]
