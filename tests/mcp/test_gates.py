"""No tool goes around a gate (issue 6, must show 6; rulings 2.3: an MCP caller is never human)."""

from itertools import product
from pathlib import Path

import pytest

from pro0.mcp.protocol import Call
from pro0.mcp.tool_context import ToolContext
from pro0.mcp.tools.table import perform
from pro0.mcp.tools.tool import TOOLS
from pro0.model.caller import Who
from pro0.ops.catalog import OPERATIONS
from pro0.ops.signature import arguments_of
from tests.crash.lanes import a_few
from tests.gated import STATES, Homes, furnish
from tests.teams import granted

GIVEN: dict[str, object] = {
    "task_id": "1",
    "title": "x",
    "description": "x",
    "result": "all done",
    "error": "x",
    "reason": "x",
    "content": "approved",
    "message": "approved",
    "teammate_name": "w1",
    "to": "lead",
    "parent": "1",
    "run": "true",
    "requires": "content",
    "awaiting": "work",
}
"""What a tool is given for the arguments that it has, in two ways: only those it must have, and all."""
ENDS_A_TEAM = {"create_team", "stop_team", "cleanup_team", "spawn_teammate", "shutdown_teammate"}


@pytest.mark.parametrize(("state", "agent"), a_few(product(STATES, ("w1", "lead", "")), 30))
def test_no_tool_goes_around_a_gate(state: str, agent: str, tmp_path: Path) -> None:
    made = furnish(tmp_path / "template", state)
    environment = granted(made, agent) if agent else {"PRO0_TEAM": "alpha"}
    homes = Homes(tmp_path / "template", tmp_path / "home")
    bypasses, moved = [], set()
    for name, tool in TOOLS.items():
        if name in ENDS_A_TEAM or not OPERATIONS[tool.operation].changes:
            continue
        kind = arguments_of(tool.function)
        must = {field for field in kind.__struct_fields__ if field in GIVEN}
        ways: tuple[dict[str, object], ...] = ({one: GIVEN[one] for one in must}, {"task_id": "1"}, {})
        for given in ways:
            homes.team()
            tool_context = ToolContext(environment, homes.home)
            perform(tool, tool_context, Call(1, name, given, lambda *_: None, stateless=True))
            bypasses += [(name, given, fault) for fault in homes.faults(tool_context.caller.who)]
            moved |= {name} if homes.moved() else set()
    assert not bypasses
    if (state, agent) == ("in progress", "w1"):
        assert moved >= {"complete_task", "release_task", "task_mark_failed", "ticket_request_review"}


def test_an_agent_is_never_a_human_here(tmp_path: Path) -> None:
    assert ToolContext({}, tmp_path).caller.who is Who.OUTSIDE
