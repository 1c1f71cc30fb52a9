"""The events for a subscriber to the task list: a snapshot, then every change."""

from collections.abc import Mapping

from pro0.model.caller import ANYONE
from pro0.model.task import Task
from pro0.ops.context import Context, operation
from pro0.rules import feed
from pro0.rules.feed import FeedEvent


class Feed:
    """One subscription: it remembers the events sent, so a late reader misses no task."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._known: dict[str, Task] | None = None
        self._old: dict[str, Task] = {}
        self._segments: object = None

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Return all tasks as they were at the last look."""
        return self._known or {}

    def news(self) -> list[FeedEvent]:
        """Return a snapshot first, then the changes since the last call; raises NotFound for a removed team."""
        before, self._known = self._known, self._now()
        return [feed.snapshot(self._known.values())] if before is None else [*feed.events(before, self._known)]

    def _now(self) -> dict[str, Task]:
        listed = self._context.team.require().tasks.read()
        if self._segments != (listed.sealed, listed.recalled):
            # An archived task is not a deleted one. The archive is read again only after a change.
            self._old = {task.id: task for task in self._context.team.tasks.archived(listed)}
            self._segments = (listed.sealed, listed.recalled)
        return self._old | {task.id: task for task in listed.tasks}


@operation("task.watch", ANYONE, changes=False)
def subscribe(context: Context) -> Feed:
    """Return a new subscription to the task list."""
    return Feed(context)
