"""Reading an agent's state from its title and its drawn screen, by rules that are data."""

import re
from collections.abc import Sequence

import msgspec

from pro0.model.runtime import State
from pro0.model.screen import Reading, Screen


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One sign of one state: a pattern that must be found in the title, or in the last rows of the screen."""

    name: str
    state: State
    title: str = ""
    """A regular expression that is searched in the title."""
    rows: tuple[str, ...] = ()
    """Regular expressions that must each be found in one of the last `height` rows that are not empty."""
    height: int = 0
    """How many rows from the bottom are looked at, 0 for all."""
    absent: tuple[str, ...] = ()
    """Regular expressions that must not be found in these rows."""


def read(rules: Sequence[Rule], screen: Screen) -> Reading | None:
    """Return what the first rule that fits says of a screen; None when none fits: then nothing is known."""
    for rule in rules:
        if _fits(rule, screen):
            return Reading(
                state=rule.state, source="title" if rule.title and not rule.rows else "screen", rule=rule.name
            )
    return None


def _fits(rule: Rule, screen: Screen) -> bool:
    if rule.title and not re.search(rule.title, screen.title):
        return False
    rows = [row for row in screen.rows if row.strip()][-rule.height :]
    found = all(any(re.search(pattern, row) for row in rows) for pattern in rule.rows)
    return found and not any(re.search(pattern, row) for pattern in rule.absent for row in rows)
