"""Is the program of an agent there?"""

import shutil

from pro0.agents import adapter_named
from pro0.agents.adapter import Adapter
from pro0.errors import EnvironmentMissing

USUAL = ("claude", "codex", "opencode", "gemini", "pi")
"""The agents that are taken where none is named, the first that is installed."""


def first_installed() -> str | None:
    """Return the agent that is taken where none is named, None when none of them is installed."""
    return next((name for name in USUAL if shutil.which(adapter_named(name).program)), None)


def require(adapter: Adapter, path: str) -> None:
    """Raise EnvironmentMissing, saying how to get it, when the program of an agent is nowhere on that PATH."""
    if adapter.program and not shutil.which(adapter.program, path=path):
        what = f"{adapter.program}, which the agent {adapter.name} runs, is not installed"
        raise EnvironmentMissing(what, code="agent_missing", hint=how_to_get(adapter))


def how_to_get(adapter: Adapter) -> str:
    """Return how to get the program of an agent."""
    return adapter.install or f"install {adapter.program}"
