"""Checks of every backend before a start, and the environment of the started programs."""

import os
import re
import shutil
from collections.abc import Sequence

from pro0 import looking
from pro0.errors import BadInput, EnvironmentMissing
from pro0.processes.table import SPARED
from pro0.sessions.backend import Opening, Place

_PASSED = frozenset({"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TZ", "TMPDIR", "TMUX_TMPDIR"})
_INCARNATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")


def surroundings() -> dict[str, str]:
    """Return the part of this process's environment for sessions to see: no secret, no agent's setting."""
    return {name: value for name, value in os.environ.items() if name in _PASSED or name.startswith("LC_")}


def started_for_others() -> dict[str, str]:
    """Return the environment of guards and servers: even a lead inside a session starts them outside that session."""
    return surroundings() | {SPARED: "1"}


def elsewhere(place: Place) -> str:
    """Return the commands for a person whose team has lost its terminal."""
    return f"pro0 team stop -t {place.team}, then in the terminal that is to show it: pro0 team resume -t {place.team}"


def is_incarnation(text: str) -> bool:
    """Return True when a text can be an owner tag: tmux gives no meaning to any part of it."""
    return bool(_INCARNATION.fullmatch(text))


def check(place: Place, openings: Sequence[Opening]) -> None:
    """Raise BadInput or EnvironmentMissing when one of the openings cannot succeed."""
    if not looking.is_folder(place.project):
        raise EnvironmentMissing(f"the project folder {place.project} does not exist")
    if len({opening.incarnation for opening in openings}) < len(openings):
        raise BadInput("two openings have the same incarnation")
    for opening in openings:
        _check_one(opening)


def _check_one(opening: Opening) -> None:
    if not is_incarnation(opening.incarnation):
        raise BadInput(f"{opening.incarnation!r} cannot be an incarnation")
    if len(opening.argv) < 2:
        # tmux gives a single word to a shell, so refuse a command of one word.
        raise BadInput(f"the command of session {opening.title!r} needs a program and at least one argument")
    if not shutil.which(opening.argv[0]):
        raise EnvironmentMissing(f"session {opening.title!r} cannot start: {opening.argv[0]!r} is not a program")
