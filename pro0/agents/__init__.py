"""Agents: which programs a member can run."""

from importlib import import_module
from typing import TYPE_CHECKING, cast

from pro0.errors import BadInput

if TYPE_CHECKING:
    from pro0.agents.adapter import Adapter

AGENTS = {
    "claude": "pro0.agents.claude:CLAUDE",
    "codex": "pro0.agents.codex:CODEX",
    "command": "pro0.agents.command:COMMAND",
    "gemini": "pro0.agents.gemini:GEMINI",
    "opencode": "pro0.agents.opencode:OPENCODE",
    "pi": "pro0.agents.pi:PI",
    "shell": "pro0.agents.shell:SHELL",
}


def adapter_named(name: str) -> "Adapter":
    """Return the adapter of that agent, or raise BadInput."""
    if name not in AGENTS:
        raise BadInput(f"there is no agent {name!r}", hint=f"one of {', '.join(sorted(AGENTS))}")
    module, _, attribute = AGENTS[name].partition(":")
    return cast("Adapter", getattr(import_module(module), attribute))
