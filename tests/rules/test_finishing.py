"""The letter at the end of a batch of tasks (issue 14 Build 2)."""

from datetime import timedelta

import pytest

from pro0.model.task import Kind, Status, Task
from pro0.rules.tasks.finishing import NAMED, finished
from tests.teams import NOW

DONE, OPEN, FAILED, CANCELLED = Status.COMPLETED, Status.PENDING, Status.FAILED, Status.CANCELLED


def task(number: int, made: int, ended: int, status: Status = DONE, type: Kind = Kind.TASK) -> Task:
    return Task(
        id=f"task-{number}",
        title="t",
        type=type,
        status=status,
        created_at=NOW + timedelta(minutes=made),
        updated_at=NOW + timedelta(minutes=ended),
    )


@pytest.mark.parametrize(
    ("tasks", "letter"),
    [
        ([], ""),
        ([task(1, 0, 1)], ""),
        ([task(1, 0, 1), task(2, 0, 2, OPEN)], ""),
        ([task(1, 0, 1), task(2, 0, 2)], "All done: 2 tasks completed."),
        ([task(1, 0, 2), task(2, 0, 1, FAILED)], "No task is open any more: 1 completed, 1 failed (task-2)."),
        ([task(1, 0, 1, FAILED), task(2, 0, 2)], "No task is open any more: 1 completed, 1 failed (task-1)."),
        (
            [task(1, 0, 2), task(2, 0, 1), task(3, 0, 3, CANCELLED)],
            "No task is open any more: 2 completed, 1 cancelled.",
        ),
        ([task(1, 0, 2, CANCELLED), task(2, 0, 1, CANCELLED)], "No task is open any more: 2 cancelled."),
        (
            [task(number, 0, number, FAILED) for number in range(1, NAMED + 1)],
            f"No task is open any more: {NAMED} failed ({', '.join(f'task-{n}' for n in range(1, NAMED + 1))}).",
        ),
        (
            [task(number, 0, number, FAILED) for number in range(1, NAMED + 2)],
            f"No task is open any more: {NAMED + 1} failed ({', '.join(f'task-{n}' for n in range(1, NAMED + 1))} …).",
        ),
        ([task(1, 0, 9, type=Kind.EPIC), task(2, 0, 2)], ""),
        ([task(1, 0, 9, OPEN, Kind.EPIC), task(2, 0, 2), task(3, 0, 3)], ""),
        ([task(1, 0, 1), task(2, 2, 3), task(3, 4, 5)], ""),
        ([task(1, 0, 1), task(2, 2, 4), task(3, 3, 5)], "All done: 2 tasks completed."),
        ([task(1, 0, 2), task(2, 1, 4), task(3, 3, 5)], "All done: 3 tasks completed."),
        ([task(1, 0, 1), task(2, 1, 2)], "All done: 2 tasks completed."),
        ([Task(id="task-1", title="t", status=DONE), task(2, 0, 1)], ""),
    ],
)
def test_a_letter_at_the_end_of_a_batch(tasks: list[Task], letter: str) -> None:
    assert finished(tuple(tasks)) == letter
    assert finished(tuple(reversed(tasks))).partition(":")[0] == letter.partition(":")[0]
