"""Which part of the list a run or a `next` looks at (S001-118)."""

import pytest
from msgspec.structs import replace

from pro0.model.task import Kind, Status
from pro0.rules.runs.scope import EVERYTHING, Scope, within
from pro0.rules.tasks.board import Board
from tests.rules.building import task

LIST = (
    task(1, type=Kind.EPIC),
    task(2, parent=1),
    task(3, parent=2),
    task(4),
    task(5, status=Status.COMPLETED),
    task(6, parent=5),
    task(7, status=Status.CANCELLED),
    task(8, parent=7),
    task(9, status=Status.FAILED),
    task(10, parent=9),
    replace(task(11), parent="task-99"),
)
ROOTS = {1, 4, 5, 7, 9}


@pytest.mark.parametrize(
    ("scope", "numbers"),
    [
        (EVERYTHING, set(range(1, 12))),
        (Scope(epic="task-1"), {2, 3}),
        (Scope(epic="task-2"), {3}),
        (Scope(epic="task-4"), set()),
        (Scope(standalone=True), ROOTS),
        (Scope(orphan=True), {6, 8}),
        (Scope(epic="task-1", standalone=True), {2, 3} | ROOTS),
        (Scope(standalone=True, orphan=True), {6, 8} | ROOTS),
        (Scope(epic="task-1", orphan=True), {2, 3, 6, 8}),
    ],
    ids=str,
)
def test_what_is_in_a_part(scope: Scope, numbers: set[int]) -> None:
    """Below the epic, with no parent, or with a parent that is over; what is in any of them when several are named."""
    board = Board(LIST)
    assert {one.id for one in LIST if within(board, one, scope)} == {f"task-{number}" for number in numbers}
