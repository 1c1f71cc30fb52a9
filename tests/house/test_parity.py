"""Each field and act of a task is reached from the command line and by a tool, or stands here with its reason."""

import re
from collections.abc import Callable
from inspect import signature
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from pro0.cli.task.look import _fields
from pro0.mcp.tools.table import TOOLS
from pro0.mcp.views import TaskDetail, task_detail
from pro0.model.task import Changes, Draft, Task
from pro0.rpc.table import METHODS
from pro0.rpc.views import TaskView, task_view
from pro0.rules.runs.turn_prompt import prompt as turn_prompt
from pro0.rules.tasks.acts import Act
from pro0.rules.tasks.board import Board
from pro0.rules.words.assignment import Assignment, first_prompt
from pro0.view import reading
from tests.cli.conftest import commands
from tests.task_fields import (
    CALLED,
    FILES_ONLY,
    FORMLESS,
    IN_JSON_RPC,
    NAMED,
    NOT_CHANGED,
    NOT_CHANGED_BY,
    NOT_MADE_BY,
    PERSONS,
    SAMPLES,
)

COMMANDS = dict(commands())
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
"""Fields of a task that `task_get` leaves out; `task show --json` has each."""
NOT_IN_JSON_RPC: dict[str, str] = {
    **dict.fromkeys(("iterations", "review_cycles", "escalations"), COUNTED),
    **dict.fromkeys(("input_tokens", "output_tokens", "cost_usd"), COUNTED),
    **dict.fromkeys(("epoch", "start", "shared", "open_before", "origin", "history", "earlier", "unagreed"), STORED),
    **dict.fromkeys(("started_at", "claimed_at", "completed_at", "worktree", "base_branch"), STORED),
    "claim": "claimed_by and session_id",
    "session": "session_id",
    "waits_for": "awaiting and reason",
}
"""Fields of a task that its object in JSON-RPC leaves out."""
NOT_ON_THE_PAGE = {
    "created_at": "its first remark tells",
    "digest": "no person reads it",
    "session_id": "`claimed_by` does",
}
"""Fields of that object that the page's panel of a task leaves out."""
BY_SHOW = "`pro0 task show` tells it, and the prompt says so"
DECIDED = "it decides who works on it and when, so it is decided when a session is told of it"
NOT_IN_PROMPTS: dict[str, dict[str, str]] = {
    "session": {
        **dict.fromkeys(("run", "timeout", "labels", "requires", "type"), BY_SHOW),
        **dict.fromkeys(("priority", "dependencies", "assignee", "awaiting", "policy"), DECIDED),
        "role": "its text stands there in its place",
    },
    "run": {
        **dict.fromkeys(("priority", "dependencies", "assignee", "role", "awaiting", "policy", "type"), DECIDED),
        "labels": "they are words to find it by",
        "timeout": "the run ends the turn by it",
        "requires": "an agent need not know of a gate",
    },
}
"""Fields that somebody sets and that the first prompt of a session, or of a turn of a run, leaves out."""
NOT_MADE_BELOW = {
    "key": FILES_ONLY,
    "parent": "the task of the session is the parent",
    **dict.fromkeys(("requires", "policy"), PERSONS),
    **dict.fromkeys(("agent", "shared", "type", "timeout", "awaiting"), "as for create_task"),
    **dict.fromkeys(("acceptance", "run", "blocked_by", "assignee", "labels"), "create_task has it"),
}
"""Fields that `task_create`, with which any session adds a task below its own, does not take."""
PAGE = Path(reading.__file__).parents[1] / "web" / "page" / "parts"


def in_a_session(task: Task) -> str:
    return first_prompt(Assignment(team="alpha", agent_id="w1", project="/src", task=task))


def in_a_run(task: Task) -> str:
    return turn_prompt(task, Task(id=task.parent, title="above") if task.parent else None, (), 1, "")


PROMPTS = {"session": in_a_session, "run": in_a_run}


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


def options(command: str) -> set[str]:
    return {parameter.name or "" for parameter in COMMANDS[f"pro0 {command}"].params}


def parameters(function: Callable[..., object]) -> set[str]:
    return set(signature(function).parameters)


def fields(kind: type[msgspec.Struct]) -> set[str]:
    return {field.name for field in msgspec.structs.fields(kind)}


@pytest.mark.parametrize(
    ("kind", "command", "tool", "exceptions"),
    [(Draft, "task create", "create_task", NOT_MADE_BY), (Changes, "task update", "update_task", NOT_CHANGED_BY)],
)
def test_each_field_is_an_option_and_a_parameter(
    kind: type[msgspec.Struct], command: str, tool: str, exceptions: dict[str, dict[str, str]]
) -> None:
    """All that is missing is told at once."""
    method = command.replace(" ", ".")
    taken = {
        "command": (NAMED, options(command)),
        "tool": (CALLED, parameters(TOOLS[tool].function)),
        "method": (IN_JSON_RPC, parameters(METHODS[method].function)),
    }
    lacking = {
        way: {name for name in fields(kind) if names.get(name, name) not in there}
        for way, (names, there) in taken.items()
    }
    expected = {way: set(without) for way, without in exceptions.items()}
    assert lacking == expected, (
        f"`pro0 {command}` takes each field of {kind.__name__} by an option, {tool} of mcp/tools/work.py and {method} "
        "of rpc/methods/tickets.py by a parameter, or tests/task_fields.py has the reason"
    )


def test_what_a_session_may_say_of_a_task_below_its_own() -> None:
    lacking = {
        name for name in fields(Draft) if CALLED.get(name, name) not in parameters(TOOLS["task_create"].function)
    }
    assert lacking == set(NOT_MADE_BELOW), "task_create of mcp/tools/ticket.py takes it, or it stands here"


@pytest.mark.parametrize("prompt", NOT_IN_PROMPTS)
@pytest.mark.parametrize("field", SAMPLES)
def test_whoever_works_is_told_each_field_by_its_prompt(prompt: str, field: str) -> None:
    bare = Task(id="task-1", title="t")
    without, told = (PROMPTS[prompt](one) for one in (bare, replace(bare, **{field: SAMPLES[field]})))
    assert (without == told) == (field in NOT_IN_PROMPTS[prompt]), (
        f"rules/words/assignment.py or rules/runs/turn_prompt.py tells {field}, or NOT_IN_PROMPTS says why not"
    )


def test_each_act_has_its_command_and_its_tool() -> None:
    assert set(ACTS) == set(Act)
    for command, tool in ACTS.values():
        assert isinstance(command, Reason) or f"pro0 {command}" in COMMANDS
        assert isinstance(tool, Reason) or tool in TOOLS


def test_each_field_is_shown_by_the_tool() -> None:
    lacking = fields(Task) - fields(TaskDetail)
    assert lacking == set(NOT_TOLD_AGENTS), "TaskDetail of mcp/views.py shows it, or it stands here with its reason"


def test_each_field_is_in_its_object_of_json_rpc() -> None:
    called = {IN_JSON_RPC.get(name, name) for name in fields(Task) - {"dependencies"}} | {"dependencies"}
    lacking = called - fields(TaskView)
    assert lacking == set(NOT_IN_JSON_RPC), "TaskView of rpc/views.py shows it, or it stands here with its reason"


def test_each_field_of_that_object_is_shown_on_the_page() -> None:
    shown = set(re.findall(r"\btask\??\.(\w+)", (PAGE / "task.js").read_text()))
    lacking = fields(TaskView) - shown
    assert lacking == set(NOT_ON_THE_PAGE), "parts/task.js shows it, or it stands here with its reason"


@pytest.mark.parametrize("method", ["task.create", "task.update"])
def test_each_parameter_of_the_method_is_given_by_the_form_of_the_page(method: str) -> None:
    form = (PAGE / "taskform.js").read_text()
    takes = parameters(METHODS[method].function) - {"client", "task_id"}
    function = form[form.index(f"function {method.removeprefix('task.')}(") :].split("\n}\n")[0]
    lacking = {name for name in takes if not re.search(rf"\b{name}\b", function)}
    assert lacking == FORMLESS[method], "parts/taskform.js gives it, or tests/task_fields.py has it"


def test_what_is_made_can_be_changed() -> None:
    lacking = fields(Draft) - fields(Changes)
    assert lacking == set(NOT_CHANGED), "Changes of model/task.py has it, or tests/task_fields.py has the reason"


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


@pytest.mark.parametrize("field", sorted(fields(Task) - PRO0S_OWN - SHOWN_BY_WORKER))
def test_each_field_that_somebody_sets_has_its_value_wherever_a_task_is_shown(field: str) -> None:
    """A field of an answer that nobody fills would be there with its default."""
    assert field in SAMPLES, f"give {field} a value in SAMPLES of tests/task_fields.py"
    bare = Task(id="task-1", title="t")
    task = replace(bare, **{field: SAMPLES[field]})
    shown, without = (replace(task_view(one), digest="") for one in (task, bare))
    assert shown != without, f"task_view of rpc/views.py leaves out {field}"
    if field not in NOT_TOLD_AGENTS:
        told = task_detail(Board((task,)), task)
        assert told != task_detail(Board((bare,)), bare), f"task_detail of mcp/views.py leaves out {field}"
