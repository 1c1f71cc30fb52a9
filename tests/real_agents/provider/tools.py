"""How each agent calls a tool: the model's plain name, and the name under which the agent offers it."""

from collections.abc import Callable
from typing import NamedTuple

from tests.real_agents.provider.turns import Call

Arguments = dict[str, object]


class Named(NamedTuple):
    """A call by the name that the agent knows."""

    name: str
    namespace: str
    arguments: Arguments


def _described(call: Arguments) -> Arguments:
    return {"command": call["command"], "description": "Run a command"}


def _outside_sandbox(call: Arguments) -> Arguments:
    asking = {"sandbox_permissions": "require_escalated", "justification": "May I run this?"}
    return {"cmd": call["command"], "yield_time_ms": 30_000, **(asking if call["outside"] else {})}


SHELLS: dict[str, Callable[[Arguments], Arguments]] = {
    "Bash": _described,  # claude
    "bash": _described,  # opencode, pi
    "run_shell_command": _described,  # gemini
    "exec_command": _outside_sandbox,  # codex
}
PATTERNS = ("mcp__pro0__{}", "pro0_{}", "mcp_pro0_{}", "{}")
"""The names of pro0's tools, as claude, opencode, gemini, and codex and pi offer them."""


def named(call: Call, offered: dict[str, str]) -> Named:
    """Return a call as this agent wants it; a tool that it does not offer is called all the same."""
    if call.tool == "shell":
        for name, arguments in SHELLS.items():
            if name in offered:
                return Named(name, "", arguments(call.arguments))
    names = [pattern.format(call.tool) for pattern in PATTERNS]
    name = next((name for name in names if name in offered), call.tool)
    return Named(name, offered.get(name, ""), call.arguments)
