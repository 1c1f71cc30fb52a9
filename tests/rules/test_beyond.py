"""Tasks that no member can do are told when they are made."""

import pytest

from pro0.model.task import Task
from pro0.model.team import Seat
from pro0.rules.task_needs import NAMED, beyond
from pro0.rules.tasks.board import Board

SHELL = Seat(agent_id="w1", name="w1", agent="shell")
PROGRAM = Seat(agent_id="p1", name="p1", agent="command", argv=("true",))
MODEL = Seat(agent_id="ada", name="ada", agent="claude")


def tasks(count: int = 1, **fields: object) -> list[Task]:
    return [Task(id=f"task-{number + 1}", title="t", **fields) for number in range(count)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("members", "new", "told"),
    [
        ([SHELL], tasks(), "no member here can do task-1: a shell runs only commands (--run); "),
        ([SHELL], tasks(NAMED + 2), "and 2 more: a shell runs only commands"),
        ([PROGRAM], tasks(assignee="p1"), "p1 cannot do task-1: its program takes no tasks; "),
        ([SHELL], tasks(run="make"), ""),
        ([SHELL, MODEL], tasks(), ""),
        ([], tasks(), ""),
    ],
)
def test_who_makes_them_is_told(members: list[Seat], new: list[Task], told: str) -> None:
    sentence = beyond(members, Board(new), new)
    assert told in sentence
    assert bool(sentence) is bool(told)
