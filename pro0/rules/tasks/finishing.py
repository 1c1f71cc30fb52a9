"""The end of a batch of tasks: a person is told once that nothing is left to do."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

from pro0.model.task import SETTLED, Kind, Status, Task

SETTLED_ORDER = (Status.COMPLETED, Status.CANCELLED, Status.FAILED)
NAMED = 3
"""The most failed tasks named in a notice."""
LEAST = 2
"""The fewest tasks in a batch that is worth a notice: the end of a single task shows in the list."""


def finished(tasks: tuple[Task, ...]) -> str:
    """Return the notice about a batch that has just ended; "" while a task is open, or for a batch of one."""
    work = [task for task in tasks if task.type is not Kind.EPIC]
    if any(task.status not in SETTLED for task in tasks) or len(batch := _newest_batch(work)) < LEAST:
        return ""
    counts = Counter(task.status.value for task in batch)
    if len(counts) == 1 and batch[0].status is Status.COMPLETED:
        return f"All done: {len(batch)} tasks completed."
    failed = [task.id for task in reversed(batch) if task.status is Status.FAILED]
    named = f" ({', '.join(failed[:NAMED])}{' …' if len(failed) > NAMED else ''})" if failed else ""
    summary = ", ".join(f"{counts[s]} {s}{named if s is Status.FAILED else ''}" for s in SETTLED_ORDER if counts[s])
    return f"No task is open any more: {summary}."


def _newest_batch(tasks: list[Task]) -> list[Task]:
    """Return the tasks since the last time without an open task: their lifetimes overlap."""
    batch: list[Task] = []
    began = datetime.max.replace(tzinfo=UTC)
    for ended, created_at, task in sorted(_spans(tasks), key=lambda span: span[0], reverse=True):
        if batch and ended < began:
            break
        batch.append(task)
        began = min(began, created_at)
    return batch


def _spans(tasks: list[Task]) -> Iterator[tuple[datetime, datetime, Task]]:
    for task in tasks:
        if task.updated_at and task.created_at:
            yield task.updated_at, task.created_at, task
