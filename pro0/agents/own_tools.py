"""The parts of pro0 open to every agent without asking: its MCP server, and the commands for talking to the team."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pro0 import looking
from pro0.agents.adapter import Brief

SERVER = "pro0"
"""The name of the MCP server, as agents show it before its tools."""
COMMANDS = ("inbox", "send", "broadcast", "shutdown", "task", "plan")
"""The commands of `pro0` that start no program; a task's `run` set by an agent waits for a person (behaviour 2.9)."""
TOOL = "[a-z]+(_[a-z]+)*"
"""The pattern of the server's tool names. Two underscores would end the name of another server."""

TAGS = ("PRO0_INCARNATION", "PRO0_TEAM_UID")
"""The variables a guard adds; by them it finds the processes of its session."""


def server(brief: Brief) -> tuple[str, ...]:
    """Return the words of the command starting the MCP server."""
    return (*brief.pro0, "mcp")


def variables(brief: Brief) -> list[str]:
    """Return the names of a member's identity variables, for agents hiding theirs from the server."""
    return sorted({name for name in brief.environment if name.startswith("PRO0_")} | set(TAGS))


class Registration(NamedTuple):
    """A settings file of an agent, its key for MCP servers, and the command to remove ours."""

    file: str
    key: str
    removal: str


OF_PERSON = (
    Registration(".claude.json", "mcpServers", "claude mcp remove pro0 -s user"),
    Registration(".codex/config.toml", "mcp_servers", "codex mcp remove pro0"),
    Registration(".gemini/settings.json", "mcpServers", "gemini mcp remove pro0 -s user"),
    Registration(".config/opencode/opencode.json", "mcp", ""),
)
OF_PROJECT = (
    Registration(".mcp.json", "mcpServers", "claude mcp remove pro0 -s project"),
    Registration(".gemini/settings.json", "mcpServers", "gemini mcp remove pro0 -s project"),
    Registration("opencode.json", "mcp", ""),
)
LARGEST = 64 << 20


def registered(folder: Path, places: tuple[Registration, ...]) -> Iterator[Registration]:
    """Yield the places below a folder with our server registered, each with its full path."""
    for place in places:
        path = folder / place.file
        content = _content(path)
        if SERVER in _table(content, place.key):
            yield place._replace(file=str(path))
        for project, settings in _table(content, "projects").items():
            if SERVER in _table(settings, place.key):
                yield Registration(str(path), f"projects, {project}, {place.key}", "claude mcp remove pro0 -s local")


def _content(path: Path) -> object:
    """Return the content of a settings file, None for a missing or unreadable one."""
    import json
    import tomllib

    try:
        if not looking.is_file(path) or path.stat().st_size > LARGEST:
            return None
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError, RecursionError):
        return None


def _table(content: object, key: str) -> Mapping[str, object]:
    table = content.get(key) if isinstance(content, Mapping) else None
    return table if isinstance(table, Mapping) else {}
