"""What is said of a task at any entrance is in the task: each field, made and changed, by each way that takes it."""

from collections.abc import Callable
from typing import Any

import click
import msgspec
import pytest

from pro0.errors import Pro0Error
from pro0.mcp.protocol import Call
from pro0.mcp.tool_context import ToolContext
from pro0.mcp.tools.table import TOOLS, perform
from pro0.model.task import Changes, Draft, Task
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.rules.text import TEXT_LIMIT
from tests.cli.conftest import Pro0, commands, seat
from tests.rpc.calling import call, client
from tests.task_fields import (
    BESIDES,
    CALLED,
    IN_JSON_RPC,
    NAMED,
    NOT_CHANGED_BY,
    NOT_MADE_BY,
    SAMPLES,
    as_json,
    value_of,
)
from tests.teams import granted

COMMANDS = dict(commands())
THIRD = "task-3"


def by_command(pro0: Pro0, team: Context, verb: str, given: dict[str, Any]) -> None:
    """By the options of a command."""
    named = {parameter.name: parameter for parameter in COMMANDS[f"pro0 task {verb}"].params}
    words = ["task", verb]
    for field, value in given.items():
        parameter = named[NAMED.get(field, field)]
        if isinstance(parameter, click.Argument):
            words.append(value)
            continue
        for single in value if isinstance(value, list) else [value]:
            words += [parameter.opts[-1], str(single)]
    called = pro0(*words)
    assert called.code == 0, called


def by_tool(_pro0: Pro0, team: Context, verb: str, given: dict[str, Any]) -> None:
    """By a tool, as the lead's agent."""
    seat(team, "lead")
    tool_context = ToolContext(granted(team.team, "lead"), team.team.paths.home)
    named = {CALLED.get(field, field): value for field, value in given.items()}
    answer = perform(
        TOOLS[f"{verb}_task"], tool_context, Call(1, f"{verb}_task", named, lambda *_: None, stateless=True)
    )
    assert "isError" not in answer, answer


def by_method(_pro0: Pro0, team: Context, verb: str, given: dict[str, Any]) -> None:
    """By a method of JSON-RPC, as the person."""
    named = {IN_JSON_RPC.get(field, field): value for field, value in given.items()}
    if verb == "create":
        named = {"description": "", "role_id": None} | named  # the documents have them in every call
    call(client(team.team), f"task.{verb}", named)


Way = Callable[[Pro0, Context, str, dict[str, Any]], None]
WAYS: dict[str, Way] = {"command": by_command, "tool": by_tool, "method": by_method}
MADE = [
    (way, field.name) for way in WAYS for field in msgspec.structs.fields(Draft) if field.name not in NOT_MADE_BY[way]
]
CHANGED = [
    (way, field.name)
    for way in WAYS
    for field in msgspec.structs.fields(Changes)
    if field.name not in NOT_CHANGED_BY[way]
]


@pytest.fixture
def listed(team: Context) -> Context:
    """A team with three tasks: a bare one, one that it may be below, and one that it may wait for."""
    tasks.create(team, [Draft(title="bare"), Draft(title="above"), Draft(title="before")])
    return team


TEXTS = [field.name for field in msgspec.structs.fields(Draft) if type(SAMPLES.get(field.name)) is str]
CHANGED_TEXTS = [field.name for field in msgspec.structs.fields(Changes) if type(SAMPLES.get(field.name)) is str]
NEVER_EMPTY = {
    "title": "a task without one is nothing",
    "priority": "every task has one",
    "requires": "taking a gate away is a person's verdict",
    **dict.fromkeys(("add_dependencies", "drop_dependencies"), "each takes back what the other does"),
}
"""Fields of a change that no empty value takes away."""


@pytest.mark.parametrize("field", TEXTS)
def test_a_text_has_a_limit_when_a_task_is_made(listed: Context, field: str) -> None:
    draft = msgspec.structs.replace(Draft(title="t"), **{field: "x" * (TEXT_LIMIT + 1)})
    with pytest.raises(Pro0Error):
        tasks.create(listed, [draft])
    assert len(tasks.list_tasks(listed)) == 3


@pytest.mark.parametrize("field", CHANGED_TEXTS)
def test_a_text_has_a_limit_when_a_task_is_changed(listed: Context, field: str) -> None:
    before = tasks.show(listed, "1")
    with pytest.raises(Pro0Error):
        tasks.update(listed, "1", msgspec.structs.replace(Changes(), **{field: "x" * (TEXT_LIMIT + 1)}))
    assert tasks.show(listed, "1") == before


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("field", [field.name for field in msgspec.structs.fields(Changes)])
def test_what_an_empty_value_takes_away_is_gone(pro0: Pro0, listed: Context, way: str, field: str) -> None:
    if field in NOT_CHANGED_BY[way] or field in NEVER_EMPTY:
        return
    bare = tasks.show(listed, "1")
    named = "id" if way == "command" else "task_id"
    WAYS[way](pro0, listed, "update", {named: "1", field: value_of(field)})
    assert getattr(tasks.show(listed, "1"), field) != getattr(bare, field)
    empty: Any = [""] if way == "command" and isinstance(value_of(field), list) else type(value_of(field))()
    WAYS[way](pro0, listed, "update", {named: "1", field: empty})
    assert getattr(tasks.show(listed, "1"), field) == getattr(bare, field)


def is_there(task: Task, bare: Task, field: str) -> None:
    """The task has the value of the field, which a bare task has not."""
    name = BESIDES.get(field, field)
    after = getattr(task, name)
    assert after != getattr(bare, name), f"{field} was taken, and is not in the task"
    assert as_json(after) == value_of(field)


@pytest.mark.parametrize(("way", "field"), MADE)
def test_what_a_task_is_made_with_is_in_it(pro0: Pro0, listed: Context, way: str, field: str) -> None:
    bare = tasks.show(listed, "1")
    WAYS[way](pro0, listed, "create", {"title": "t", field: value_of(field)})
    is_there(tasks.show(listed, "4"), bare, field)


@pytest.mark.parametrize(("way", "field"), CHANGED)
def test_what_is_changed_of_a_task_is_in_it(pro0: Pro0, listed: Context, way: str, field: str) -> None:
    bare = tasks.show(listed, "1")
    if field == "drop_dependencies":
        bare = tasks.update(listed, "1", Changes(add_dependencies=("task-2", "task-3")))
    WAYS[way](pro0, listed, "update", {"id" if way == "command" else "task_id": "1", field: value_of(field)})
    after = tasks.show(listed, "1")
    if field == "drop_dependencies":
        assert after.dependencies == (THIRD,)
    else:
        is_there(after, bare, field)
