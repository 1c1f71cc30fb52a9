"""Whose is a process? Proven by what it was started with: a file may name any process, that of a stranger too."""

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from pro0 import processes, resources
from pro0.model.runtime import Process
from pro0.ops.identity import INCARNATION, MEMBER_OF, TEAM, TEAM_UID
from pro0.processes.arguments import arguments
from pro0.processes.table import SPARED
from pro0.store.paths import HOME_VARIABLE, LAUNCH
from pro0.store.teams import TeamStore

_GUARD = resources.GUARD.parts[-3:]
"""How the path of a guard's program ends, whichever pro0 has started it."""


def is_guard(team: TeamStore, process: Process, incarnation: str) -> bool:
    """Say whether this process lives and guards this session of the team: it was called with its launch file."""
    called = [Path(argument) for argument in arguments(process.pid)[-2:]]
    if len(called) < 2 or called[0].parts[-3:] != _GUARD:
        return False
    launch = team.paths.sessions / team.paths.launch(incarnation)
    below = launch.relative_to(team.paths.home).parts
    home = Path(*called[1].parts[: -len(below)])
    # Asked last: if it is alive now, then what was read was its own.
    return called[1].parts[-len(below) :] == below and _is_home(home, team) and processes.alive(process)


def home_of_guard(called: Sequence[str]) -> Path | None:
    """Return the home whose session a guard guards, by its program and its launch file; None for another program."""
    program, launch = map(Path, called)
    is_ours = program.parts[-3:] == _GUARD and launch.is_absolute() and launch.name.endswith(LAUNCH)
    place = launch.parts[-4:-1]
    if not is_ours or len(place) < 3 or (place[0], place[2]) != ("teams", "sessions"):
        return None
    return launch.parents[3]


def is_lead(team: TeamStore, process: Process) -> bool:
    """Say whether this process lives and was started as a lead of the team."""
    called = [argument for argument in arguments(process.pid) if argument != resources.REVIVED]
    said = processes.variables(process, (SPARED, HOME_VARIABLE))
    marked = said.get(SPARED) == "1" and HOME_VARIABLE in said and _is_home(Path(said[HOME_VARIABLE]), team)
    return marked and called[-3:] == ["pro0", "lead", team.name]


def of_sessions(team: TeamStore, uid: str, incarnations: Collection[str]) -> dict[str, list[Process]]:
    """Return the processes that carry the tags of these sessions of the team, which has this uid."""
    found = processes.tagged(INCARNATION, incarnations)
    return {tag: [process for process in those if _is_of(team, uid, process)] for tag, those in found.items()}


def of_team(team: TeamStore, uid: str) -> list[Process]:
    """Return the processes that carry the tags of the team, which has this uid."""
    return [process for process in processes.tagged(TEAM_UID, [uid])[uid] if _is_of(team, uid, process)]


def _is_of(team: TeamStore, uid: str, process: Process) -> bool:
    """Say whether a process belongs to this very team, and not to the one that it is a copy of."""
    said = processes.variables(process, (TEAM_UID, TEAM, MEMBER_OF))
    home = Path(said.get(MEMBER_OF, team.paths.home))
    return said.get(TEAM_UID) == uid and said.get(TEAM, team.name) == team.name and _is_home(home, team)


def _is_home(named: Path, team: TeamStore) -> bool:
    """Say whether this is the team's home, or was before it was moved."""
    return os.path.realpath(named) == os.path.realpath(team.paths.home) or not os.path.lexists(named)
