"""`--awaiting`: with a list of kinds, bare, or with nothing after `=`."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from pro0.errors import BadInput
from pro0.model.task import Awaiting

F = TypeVar("F", bound=Callable[..., Any])
NOTHING = frozenset({"null", "none", ""})
"""The words that mean no value."""


def filter_option(about: str) -> Callable[[F], F]:
    """Return the option as a filter: given without a value it means any kind."""
    return click.option("--awaiting", metavar="[KIND,...]", is_flag=False, flag_value="", help=about)


def kinds(text: str) -> frozenset[Awaiting]:
    """Return the kinds in a list with commas, all of them for an empty one; raises BadInput for another word."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    return frozenset(map(kind, words)) or frozenset(Awaiting)


def kind(word: str) -> Awaiting:
    """Return one kind, or raise BadInput."""
    try:
        return Awaiting(word)
    except ValueError:
        kinds = ", ".join(Awaiting)
        raise BadInput(f"a task cannot await {word!r}", hint=f"one of {kinds}") from None


def is_list(text: str) -> bool:
    """Return True for a list of kinds, False for the word after a bare `--awaiting`."""
    return all(word.strip() in (*Awaiting, "") for word in text.split(","))
