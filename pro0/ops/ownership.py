"""Prove a process's owner by its start arguments and mark; a file may name any process, even a stranger's."""

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from pro0 import looking, processes, resources
from pro0.model import ids
from pro0.model.runtime import ENDED, Process, Report, SeatState, State
from pro0.ops.identity import INCARNATION, MEMBER_OF, TEAM, TEAM_UID
from pro0.processes import mark
from pro0.processes.arguments import arguments, last_arguments
from pro0.processes.table import SPARED
from pro0.store.paths import HOME_VARIABLE, LAUNCH
from pro0.store.teams import TeamStore

_GUARD = resources.GUARD.parts[-3:]
"""The last parts of a guard program's path, the same for every pro0 installation."""


def is_guard(team: TeamStore, process: Process, incarnation: str) -> bool:
    """Return True when this process lives and guards this session; its arguments name the session's launch file."""
    called = [Path(argument) for argument in arguments(process.pid)[-2:]]
    if len(called) < 2 or called[0].parts[-3:] != _GUARD:
        return False
    launch = team.paths.sessions / team.paths.launch(incarnation)
    below = launch.relative_to(team.paths.home).parts
    home = Path(*called[1].parts[: -len(below)])
    # Alive is checked last: only then are the arguments above certainly those of this process.
    return called[1].parts[-len(below) :] == below and _is_home(home, team) and processes.alive(process)


def goes_on_elsewhere(team: TeamStore, state: SeatState, report: Report | None = None) -> bool:
    """Return True when another machine may still run a session whose guard here ended with a restart of this machine.

    A session that was just starting may never have begun there, so it does not count.
    """
    is_over = state.state in {*ENDED, State.STARTING} or (report is not None and report.exit is not None)
    return not is_over and state.guard is not None and _is_of_earlier_boot(team, state.incarnation, state.guard)


def is_outdated(team: TeamStore, state: SeatState, report: Report) -> bool:
    """Return True for a report from before a restart of this machine, while another machine may run the session."""
    is_over = state.state in ENDED or report.exit is not None
    return not is_over and _is_of_earlier_boot(team, state.incarnation, report.guard)


def _is_of_earlier_boot(team: TeamStore, incarnation: str, guard: Process) -> bool:
    return guard.boot_id != processes.boot_id() and incarnation in team.elsewhere()


def home_of_guard(called: Sequence[str]) -> Path | None:
    """Return the home of a guard, from its program and launch file; None for another program."""
    program, launch = map(Path, called)
    is_ours = program.parts[-3:] == _GUARD and launch.is_absolute() and launch.name.endswith(LAUNCH)
    place = launch.parts[-4:-1]
    if not is_ours or len(place) < 3 or (place[0], place[2]) != ("teams", "sessions"):
        return None
    return launch.parents[3]


def is_lead(team: TeamStore, process: Process) -> bool:
    """Return True when this process lives and was started as the team's lead."""
    called = [argument for argument in arguments(process.pid) if argument != resources.REVIVED]
    variables = processes.variables(process, (SPARED, HOME_VARIABLE))
    home = variables.get(HOME_VARIABLE)
    marked = variables.get(SPARED) == "1" and home is not None and _is_home(Path(home), team)
    return marked and called[-3:] == ["pro0", "lead", team.name]


def of_sessions(team: TeamStore, uid: str, incarnations: Collection[str]) -> dict[str, list[Process]]:
    """Return the processes proven to belong to these sessions of the team with this uid."""
    candidates = processes.proven(INCARNATION, incarnations)
    return {id: [process for process in group if _is_of(team, uid, id, process)] for id, group in candidates.items()}


def of_team(team: TeamStore, uid: str) -> list[Process]:
    """Return the processes proven to belong to any session of the team with this uid.

    Its sessions are those on disk, and those named by processes with its uid.
    """
    tagged = [values for _, values in processes.having((TEAM_UID, INCARNATION)) if values[TEAM_UID] == uid]
    sessions = {values[INCARNATION] for values in tagged} | _on_disk(team)
    groups = of_sessions(team, uid, [id for id in sessions if ids.is_incarnation(id)]).values()
    return list({process.pid: process for group in groups for process in group}.values())


def was_started_in_a_session(process: Process) -> bool:
    """Return True when a living process belongs to the session it names; without marks, its variables are believed."""
    incarnation = processes.variables(process, (INCARNATION,)).get(INCARNATION, "")
    is_proven = not mark.available() or mark.carried_by(process.pid) == mark.mark_of(incarnation)
    return is_proven and processes.alive(process)


def _on_disk(team: TeamStore) -> set[str]:
    with suppress(OSError):
        return {name.partition(".")[0] for name in os.listdir(team.paths.sessions)}
    return set()


def _is_of(team: TeamStore, uid: str, incarnation: str, process: Process) -> bool:
    """Return True when a session's process belongs to this team, not to the original of a copied team.

    A copied team has the same sessions in its files. A process's variables name its home and team. A process without
    them belongs to the home with the living guard.
    """
    variables = processes.variables(process, (TEAM_UID, TEAM, MEMBER_OF))
    tagged_uid = variables.get(TEAM_UID, uid if mark.available() else "")
    is_tagged = tagged_uid == uid and variables.get(TEAM, team.name) == team.name
    if MEMBER_OF in variables:
        return is_tagged and _is_home(Path(variables[MEMBER_OF]), team)
    return is_tagged and not _is_guarded_elsewhere(team, incarnation)


def _is_guarded_elsewhere(team: TeamStore, incarnation: str) -> bool:
    """Return True when a guard of this incarnation was started with a launch file in another home."""
    name = team.paths.launch(incarnation)
    launches = [Path(argument) for argument in last_arguments() if argument.endswith(f"/{name}")]
    return any(os.path.realpath(launch.parent) != os.path.realpath(team.paths.sessions) for launch in launches)


def _is_home(folder: Path, team: TeamStore) -> bool:
    """Return True when this is the team's home, or was before the home moved."""
    return os.path.realpath(folder) == os.path.realpath(team.paths.home) or looking.is_gone(folder)
