"""Whose is a process? Proven by what it was started with: a file may name any process, that of a stranger too."""

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from pro0 import processes, resources
from pro0.model import ids
from pro0.model.runtime import Process
from pro0.ops.identity import INCARNATION, MEMBER_OF, TEAM, TEAM_UID
from pro0.processes import mark
from pro0.processes.arguments import arguments, last_arguments
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
    """Return the processes that are proven to be of these sessions of the team, which has this uid."""
    found = processes.proven(INCARNATION, incarnations)
    return {one: [process for process in those if _is_of(team, uid, one, process)] for one, those in found.items()}


def of_team(team: TeamStore, uid: str) -> list[Process]:
    """Return the processes that are proven to be of some session of the team, which has this uid.

    Its sessions are those that it has on disk, and those that processes with its uid name.
    """
    said = [values for _, values in processes.having((TEAM_UID, INCARNATION)) if values[TEAM_UID] == uid]
    sessions = {values[INCARNATION] for values in said} | _on_disk(team)
    found = of_sessions(team, uid, [one for one in sessions if ids.is_incarnation(one)]).values()
    return list({process.pid: process for those in found for process in those}.values())


def was_started_in_a_session(process: Process) -> bool:
    """Say whether a living process is of the very session that it names; where there are no marks, it is believed."""
    named = processes.variables(process, (INCARNATION,)).get(INCARNATION, "")
    is_proven = not mark.available() or mark.carried_by(process.pid) == mark.mark_of(named)
    return is_proven and processes.alive(process)


def _on_disk(team: TeamStore) -> set[str]:
    with suppress(OSError):
        return {name.partition(".")[0] for name in os.listdir(team.paths.sessions)}
    return set()


def _is_of(team: TeamStore, uid: str, incarnation: str, process: Process) -> bool:
    """Say whether a process of such a session belongs to this very team, and not to the one that it is a copy of.

    A copy has the same sessions in its files. What a process was told of its home and team tells which it is of; one
    that threw that away is of the home whose guard still lives.
    """
    said = processes.variables(process, (TEAM_UID, TEAM, MEMBER_OF))
    named = said.get(TEAM_UID, uid if mark.available() else "") == uid and said.get(TEAM, team.name) == team.name
    if MEMBER_OF in said:
        return named and _is_home(Path(said[MEMBER_OF]), team)
    return named and not _is_guarded_elsewhere(team, incarnation)


def _is_guarded_elsewhere(team: TeamStore, incarnation: str) -> bool:
    """Say whether a guard was called with the launch file that a session of this incarnation has in another home."""
    name = team.paths.launch(incarnation)
    launches = [Path(last) for last in last_arguments() if last.endswith(f"/{name}")]
    return any(os.path.realpath(one.parent) != os.path.realpath(team.paths.sessions) for one in launches)


def _is_home(named: Path, team: TeamStore) -> bool:
    """Say whether this is the team's home, or was before it was moved."""
    return os.path.realpath(named) == os.path.realpath(team.paths.home) or not os.path.lexists(named)
