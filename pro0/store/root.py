"""Where the store is, and whose session a guard is; with as good as no import, for programs that start in numbers."""

import os
from collections.abc import Mapping

HOME_VARIABLE = "PRO0_HOME"
TEAMS, SESSIONS = "teams", "sessions"
KINDS = (TEAMS, "tasks", "mailboxes")
"""The folders of a home that have a folder of each team."""
RUNTIME = "runtime.json"
LAUNCH = ".start.json"
"""How the name of a launch file ends, in `sessions`."""
DOCUMENT = ".json"


def root(environment: Mapping[str, str]) -> str:
    """Return the root of the store as it is said: PRO0_HOME, else ~/.pro0; `paths.home` checks it."""
    return environment.get(HOME_VARIABLE) or os.path.expanduser("~/.pro0")  # noqa: PTH111 - pathlib takes long to import


def launched(argument: str) -> tuple[str, str, str] | None:
    """Return home, team and incarnation when this looks like the path of a launch file, as guards are given."""
    home, _, rest = argument.rpartition(f"/{TEAMS}/")
    team, _, name = rest.partition(f"/{SESSIONS}/")
    incarnation = name.removesuffix(LAUNCH)
    if not home.startswith("/") or "/" in team + name or not team or incarnation in ("", name):
        return None
    return home, team, incarnation


def teams_of(home: str, kind: str = TEAMS) -> list[str]:
    """Return the folders of all teams below one of the folders of a home; none when there is no such folder."""
    folder = f"{home}/{kind}"
    try:
        return [f"{folder}/{name}" for name in os.listdir(folder) if not name.startswith(".")]
    except OSError:
        return []


def shared(home: str, other: str, team: str) -> bool:
    """Say whether two homes are one, or share folders or those of this team: by what is there, not by their paths."""
    if alike(home, other):
        return True
    for kind in KINDS:
        if alike(f"{home}/{kind}", f"{other}/{kind}"):
            return True
        if any(alike(folder, f"{other}/{kind}/{team}") for folder in teams_of(home, kind)):
            return True
    return False


def alike(one: str, other: str) -> bool:
    """Say whether two paths lead to the same thing, whatever mounts and links they go through."""
    try:
        return one == other or os.path.samestat(os.stat(one), os.stat(other))
    except (OSError, ValueError):
        return False
