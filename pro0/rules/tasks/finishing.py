"""The end of a batch of tasks: a person is told once that nothing is left to do."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

from pro0.model.task import SETTLED, Kind, Task

LEAST = 2
"""The fewest tasks of a batch whose end is worth a letter: a task that came alone is in the list."""


def finished(tasks: tuple[Task, ...]) -> str:
    """Return the letter about a batch that has just ended; "" while a task is open, or for a batch of one."""
    work = [task for task in tasks if task.type is not Kind.EPIC]
    if any(task.status not in SETTLED for task in tasks) or len(batch := _newest_batch(work)) < LEAST:
        return ""
    counts = Counter(task.status.value for task in batch)
    return f"All {len(batch)} tasks are settled: {', '.join(f'{count} {status}' for status, count in counts.items())}."


def _newest_batch(tasks: list[Task]) -> list[Task]:
    """Return the tasks since there last was nothing to do: each was made before a later one had ended."""
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
