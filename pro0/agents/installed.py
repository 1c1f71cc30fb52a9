"""Is the program of an agent installed?"""

import shutil

from pro0.agents import adapter_named
from pro0.agents.adapter import Adapter
from pro0.errors import EnvironmentMissing, ErrorCode
from pro0.model.agent import PROGRAMS
from pro0.model.run import RUNNER

_FIRST = ("claude", "codex", "opencode", "gemini", "pi")
_NOT_USUAL = (*_FIRST, RUNNER)
USUAL = (*_FIRST, *(name for name, own in PROGRAMS.items() if own.adapter and own.modes and name not in _NOT_USUAL))
"""The default agents, in order; the first installed one is used."""


def first_installed() -> str | None:
    """Return the first installed default agent, None when none is installed."""
    return next((name for name in USUAL if shutil.which(adapter_named(name).program)), None)


def require(adapter: Adapter, path: str) -> None:
    """Raise EnvironmentMissing, with the way to install it, when an agent's program is not on that PATH."""
    if adapter.program and not shutil.which(adapter.program, path=path):
        message = f"{adapter.program}, which the agent {adapter.name} runs, is not installed"
        raise EnvironmentMissing(message, code=ErrorCode.AGENT_MISSING, hint=how_to_get(adapter))


def how_to_get(adapter: Adapter) -> str:
    """Return the way to install an agent's program."""
    return adapter.install or f"install {adapter.program}"
