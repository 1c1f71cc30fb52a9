"""The traces of pro0 in a home: teams, archives, worktrees, and the home itself."""

import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pro0 import looking, processes
from pro0.config import USER_FILE
from pro0.engine import cleanup
from pro0.engine.uninstall.guests import guests
from pro0.engine.uninstall.trace import Trace, TraceFate
from pro0.errors import Pro0Error, Refused
from pro0.ops import ownership
from pro0.ops.repair.evidence import entries
from pro0.ops.team import needs
from pro0.ops.trust import agreed_projects
from pro0.ops.work import guests as guests_code
from pro0.store import health
from pro0.store.paths import CODE, SERVER_LOCK, web, worktrees
from pro0.store.removal import home as whole_home
from pro0.store.teams import Store, TeamStore
from pro0.worktrees.work import work_in


def in_home(store: Store, *, leased: bool = False) -> Iterator[Trace]:
    """Yield the traces in the home; raises Pro0Error for a home that is no folder of this user.

    With `leased` the caller holds the leases of all teams, so a lease does not tell whether its team runs.
    """
    store.check()
    if not looking.exists(store.home):
        return
    for name in store.names():
        yield _team(store, name, leased=leased)
    for guest in guests(store.home):
        yield Trace("session", guest.name, TraceFate.REMOVED, "it runs for another machine: end it first", guest.end)
    for archive in store.archives():
        yield Trace("archive", str(archive.path), TraceFate.REMOVED, f"the archive of the removed team {archive.name}")
    kept = list[Trace]()
    for path in _worktrees(store.home):
        work = work_in(path)
        trace = Trace("worktree", str(path), TraceFate.KEPT if work else TraceFate.REMOVED, work)
        kept += [trace] * bool(work)
        yield trace
    for repository in entries(store.home / CODE):
        if work := guests_code.work_of(store.home, repository):
            kept.append(Trace("repository", str(repository), TraceFate.KEPT, work))
            yield kept[-1]
    for path in whole_home.others(store.home, USER_FILE):
        kept.append(Trace("file", str(path), TraceFate.KEPT, "pro0 did not make it"))
        yield kept[-1]
    note = "except what is kept in it" if kept else "with your settings, layouts, roles and consents"
    yield Trace("home", str(store.home), TraceFate.REMOVED, note)


def served(store: Store) -> bool:
    """Return True while a process serves the page of the home; raises StoreError when that cannot be seen."""
    return health.held(web(store.home) / SERVER_LOCK) is not None


def runs(team: TeamStore, *, leased: bool = False) -> bool:
    """Return True while a lead or a session of a team runs; raises StoreError when its files do not tell."""
    if not leased and team.documents.lease().holder() is not None:
        return True
    guards = [guard for state in team.runtime.read().seats if (guard := cleanup.living_guard(team, state))]
    return any(map(processes.alive, guards)) or bool(ownership.of_team(team, team.config.read().uid))


def projects(store: Store) -> list[Path]:
    """Return the existing projects of teams and archives, and those a person agreed to."""
    project_folders = set[Path]()
    homes = [(store.home, name) for name in store.names()]
    homes += [(archive.path, archive.name) for archive in store.archives()]
    for home, name in homes:
        with suppress(Pro0Error):
            project_folders.add(Path(Store(home).team(name).config.read().project))
    with suppress(Pro0Error):
        project_folders |= agreed_projects(store.home)
    return sorted(filter(_may_be_there, project_folders))


def _may_be_there(folder: Path) -> bool:
    """Return True for a folder, and when its state cannot be read."""
    try:
        return stat.S_ISDIR(folder.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _team(store: Store, name: str, *, leased: bool) -> Trace:
    try:
        team = store.team(name)
    except Pro0Error as error:
        return Trace("team", name, TraceFate.KEPT, error.message, "pro0 doctor")
    if team.machine:
        note = "another machine made it, and this one takes part: leave it first"
        return Trace("team", team.name, TraceFate.KEPT, note, f"pro0 host leave {team.name}")
    try:
        if runs(team, leased=leased):
            return Trace("team", team.name, TraceFate.REMOVED, "it runs: stop it first", f"pro0 team stop {team.name}")
        cleanup.refuse_if_shared(team)
    except Refused as refused:
        return Trace("team", team.name, TraceFate.KEPT, refused.message, refused.hint or "")
    except Pro0Error as error:
        return Trace("team", team.name, TraceFate.KEPT, error.message, f"pro0 doctor --repair -t {team.name}")
    unfinished = needs.unfinished(team)
    return Trace("team", team.name, TraceFate.REMOVED, f"with {unfinished}" if unfinished else "")


def _worktrees(home: Path) -> Iterator[Path]:
    for folder in entries(worktrees(home)):
        yield from entries(folder)
