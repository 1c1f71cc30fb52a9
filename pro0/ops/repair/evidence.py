"""Evidence about an unreadable document of a team, from its other files and its processes."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from pro0 import processes
from pro0.errors import Pro0Error, StoreError
from pro0.model import ids
from pro0.model.runtime import Process, Report
from pro0.ops.context import TEAM, TEAM_UID, Context
from pro0.rules.repair.rebuilding import TeamFacts, known_tasks
from pro0.store.files import File, translated
from pro0.store.keys import repeated
from pro0.store.mending import T
from pro0.store.paths import DOCUMENT, EVENTS, HOME_VARIABLE, HOSTED, LAUNCH
from pro0.store.removal import trees
from pro0.store.teams import Store, TeamStore


def gather(context: Context, project: str) -> TeamFacts:
    """Return everything readable of a team; `project` is used when no file names its project."""
    team, logged = context.team, tuple(events(context.team))
    session_reports = tuple(reports(team))
    return TeamFacts(
        name=team.name,
        now=context.now(),
        project=project,
        new_uid=_living_uid(team) or context.new_id(),
        config=certain(team.config),
        wanted=certain(team.wanted),
        runtime=certain(team.runtime),
        reports=session_reports,
        living=frozenset(report.incarnation for report in session_reports if processes.alive(report.guard)),
        highest_task=_highest_task(team, logged),
        known_tasks=known_tasks(logged, team.documents.tasks.folders()),
        archive=tuple(segment.tasks if segment else () for segment in map(certain, team.tasks.segments())),
        events=logged,
    )


def certain(file: File[T]) -> T | None:
    """Return a document, None when it is missing or broken; a disk error is raised, since it may pass.

    A rebuild from partial evidence would lose the parts out of reach for a moment.
    """
    try:
        return file.read()
    except Pro0Error as error:
        if error.code == StoreError.code:
            raise
    return None


def opened(store: Store, name: str) -> TeamStore | None:
    """Return a team, None while the place of its documents is unknown: that must not hide another team."""
    with suppress(Pro0Error):
        return store.team(name)
    return None


def readable(file: File[T]) -> T | None:
    """Return a document, None when it is unreadable."""
    with suppress(Pro0Error):
        return file.read()
    return None


def report_files(team: TeamStore) -> Iterator[tuple[str, File[Report]]]:
    """Yield the guards' report files, each with its incarnation."""
    for path in entries(team.paths.sessions):
        if path.name.endswith(DOCUMENT) and not path.name.endswith((LAUNCH, HOSTED)):
            yield path.name.removesuffix(DOCUMENT), File(team.paths.sessions, path.name, Report)


def reports(team: TeamStore) -> Iterator[Report]:
    """Yield the readable reports of guards."""
    for _, file in report_files(team):
        if report := certain(file):
            yield report


def events(team: TeamStore) -> Iterator[Mapping[str, str]]:
    """Yield the readable events of a team; they are never the truth, but may be the only evidence.

    Raises StoreError for a file of events that is out of reach for a moment: without it, a number may be given twice.
    """
    with translated(team.paths.team / EVENTS):
        for line in team.documents.events().certain():
            with suppress(msgspec.MsgspecError, UnicodeError, RecursionError, ValueError):
                value = msgspec.json.decode(line)
                if isinstance(value, dict) and not repeated(line):
                    yield {str(key): str(item) for key, item in value.items()}


def carriers(home: Path) -> list[tuple[Process, str, str]]:
    """Return the processes of all sessions of a home, each with its team's name and uid."""
    home_path = os.path.realpath(home)
    return [
        (process, values[TEAM], values[TEAM_UID])
        for process, values in processes.having((TEAM_UID, TEAM, HOME_VARIABLE))
        if os.path.realpath(values[HOME_VARIABLE]) == home_path
    ]


def entries(folder: Path) -> list[Path]:
    """Return the entries of a folder in order, none when it is missing; raises StoreError when it cannot be listed."""
    with translated(folder):
        return trees.entries(folder)


def _living_uid(team: TeamStore) -> str:
    return next((uid for _, name, uid in carriers(team.paths.home) if name == team.name), "")


def _highest_task(team: TeamStore, logged: tuple[Mapping[str, str], ...]) -> int:
    mentioned = [event.get("task", "") for event in logged]
    mentioned += team.documents.tasks.folders()
    numbers = [ids.task_number(id) for id in mentioned if ids.is_task_id(id)]
    return max(numbers, default=0)
