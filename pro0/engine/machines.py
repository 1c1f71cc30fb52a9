"""A machine joins a team that another one has made, and leaves it."""

import os
import time
from pathlib import Path

from msgspec.structs import asdict

from pro0 import processes
from pro0.config import Settings
from pro0.config.database import checked
from pro0.engine import hosts
from pro0.engine.cleanup import (
    LEAD_GRACE,
    PATIENCE,
    cleanup,
    end_grace,
    end_process,
    end_processes,
    living_processes,
    unreached,
)
from pro0.engine.force import end_guards
from pro0.engine.opening.environment import kept_environment
from pro0.engine.outcomes import Show
from pro0.engine.places import backend_of, display_here, place_of
from pro0.errors import BadInput, EnvironmentMissing, ErrorCode, KeepsNoTeam, NotFound, Refused, StoreError, Unwritable
from pro0.model import ids
from pro0.model.runtime import Process, Report
from pro0.model.team import Share
from pro0.ops import ownership
from pro0.ops.context import Context, new_id
from pro0.ops.repair import evidence
from pro0.ops.team import machines
from pro0.ops.work import checkouts, travelling
from pro0.store.database import joining
from pro0.store.database.pointer import in_database, pointer_in
from pro0.store.database.sharing import others_of
from pro0.store.lease import Lease
from pro0.store.paths import DOCUMENT, trees_of
from pro0.store.removal import sweeping
from pro0.store.removal.trees import entries
from pro0.store.teams import Store, TeamStore

APART = 5.0
"""Seconds by which a machine's clock may differ from the database's: a lead reads times that other machines wrote."""
_PAUSE = 0.05


def join(
    store: Store, url: str, name: str, machine: str, project: Path, settings: Settings, *, terminal: bool
) -> TeamStore:
    """Join this machine to a team in a database; an empty `name` stands for the only team there.

    Raises NotFound when there is no such team, Refused when a name is taken, EnvironmentMissing for a wrong clock.
    """
    checked(url)
    name = name or _only_team(store, url)
    _require_near(in_database(store.home, name, url).clock_difference())
    display = display_here(settings.teammate_mode, terminal=terminal)
    share = Share(machine=machine, project=str(project), joined=new_id(), **asdict(display))
    environment = kept_environment(os.environ, settings.pass_environment, settings.agents.values())
    return joining.join(store, name, url, share, environment)


def leave(store: Store, team: TeamStore, context: Context, show: Show, *, force: bool) -> list[str]:
    """Take this machine and its members out of a team; return the unmerged branches that it keeps.

    Raises Refused while a member lives, unless `force` ends it, and BadInput on the machine that made the team. Raises
    StoreError while the database is out of reach; with `force` the machine leaves even then, but its record stays.
    """
    if not team.machine:
        raise BadInput(f"{team.name} was made on this machine", hint=f"pro0 team cleanup {team.name} removes it")
    gone, uid = _counts_as_gone(team, show, force=force), _uid(team)
    if not force:
        _refuse_if_live(team)
    lease = _take_over(team)
    try:
        end_all(team)
        kept = [] if gone else _put_code_away(store, team, show, force=force)
        if not gone:
            _sign_off(team, context, show, force=force)
        store.discard(team.name, uid)
    finally:
        lease.drop()
    return kept


def _counts_as_gone(team: TeamStore, show: Show, *, force: bool) -> bool:
    """Return True when a team is gone, and with `force` also when its database is out of reach."""
    try:
        return is_gone(team)
    except (Unwritable, KeepsNoTeam) as error:
        if not force:
            error.hint = f"{error.hint}; if it is gone for good: pro0 host leave {team.name} --force"
            raise
        _tell_that_it_stays(team, show, error)
        return True


def _sign_off(team: TeamStore, context: Context, show: Show, *, force: bool) -> None:
    """Remove this machine's record from the database. With `force`, a role without write access leaves it there."""
    try:
        machines.give_up(context, team.machine)
    except KeepsNoTeam as error:
        if not force:
            raise
        _tell_that_it_stays(team, show, error)


def _tell_that_it_stays(team: TeamStore, show: Show, error: StoreError) -> None:
    there = f"pro0 host leave {team.name} --machine {team.machine}"
    show(f"{error.message}; the database may still list this machine; remove it from another one: {there}")


def cleanup_without_database(store: Store, name: str, show: Show, *, keep: bool) -> str | None:
    """Remove a team by force, even when its database is gone for good; say which rows may be left there.

    Returns and raises the same as `cleanup`. Without the database no archive is made, and worktrees stay.
    """
    team, removed = store.team(name), f"{name} is removed"
    try:
        if team.exists() and not team.machine and (why := unreached(team)):
            show(f"{why}: nothing of {name} is kept")
            _put_away_here(store, team)
        else:
            return cleanup(store, name, force=True, show=show, keep=keep)
    except StoreError:
        if team.exists() or not sweeping.waits(store.home, name):
            raise
    for database, reason in store.give_up(name).items():
        show(f"rows of {name} may be left in {database}: {reason}")
    return removed


def _put_away_here(store: Store, team: TeamStore) -> None:
    lease = _take_over(team)
    try:
        end_all(team)
        store.discard(team.name, _uid(team))
    finally:
        lease.drop()


def is_gone(team: TeamStore) -> bool:
    """Return True when a team was removed, or this machine takes no part in it any more."""
    place = team.documents.team
    if not (team.exists() and place.is_there() and place.holds(team.record.path.name)):
        return True
    try:
        team.record.read()
    except NotFound:  # this machine was given up, and another one has taken its name
        return True
    return False


def require_clock(team: TeamStore) -> None:
    """Raise EnvironmentMissing when others share the team, and this machine's clock is far from the database's."""
    database = team.documents.database
    if database is None or not others_of(team.documents):
        return
    _require_near(database.clock_difference())


def end_all(team: TeamStore) -> None:
    """End every session of this machine, when the team is gone or this machine has been given up.

    The team's documents may be gone too, so sessions are found by the reports on this machine. A session with a
    damaged report is found by the tag on its processes. An error does not keep the others from being ended: the first
    one is raised at the end.
    """
    attempts, guards, grace = hosts.Attempts(), list[Process](), float(Settings().end_grace_seconds)
    with attempts.going_on():
        for _, file in evidence.report_files(team):
            with attempts.going_on():
                if (report := evidence.certain(file)) and _lives(team, report):
                    guards.append(report.guard)
    with attempts.going_on():
        grace = end_grace(team)
    end_guards(guards, grace)
    with attempts.going_on():
        uid = _uid(team)
        end_processes(lambda: living_processes(team, uid, guards), grace)
    with attempts.going_on():
        hosts.end_all(team)
    attempts.require()


def _only_team(store: Store, url: str) -> str:
    names = in_database(store.home, "any", url).names()
    if len(names) != 1:
        teams = ", ".join(names) or "none"
        raise BadInput("which team?", hint=f"pro0 host join URL TEAM; teams there: {teams}")
    return names[0]


def _require_near(difference: float) -> None:
    if abs(difference) > APART:
        direction = "behind" if difference > 0 else "ahead of"
        text = f"this machine's clock is {abs(difference):.0f} s {direction} the database's"
        raise EnvironmentMissing(text, code=ErrorCode.CLOCK, hint="set both clocks by NTP: time-outs depend on them")


def _refuse_if_live(team: TeamStore) -> None:
    alive = [report.agent_id for report in _living(team)]
    if alive:
        text = f"{', '.join(alive)} still {'runs' if len(alive) == 1 else 'run'} here"
        hint = f"pro0 member shutdown {alive[0]}, or end all of them here: pro0 host leave {team.name} --force"
        raise Refused(text, code=ErrorCode.LIVE_SESSIONS, hint=hint)


def _take_over(team: TeamStore) -> Lease:
    """End this machine's lead; return its lease, which keeps another lead from starting."""
    lease, deadline = Lease(team.paths.team), time.monotonic() + PATIENCE
    while not lease.take("leave"):
        if time.monotonic() > deadline:
            raise StoreError(f"the lease of {team.name} is held by {lease.holder()}", code=ErrorCode.LOCK_TIMEOUT)
        if (holder := lease.read()) and processes.alive(holder.process) and ownership.is_lead(team, holder.process):
            end_process(holder.process, LEAD_GRACE)
        time.sleep(_PAUSE)
    lease.rest("leave")
    return lease


def _put_code_away(store: Store, team: TeamStore, show: Show, *, force: bool) -> list[str]:
    settings = team.config.read()
    backend_of(settings).dismantle(place_of(team, settings))
    trees = trees_of(store.home, settings.name, settings.uid)
    elsewhere = travelling.clear(team, show, save=True, force=force)
    return [*elsewhere, *checkouts.clear(trees, Path(settings.project), show, save=True)]


def _living(team: TeamStore) -> list[Report]:
    """Return the reports of this machine's sessions with a living guard; raises StoreError for a damaged report."""
    names = [path.name.removesuffix(DOCUMENT) for path in entries(team.paths.sessions) if path.suffix == DOCUMENT]
    reports = [report for name in names if ids.is_incarnation(name) and (report := team.report(name))]
    return [report for report in reports if _lives(team, report)]


def _lives(team: TeamStore, report: Report) -> bool:
    return ownership.is_guard(team, report.guard, report.incarnation)


def _uid(team: TeamStore) -> str:
    pointer = pointer_in(team.paths.team)
    return pointer.uid if pointer else ""
