"""Screen rules by program: of agents with an adapter, and of programs run as a `command` member."""

from importlib import import_module
from typing import TYPE_CHECKING, cast

from pro0.errors import NotFound

if TYPE_CHECKING:
    from pro0.rules.screens.screens import Drawing

DRAWINGS = {
    "aider": "pro0.agents.screens.aider:AIDER_SCREENS",
    "claude": "pro0.agents.claude.screens:CLAUDE_SCREENS",
    "codex": "pro0.agents.codex.screens:CODEX_SCREENS",
    "copilot": "pro0.agents.screens.copilot:COPILOT_SCREENS",
    "gemini": "pro0.agents.gemini.screens:GEMINI_SCREENS",
    "opencode": "pro0.agents.opencode.screens:OPENCODE_SCREENS",
    "pi": "pro0.agents.pi.screens:PI_SCREENS",
    "qwen": "pro0.agents.screens.qwen:QWEN_SCREENS",
}


def drawing_named(name: str) -> "Drawing":
    """Return the screen rules of that program; raises NotFound for an unknown one."""
    if name not in DRAWINGS:
        raise NotFound(f"of {name!r} no screens are known", hint=f"one of {', '.join(sorted(DRAWINGS))}")
    module, _, attribute = DRAWINGS[name].partition(":")
    return cast("Drawing", getattr(import_module(module), attribute))
