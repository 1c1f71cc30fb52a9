"""The preset roles: all that makes one agent another than the next is in their words."""

import ast
from pathlib import Path

import pytest

import pro0
from pro0.rules.words.presets import PRESETS

ROLES = {role.id: role for role in PRESETS.roles}
SOURCE = Path(pro0.__file__).parent
OWN = SOURCE / "rules" / "words" / "presets.py"


def test_no_code_knows_a_role_by_its_name() -> None:
    """S000-003: a manager differs from a worker by the prompt of its role alone."""
    names = {*ROLES, *(role.name for role in ROLES.values())}
    known = [
        f"{path.relative_to(SOURCE)}:{node.lineno} {node.value}"
        for path in SOURCE.rglob("*.py")
        if path != OWN
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert known == []


@pytest.mark.parametrize(
    "words",
    [
        "break the work into subtasks",
        "--role ROLE --priority N",
        "as a comment on your task",
        "Then complete your task",
        "When you are told so: read the comments of your task",
        "add, change or cancel\n  subtasks",
        "complete your task again",
        "only then does the\n  next subtask start",
        "When none is left, your task is over",
    ],
)
def test_a_manager_plans_comments_completes_and_looks_again(words: str) -> None:
    """S000-127, S003-033: what its words must tell it to do, in this order."""
    assert words in ROLES["project-manager"].prompt


@pytest.mark.parametrize("id", sorted(ROLES.keys() - {"project-manager"}))
def test_a_worker_reads_first_and_leaves_what_it_found(id: str) -> None:
    """S000-129: the comments above, the work, the results, the end."""
    prompt = ROLES[id].prompt
    steps = ("read the comments of your parent task", "leave there what those who come after", "complete your task")
    places = [prompt.index(step) for step in steps]
    assert places == sorted(places)
    assert "such as paths, decisions" in prompt
