"""Agents: the programs a member can run."""

from importlib import import_module
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from pro0.errors import BadInput

if TYPE_CHECKING:
    from pro0.agents.adapter import Adapter
    from pro0.model.agent import Definition
    from pro0.model.team import Seat

AGENTS = {
    "claude": "pro0.agents.claude.adapter:CLAUDE",
    "codex": "pro0.agents.codex.adapter:CODEX",
    "command": "pro0.agents.command:COMMAND",
    "gemini": "pro0.agents.gemini.adapter:GEMINI",
    "opencode": "pro0.agents.opencode.adapter:OPENCODE",
    "pi": "pro0.agents.pi.adapter:PI",
    "runner": "pro0.agents.runner:RUNNER",
    "shell": "pro0.agents.shell:SHELL",
}


def adapter_named(name: str) -> "Adapter":
    """Return the adapter of the agent of that name; raises BadInput for an unknown name."""
    if name not in AGENTS:
        raise BadInput(f"there is no agent {name!r}", hint=f"one of {', '.join(sorted(AGENTS))}")
    module, _, attribute = AGENTS[name].partition(":")
    return cast("Adapter", getattr(import_module(module), attribute))


def adapter_of(seat: "Seat") -> "Adapter":
    """Return the adapter of a seat's agent; the seat's own definition comes first."""
    adapter = defined(seat.agent, seat.definition)
    return replace(adapter, passes=(*adapter.passes, *adapter.passes_of(seat))) if adapter.passes_of else adapter


def defined(name: str, definition: "Definition | None") -> "Adapter":
    """Return the adapter of a definition from the settings; without one, pro0's own adapter of that name."""
    if definition is None:
        return adapter_named(name)
    from pro0.agents.custom import custom

    return custom(name, definition)
