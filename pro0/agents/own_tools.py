"""What every agent may use of pro0 without asking: its MCP server, and the commands that only talk to the team."""

from pro0.agents.adapter import Brief

SERVER = "pro0"
"""The name of the MCP server, as agents show it before its tools."""
COMMANDS = ("inbox", "send", "broadcast", "shutdown", "task")
"""The commands of `pro0` that start nothing: a `run` that an agent gives to a task waits for a person (rulings 2.9)."""


def server(brief: Brief) -> tuple[str, ...]:
    """Return the words that start the MCP server."""
    return (*brief.pro0, "mcp")
