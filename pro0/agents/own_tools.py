"""The parts of pro0 open to every agent without asking: its MCP server, and the commands for talking to the team."""

from pro0.agents.adapter import Brief

SERVER = "pro0"
"""The name of the MCP server, as agents show it before its tools."""
COMMANDS = ("inbox", "send", "broadcast", "shutdown", "task", "plan")
"""The commands of `pro0` starting nothing; an agent's `run` of a task waits for a person (behaviour 2.9)."""

TAGS = ("PRO0_INCARNATION", "PRO0_TEAM_UID")
"""The variables a guard adds; by them it finds the processes of its session."""


def server(brief: Brief) -> tuple[str, ...]:
    """Return the words of the command starting the MCP server."""
    return (*brief.pro0, "mcp")


def variables(brief: Brief) -> list[str]:
    """Return the names of a member's identity variables, for agents hiding theirs from the server."""
    return sorted({name for name in brief.environment if name.startswith("PRO0_")} | set(TAGS))
