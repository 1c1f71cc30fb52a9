"""Screen rules by program: of agents with an adapter, and of programs run as a `command` member."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from pro0.errors import NotFound
from pro0.model.agent import DRAWN

if TYPE_CHECKING:
    from pro0.rules.screens.screens import Drawing


def drawing_named(name: str) -> "Drawing":
    """Return the screen rules of that program; raises NotFound for an unknown one."""
    if name not in DRAWN:
        raise NotFound(f"no screens of {name!r} are known", hint=f"one of {', '.join(DRAWN)}")
    return cast("Drawing", loaded(DRAWN[name]))


@cache
def loaded(place: str) -> object:
    """Return the object at `module:attribute` below `pro0.agents`."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(f"pro0.agents.{module}"), attribute)
