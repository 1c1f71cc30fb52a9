"""What agents are told names only tools that exist, and that they have (issue 4, item 9; AC-60)."""

import re

import pytest

from pro0.mcp.listing import KINDS
from pro0.mcp.tools.schema import offered
from pro0.mcp.tools.table import TOOLS
from pro0.mcp.tools.tool import Tool
from pro0.rules.words.instructions import instructions, unread_here
from tests.house.source import package, strings

TELLING = tuple(f"pro0.rules.words.{name}" for name in ("prompts", "welcome", "instructions", "assignment", "presets"))
NAME = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
KEPT = {*KINDS, "agent_id"}
"""Words of that form that are no tools: kinds of callers, what is put into a text."""


def named(text: str) -> set[str]:
    return set(NAME.findall(re.sub(r"\{[^}]*\}|`[^`]*`", "", text)))


@pytest.mark.parametrize("module", TELLING)
def test_every_tool_that_a_text_names_exists(module: str) -> None:
    texts = [str(node.value) for node in strings(package()[module])]
    assert set().union(*map(named, texts)) - KEPT <= set(TOOLS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_caller_is_told_of_tools_that_it_has(kind: str) -> None:
    told = named(instructions(kind)) | named(unread_here(2))
    assert {"check_messages", "list_tasks"} & told
    assert told <= {tool.name for tool in offered(kind)}


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_what_a_tool_says_of_others_is_true_of_its_callers(tool: Tool) -> None:
    for name in named(tool.about) & set(TOOLS):
        assert tool.callers <= TOOLS[name].callers


def test_a_name_is_found_in_a_text() -> None:
    assert named("call check_messages, not `pro0 task_x` for {agent_id}") == {"check_messages"}
