"""What a subscriber is told: how one state of the task list became another, one event a task."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from pro0.model.task import Task


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """One change: a task as it is now, or the id of one that was deleted; a snapshot has them all."""

    event: Literal["snapshot", "create", "update", "delete"]
    tasks: tuple[Task, ...] | None = None
    task: Task | None = None
    id: str | None = None


def snapshot(tasks: Iterable[Task]) -> Event:
    """Return the event that everything begins with."""
    return Event("snapshot", tasks=tuple(tasks))


def events(before: Mapping[str, Task], after: Mapping[str, Task]) -> Iterator[Event]:
    """Yield how `after` came of `before`, one event a task; what happened twice in between is one."""
    for id, task in after.items():
        if id not in before:
            yield Event("create", task=task)
        elif task != before[id]:
            yield Event("update", task=task)
    yield from (Event("delete", id=id) for id in before if id not in after)
