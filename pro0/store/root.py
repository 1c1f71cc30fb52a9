"""The store's root, and the session named by a guard's argument; almost no imports, since many guards start at once."""

import os
from collections.abc import Mapping

HOME_VARIABLE = "PRO0_HOME"
TEAMS, SESSIONS = "teams", "sessions"
KINDS = (TEAMS, "tasks", "mailboxes")
"""The home's folders that have one sub-folder for each team."""
RUNTIME = "runtime.json"
RUNTIME_OF = "runtime-"
"""The beginning of that record's name for a machine that has joined a team; the machine's name follows."""
STORE = "store.json"
"""The file in a team's folder that says where its documents are; missing when they are files."""
LAUNCH = ".start.json"
"""The end of a launch file's name, in `sessions`."""
DOCUMENT = ".json"
HOSTS, HOSTED_LAUNCH = "hosted", "start.json"
"""The folder of the sessions that are run for other machines, and the launch file of each."""


def root(environment: Mapping[str, str]) -> str:
    """Return the store's root as configured, PRO0_HOME or else ~/.pro0; `paths.home` checks it."""
    return environment.get(HOME_VARIABLE) or os.path.expanduser("~/.pro0")  # noqa: PTH111 - pathlib takes long to import


def launched(argument: str) -> tuple[str, str, str] | None:
    """Return home, team and incarnation from a guard's argument, a launch file's path; None for any other text."""
    home, _, rest = argument.rpartition(f"/{TEAMS}/")
    team, _, name = rest.partition(f"/{SESSIONS}/")
    incarnation = name.removesuffix(LAUNCH)
    if not home.startswith("/") or "/" in team + name or not team or incarnation in ("", name):
        return None
    return home, team, incarnation


def hosted(argument: str) -> str | None:
    """Return the session, run here for another machine, that a guard's argument names; None for any other text."""
    folder, _, there = argument.removesuffix(f"/{HOSTED_LAUNCH}").rpartition(f"/{HOSTS}/")
    return there if folder and there and "/" not in there and argument.endswith(f"/{HOSTED_LAUNCH}") else None


def teams_of(home: str, kind: str = TEAMS) -> list[str]:
    """Return all team folders below one folder of a home; none when the folder is missing."""
    folder = f"{home}/{kind}"
    try:
        return [f"{folder}/{name}" for name in os.listdir(folder) if not name.startswith(".")]
    except OSError:
        return []


def shared(first_home: str, second_home: str, team: str) -> bool:
    """Return True when two homes are one, or share a folder or this team's folders; files are compared, not paths."""
    if alike(first_home, second_home):
        return True
    for kind in KINDS:
        if alike(f"{first_home}/{kind}", f"{second_home}/{kind}"):
            return True
        if any(alike(folder, f"{second_home}/{kind}/{team}") for folder in teams_of(first_home, kind)):
            return True
    return False


def alike(first_path: str, second_path: str) -> bool:
    """Return True when two paths lead to the same file, through any mounts and links."""
    try:
        return first_path == second_path or os.path.samestat(os.stat(first_path), os.stat(second_path))
    except (OSError, ValueError):
        return False
