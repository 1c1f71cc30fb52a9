"""The lists that are kept beside the code are those of the table, and say what agents can use."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pro0.errors import Refused
from pro0.mcp import listing
from pro0.mcp.listing import KINDS
from pro0.mcp.tools.schema import POOL, described, documents
from pro0.mcp.tools.table import TOOLS, failed
from pro0.model.caller import Who
from pro0.ops.catalog import OPERATIONS

LONGEST = 240
"""Letters of a description: every agent has all of them in its context."""


def listed(kind: str) -> list[dict[str, Any]]:
    found = json.loads(Path(listing.file(kind)).read_bytes())["tools"]
    assert isinstance(found, list)
    return found


def test_the_committed_lists_are_current() -> None:
    committed = {path.stem: path.read_text(encoding="utf-8") for path in Path(listing.FOLDER).iterdir()}
    assert committed == documents(), "run `make schemas`"


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_tool_is_offered_only_to_those_whose_operation_it_is(tool: Any) -> None:
    """Law 2: OPERATIONS says who may call; an agent from outside does it as the lead agent that it becomes."""
    by = OPERATIONS[tool.operation].by
    assert {who for who in tool.callers if who is not Who.OUTSIDE} <= by
    assert Who.OUTSIDE not in tool.callers or by & {Who.OUTSIDE, Who.LEAD_AGENT}
    assert Who.HUMAN not in tool.callers


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_tool_says_what_it_does_and_takes(tool: Any) -> None:
    """In flat schemas, which every client understands: no references and no choices in what is sent."""
    found: Any = described(tool)
    about, inputs, outputs = found["description"], found["inputSchema"], found["outputSchema"]
    assert about.endswith(".")
    assert len(about) <= LONGEST
    for schema in (inputs, outputs):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
    assert inputs["additionalProperties"] is False
    assert "$ref" not in json.dumps(inputs)
    assert "anyOf" not in json.dumps(inputs)
    assert all(value.get("type") for value in inputs["properties"].values())


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_an_error_fits_the_schema_of_its_tool(tool: Any) -> None:
    """Clients in TypeScript check errors too (SDK 1.x), and show their model no error that does not fit."""
    error = json.loads(failed(Refused("no", hint="do that"))["structuredContent"])
    schema: Any = described(tool)["outputSchema"]
    jsonschema.validate(error, schema)


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_knows_what_only_looks_and_what_takes_away(kind: str) -> None:
    hints = {tool["name"]: tool["annotations"] for tool in listed(kind)}
    reading = {name for name, said in hints.items() if said.get("readOnlyHint")}
    assert {name for name in hints if not OPERATIONS[TOOLS[name].operation].changes} == reading
    ending = {name for name, said in hints.items() if said.get("destructiveHint")}
    assert ending == {"stop_team", "cleanup_team", "shutdown_teammate", "cancel_task", "kill_worker"} & hints.keys()
    assert not reading & ending


def test_both_families_of_task_tools_are_the_same() -> None:
    """AC-55, rulings 3.15: task_* = ticket_*; over MCP. The second says so: nobody has to find out which to call."""
    for tool in TOOLS.values():
        if tool.name.startswith("task_"):
            twin = TOOLS[tool.name.replace("task_", "ticket_")]
            assert (twin.function, twin.callers, twin.operation) == (tool.function, tool.callers, tool.operation)
            assert (tool.same_as, twin.same_as) == ("", tool.name)
            assert twin.about == f"{twin.worded(tool.about)} The same tool as {tool.name}."


@pytest.mark.parametrize("kind", KINDS)
def test_of_two_names_the_first_is_offered_first(kind: str) -> None:
    """An agent's client takes a call only of what is listed, so both are: who is told of tickets finds them."""
    tools = listed(kind)
    names = [tool["name"] for tool in tools]
    second = [tool for tool in tools if TOOLS[tool["name"]].same_as]
    assert {tool["name"] for tool in second} == {name for name in names if name.startswith("ticket_")}
    for tool in second:
        first = TOOLS[tool["name"]].same_as
        assert names.index(first) < names.index(tool["name"])
        assert tool["description"].endswith(f" The same tool as {first}.")


def test_teammates_never_spawn() -> None:
    """Rulings 3.16."""
    names = {tool["name"] for tool in listed("member")}
    assert not names & {
        "create_team",
        "spawn_teammate",
        "shutdown_teammate",
        "cleanup_team",
        "assign_task",
        "delegate_tasks",
    }
    assert {"claim_task", "complete_task", "message", "check_messages", "get_team_members"} <= names
    assert {"approve_shutdown", "reject_shutdown", "list_tasks", "get_claimable_tasks"} <= names


def test_the_lead_agent_has_the_tools_that_are_asked_for() -> None:
    """S004-044 to 049 and rulings 3.16."""
    names = {tool["name"] for tool in listed("lead_agent")}
    assert {"spawn_teammate", "message_teammate", "broadcast", "shutdown_teammate", "list_teammates"} <= names
    assert {"create_task", "list_tasks", "assign_task", "check_messages", "cleanup_team"} <= names
    assert {"delegate_tasks", "list_workers", "kill_worker", "merge_worker"} <= names
    assert "create_team" not in names


def test_only_an_agent_outside_any_team_makes_one() -> None:
    """Rulings 3.16; the tools that it gets then are listed from the start: a list never changes with a call."""
    outside, lead = ({tool["name"] for tool in listed(kind)} for kind in ("outside", "lead_agent"))
    assert outside - lead == {"create_team"}
    assert not lead - outside


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_is_that_of_its_caller(kind: str) -> None:
    who = listing.MEMBER if kind == listing.ONE_TASK else kind
    names = [name for name, tool in TOOLS.items() if who in tool.callers]
    pool = POOL if kind == listing.ONE_TASK else ()
    assert [tool["name"] for tool in listed(kind)] == [name for name in names if name not in pool]
