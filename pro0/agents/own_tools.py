"""What every agent may use of pro0 without asking: its MCP server, and the commands that only talk to the team."""

from pro0.agents.adapter import Brief

SERVER = "pro0"
"""The name of the MCP server, as agents show it before its tools."""
COMMANDS = ("inbox", "send", "broadcast", "shutdown", "task", "plan")
"""The commands of `pro0` that start nothing: an agent's `run` of a task waits for a person (behaviour 2.9)."""

TAGS = ("PRO0_INCARNATION", "PRO0_TEAM_UID")
"""What a guard adds, by which it finds what belongs to its session."""


def server(brief: Brief) -> tuple[str, ...]:
    """Return the words that start the MCP server."""
    return (*brief.pro0, "mcp")


def variables(brief: Brief) -> list[str]:
    """Return the names of the variables that say who a member is, for agents that keep theirs from the server."""
    return sorted({name for name in brief.environment if name.startswith("PRO0_")} | set(TAGS))
