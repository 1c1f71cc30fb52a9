"""What a session for one task begins with: every part where it belongs, and none that says nothing (S000-044, 045)."""

import pytest
from msgspec.structs import replace

from pro0.rules.words.assignment import BOARD, LONG, Assignment, Told, first_prompt
from tests.rules.building import task

ROOT = Assignment(team="alpha", agent_id="t1", project="/src", task=task(1))
BELOW = replace(ROOT, task=task(2, parent=1))
WHOLE = replace(
    BELOW,
    agent_id="engineer-t2",
    role_name="Engineer",
    role_prompt="You write code.",
    above=(Told("manager-t1", "use\n yaml"),),
    before=(Told("t7, fail", "no compiler"),),
    answers=(Told("human", "with tests"),),
    disposable=True,
    branch="teams/w/task-2",
    task=replace(task(2, parent=1), description="Write it.", acceptance="it parses"),
)


def parts(assignment: Assignment) -> list[str]:
    return first_prompt(assignment).split("\n\n")


def test_a_bare_task_is_told_in_three_parts() -> None:
    head, base, _, last = parts(ROOT)
    assert head == (
        "You are t1 in the team alpha, in the project /src. This session is for one task: task-1.\nTASK_ID=task-1"
    )
    assert "`pro0 task show task-1` shows all of your task.\n" in base
    assert "`pro0 task comment task-1 " in base
    assert last == "Your task, task-1: title 1\ntitle 1"


def test_a_subtask_is_told_of_the_one_above_and_writes_there() -> None:
    """S000-064: the board of all that are below one task is that task's comments."""
    head, base, _, last = parts(BELOW)
    assert head.endswith("TASK_ID=task-2\nPARENT_TASK_ID=task-1")
    assert "shows all of your task, `pro0 task show task-1` its parent task.\n" in base
    assert "`pro0 task comment task-1 " in base
    assert "`pro0 task complete task-2 " in base
    assert last == "Your task, task-2: title 2\ntitle 2"


def test_a_worker_with_everything_is_told_it_in_this_order() -> None:
    head, _, _, worker, worktree, *said = parts(WHOLE)
    assert head.startswith("You are engineer-t2, Engineer, in the team alpha, in the project /src. ")
    assert worker.startswith("You are a worker: when task-2 is closed,")
    assert "`pro0 task comment task-2 " in worker
    assert "on the branch teams/w/task-2;" in worktree
    assert said == [
        "Your role:\nYou write code.",
        "What was said about task-1, for all its subtasks:\n- manager-t1: use yaml",
        "What was done about your task before this session:\n- t7, fail: no compiler",
        "What a person said about your task:\n- human: with tests",
        "Your task, task-2: title 2\nWrite it.",
        "It is done when:\nit parses",
    ]


def test_only_the_newest_remarks_are_shown() -> None:
    above = tuple(Told("t9", str(number)) for number in range(BOARD + 1))
    shown = next(part for part in parts(replace(BELOW, above=above)) if part.startswith("What was said"))
    assert shown.splitlines()[1:] == [f"- t9: {number}" for number in range(1, BOARD + 1)]


@pytest.mark.parametrize(("length", "shown"), [(LONG, "x" * LONG), (LONG + 1, "x" * (LONG - 1) + "…")])
def test_a_long_remark_is_cut(length: int, shown: str) -> None:
    assert f"- t9: {shown}\n" in first_prompt(replace(BELOW, above=(Told("t9", "x" * length),)))
