"""Backends: the places for showing sessions, such as tmux or iTerm2."""

from importlib import import_module
from typing import TYPE_CHECKING, cast

from pro0.errors import BadInput

if TYPE_CHECKING:
    from pro0.sessions.backend import Backend

BACKENDS = {
    "headless": "pro0.sessions.headless:Headless",
    "in-process": "pro0.sessions.in_process:InProcess",
    "iterm2": "pro0.sessions.iterm2.backend:ITerm2",
    "memory": "pro0.sessions.memory:InMemory",
    "tmux": "pro0.sessions.tmux.backend:Tmux",
}


def backend_named(name: str) -> "Backend":
    """Return the backend of that name, or raise BadInput."""
    if name not in BACKENDS:
        raise BadInput(f"there is no backend {name!r}", hint=f"one of {', '.join(sorted(BACKENDS))}")
    module, _, attribute = BACKENDS[name].partition(":")
    return cast("Backend", getattr(import_module(module), attribute)())
