"""Each field and act of a task is reached from the command line and by a tool, or stands here with its reason."""

from datetime import UTC, datetime
from inspect import signature

import msgspec
import pytest
from msgspec.structs import replace

from pro0.cli.task.look import _fields
from pro0.mcp.tools.table import TOOLS
from pro0.mcp.views import TaskDetail
from pro0.model.task import Awaiting, Changes, Draft, Gate, Kind, Policy, Task, Wait
from pro0.rules.tasks.acts import Act
from pro0.rules.tasks.board import Board
from tests.cli.conftest import commands

COMMANDS = dict(commands())
NAMED = {"type": "kind", "add_dependencies": "add_dependency", "drop_dependencies": "drop_dependency"}
"""A field → the option, where both have names of their own."""
CALLED = {"blocked_by": "dependencies", "role": "role_id"}
"""A field → the parameter of the tool, where both have names of their own."""
FILES_ONLY = "names a task within one file of tasks"
DELEGATED = "pro0 delegate and its tool have it"
PERSONS = "a person's to set: it decides what an agent may do or complete"
NOT_MADE_BY: dict[str, dict[str, str]] = {
    "command": {"key": FILES_ONLY, "agent": DELEGATED, "shared": DELEGATED},
    "tool": {
        "key": FILES_ONLY,
        "agent": DELEGATED,
        "shared": DELEGATED,
        "type": "an agent groups tasks by subtasks",
        "timeout": "the limit of a command goes with the person's agreement to it",
        "awaiting": "ticket_request_review and task_request_review hand a task to a person",
        "policy": PERSONS,
    },
}
NOT_CHANGED_BY: dict[str, dict[str, str]] = {
    "command": {},
    "tool": {"run": PERSONS, "timeout": PERSONS, "role": PERSONS, "requires": PERSONS},
}


COUNTED = "pro0 keeps count of it, for its limits and for `pro0 team cost`"
STORED = "the store and the lead need it, and an agent does nothing with it"
NOT_TOLD_AGENTS: dict[str, str] = {
    **dict.fromkeys(("iterations", "review_cycles", "escalations"), COUNTED),
    **dict.fromkeys(("input_tokens", "output_tokens", "cost_usd"), COUNTED),
    **dict.fromkeys(
        ("claim", "epoch", "session", "start", "shared", "open_before", "origin", "history", "earlier"), STORED
    ),
    **dict.fromkeys(("created_at", "updated_at", "started_at", "claimed_at", "completed_at", "closed_reason"), STORED),
    **dict.fromkeys(("unagreed", "requires", "policy", "timeout"), PERSONS),
    **dict.fromkeys(("agent", "branch", "base_branch", "worktree"), "list_workers and its like show it"),
    "type": "its subtasks tell an epic",
    "role": "it is in the instructions of the session that has it",
    "waits_for": "`note` tells it",
}
"""Fields of a task that `get_task` leaves out; `task show --json` has each."""


class Reason(str):
    """Why an act has no command or no tool."""


LEADS_OWN = Reason("the lead does it by itself")
VERDICT = Reason("a verdict is a person's")
ACTS: dict[Act, tuple[str, str]] = {
    Act.CLAIM: ("task claim", "claim_task"),
    Act.START: ("task start", LEADS_OWN),
    Act.UNDO_START: (LEADS_OWN, LEADS_OWN),
    Act.WISH: ("task start", Reason("a person starts a tree")),
    Act.ASSIGN: ("task assign", "assign_task"),
    Act.RELEASE: ("task release", "release_task"),
    Act.COMPLETE: ("task complete", "complete_task"),
    Act.HAND_OFF: ("task update", "task_request_review"),
    Act.FAIL: ("task fail", "task_mark_failed"),
    Act.DIED: (LEADS_OWN, LEADS_OWN),
    Act.HOLD: ("task update", Reason("a person holds a task")),
    Act.CLEAR: ("task update", Reason("a person takes a hold back")),
    Act.APPROVE: ("task approve", VERDICT),
    Act.REJECT: ("task reject", VERDICT),
    Act.RETRY: ("task retry", "retry_task"),
    Act.CONTINUE: ("task continue", VERDICT),
    Act.CLOSE: ("task close", VERDICT),
    Act.CANCEL: ("task cancel", "cancel_task"),
    Act.SETTLE: (LEADS_OWN, LEADS_OWN),
    Act.REVIEW: (LEADS_OWN, LEADS_OWN),
    Act.REOPEN: ("task reopen", Reason("a person reopens what is settled")),
}
"""An act → its command and its tool, or why there is none."""


PRO0S_OWN = {name for name, reason in NOT_TOLD_AGENTS.items() if reason in (COUNTED, STORED)} - {"shared"} | {
    *("id", "status", "result", "created_by", "unagreed", "waits_for", "branch", "base_branch", "worktree"),
}
"""Fields of a task that come about by what is done to it."""
SHOWN_BY_WORKER = {"agent", "shared"}
"""Fields that `pro0 worker show` tells."""
SAMPLES: dict[str, object] = {
    "title": "other",
    "description": "t\n\nmore of it",
    "acceptance": "it is so",
    "type": Kind.EPIC,
    "labels": ("area:x",),
    "run": "make",
    "timeout": 5.0,
    "parent": "task-2",
    "dependencies": ("task-3",),
    "priority": 4,
    "assignee": "w1",
    "role": "reviewer",
    "requires": Gate.REVIEW,
    "awaiting": Wait(kind=Awaiting.INPUT, by="w1", since=datetime(2026, 1, 1, tzinfo=UTC)),
    "policy": Policy.DISPATCH,
}
"""A value of each field that somebody may set."""


def options(command: str) -> set[str]:
    return {parameter.name or "" for parameter in COMMANDS[f"pro0 {command}"].params}


def parameters(*tools: str) -> set[str]:
    return {name for tool in tools for name in signature(TOOLS[tool].function).parameters}


def fields(kind: type[msgspec.Struct]) -> set[str]:
    return {field.name for field in msgspec.structs.fields(kind)}


@pytest.mark.parametrize(
    ("kind", "command", "tool", "exceptions"),
    [(Draft, "task create", "create_task", NOT_MADE_BY), (Changes, "task update", "update_task", NOT_CHANGED_BY)],
)
def test_each_field_is_an_option_and_a_parameter(
    kind: type[msgspec.Struct], command: str, tool: str, exceptions: dict[str, dict[str, str]]
) -> None:
    given, called = options(command), parameters(tool)
    lacking = {name for name in fields(kind) if NAMED.get(name, name) not in given}
    assert lacking == set(exceptions["command"]), f"pro0 {command} has no option for a field of {kind.__name__}"
    lacking = {name for name in fields(kind) if CALLED.get(name, name) not in called}
    assert lacking == set(exceptions["tool"]), f"{tool} has no parameter for a field of {kind.__name__}"


def test_each_act_has_its_command_and_its_tool() -> None:
    assert set(ACTS) == set(Act)
    for command, tool in ACTS.values():
        assert isinstance(command, Reason) or f"pro0 {command}" in COMMANDS
        assert isinstance(tool, Reason) or tool in TOOLS


def test_each_field_is_shown_by_the_tool() -> None:
    lacking = fields(Task) - fields(TaskDetail)
    assert lacking == set(NOT_TOLD_AGENTS), "TaskDetail of mcp/views.py shows it, or it stands here with its reason"


def test_each_field_is_set_by_somebody() -> None:
    lacking = fields(Task) - fields(Draft)
    assert lacking == PRO0S_OWN | {"dependencies"}, "a Draft has it (as `blocked_by` for dependencies), or pro0 alone"


@pytest.mark.parametrize("field", sorted(fields(Task) - PRO0S_OWN - SHOWN_BY_WORKER))
def test_each_field_that_somebody_sets_is_shown_on_the_command_line(field: str) -> None:
    assert field in SAMPLES, f"give {field} a value in SAMPLES, and let `pro0 task show` tell it"
    bare = Task(id="task-1", title="t")
    told = _fields(Board((bare,)), bare, ())
    task = replace(bare, **{field: SAMPLES[field]})
    assert _fields(Board((task,)), task, ()) != told, f"`pro0 task show` says nothing of {field}"
