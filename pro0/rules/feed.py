"""Events for a subscriber: the change from one state of the task list to another, one event a task."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from pro0.model.task import Task


class FeedEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """One change: a task as it is now, or the id of a deleted task. A snapshot holds all tasks."""

    event: Literal["snapshot", "create", "update", "delete"]
    tasks: tuple[Task, ...] | None = None
    task: Task | None = None
    id: str | None = None


def snapshot(tasks: Iterable[Task]) -> FeedEvent:
    """Return the first event of a subscription: all tasks."""
    return FeedEvent("snapshot", tasks=tuple(tasks))


def events(before: Mapping[str, Task], after: Mapping[str, Task]) -> Iterator[FeedEvent]:
    """Yield the change from `before` to `after`, one event a task. Two changes of one task in between are one event."""
    for id, task in after.items():
        if id not in before:
            yield FeedEvent("create", task=task)
        elif task != before[id]:
            yield FeedEvent("update", task=task)
    yield from (FeedEvent("delete", id=id) for id in before if id not in after)
