"""How each agent calls a tool: the model's plain name, and the name under which the agent offers it."""

import shlex
from collections.abc import Callable
from typing import NamedTuple

from pro0.scripted_model.turns import ToolCall

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
COMMANDS: dict[str, tuple[str, ...]] = {
    "claim_task": ("task", "claim", "task_id"),
    "complete_task": ("task", "complete", "task_id", "result"),
    "release_task": ("task", "release", "task_id", "reason"),
    "message": ("send", "to", "content"),
    "check_messages": ("inbox",),
    "submit_plan": ("plan", "plan"),
    "approve_shutdown": ("shutdown", "approve"),
    "reject_shutdown": ("shutdown", "reject", "reason"),
}
"""The same acts as commands, with arguments by name, for an agent that does not have the tools."""


def named(call: ToolCall, offered: dict[str, str]) -> Named:
    """Return a call in the form of this agent; a tool that the agent does not offer is called all the same."""
    names = [pattern.format(call.tool) for pattern in PATTERNS]
    if name := next((name for name in names if name in offered and call.tool != "shell"), None):
        return Named(name, offered[name], call.arguments)
    shell = next((name for name in SHELLS if name in offered), None)
    if shell and (call.tool == "shell" or call.tool in COMMANDS):
        return Named(shell, "", SHELLS[shell](call.arguments if call.tool == "shell" else _as_command(call)))
    return Named(call.tool, "", call.arguments)


def is_offered(call: ToolCall, offered: dict[str, str]) -> bool:
    """Return whether an agent offers a tool of pro0 yet: it may start before its MCP servers."""
    return any(pattern.format(call.tool) in offered for pattern in PATTERNS)


def _as_command(call: ToolCall) -> Arguments:
    command, *words = COMMANDS[call.tool]
    words_of_call = (str(call.arguments.get(word, word)) for word in words)
    return {"command": shlex.join(("pro0", command, *words_of_call)), "outside": False}
