"""Cleanup: remove a whole team once no process of it lives. The lease keeps any lead out meanwhile."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pro0 import config, processes
from pro0.engine import hosts
from pro0.engine.opening.launch import awake, leads
from pro0.engine.outcomes import Show, stopped
from pro0.engine.places import backend_of, place_of
from pro0.errors import ErrorCode, KeepsNoTeam, Kept, NotFound, Pro0Error, Refused, StoreError, Unwritable
from pro0.model.caller import THE_HUMAN
from pro0.model.runtime import Process, SeatState
from pro0.ops import ownership
from pro0.ops.context import Context, already, clock
from pro0.ops.repair.evidence import entries
from pro0.ops.team import archives, teams
from pro0.ops.work import checkouts, readying, travelling
from pro0.store.database.sharing import others_of
from pro0.store.lease import Lease
from pro0.store.paths import trees_of
from pro0.store.places.folder import unchecked
from pro0.store.removal import archive, sweeping
from pro0.store.teams import Store, TeamStore
from pro0.worktrees.work import work_in

Check = Callable[[], None]

PATIENCE = 10.0
"""Seconds for an ending lead to give up its lease."""
LEAD_GRACE = 2.0
"""Seconds between TERM and KILL for an unresponsive lead. A lead takes TERM between two rounds."""


def cleanup(
    store: Store, name: str, *, force: bool, show: Show, keep: bool = True, check: Check = unchecked
) -> str | None:
    """Remove a stopped team and return a report, None when there was nothing to remove.

    With `keep`, an archive of its documents is made. Raises Refused for a live session, and Kept for unmerged work.
    An error of `check` keeps the team.
    """
    try:
        return _cleanup(store, name, force=force, show=show, keep=keep, check=check)
    except NotFound:
        if store.team(name).exists():
            raise
        return None  # somebody else was faster


def _cleanup(store: Store, name: str, *, force: bool, show: Show, keep: bool, check: Check) -> str | None:
    team = store.team(name)
    refuse_if_joined(team)
    with or_without_database(store, team):
        if not team.exists():
            return f"finished removing {name}" if name in store.sweep(name) else None
        if not force:
            _refuse_if_live(team)
            refuse_if_shared(team)
        lease = take_over(team, show, force=force)
        try:
            kept_work = remove(store, team, force=force, show=show, keep=keep, check=check)
        finally:
            lease.drop()
    if kept_work:
        host, elsewhere, place = kept_work[0].partition(":")
        hint = checkouts.next_step(kept_work[0])
        if elsewhere and "/" not in host:
            hint = f"it is on {host}, in $PRO0_HOME/worktrees/{place}"
        raise Kept(f"{name} is removed; not merged, so kept: {', '.join(kept_work)}", hint=hint)
    return f"{name} is removed"


@contextmanager
def or_without_database(store: Store, team: TeamStore) -> Iterator[None]:
    """Add a hint to an error caused by the team's database: how to remove the team without it."""
    try:
        yield
    except (StoreError, NotFound) as error:
        if unreached(team) if team.exists() else sweeping.waits(store.home, team.name):
            error.hint = sweeping.WITHOUT_DATABASE.format(team.name)
        raise


def unreached(team: TeamStore) -> str:
    """Return why a team cannot be read from its database, "" when it can, and for a team in files."""
    if team.documents.database is None:
        return ""
    place = team.documents.team
    try:
        is_there = place.is_there() and place.holds(team.record.path.name)
    except (Unwritable, KeepsNoTeam) as error:
        return error.message
    return "" if is_there else f"{place.path} does not exist"


def remove(
    store: Store,
    team: TeamStore,
    *,
    force: bool,
    show: Show,
    keep: bool = True,
    save: bool = True,
    check: Check = unchecked,
) -> list[str]:
    """Remove a team under the caller's lease; return the unmerged branches and unsavable worktrees it keeps.

    Raises Refused while a process of the team lives, unless `force` ends it. Worktrees are removed before the team, so
    that a repeat after a crash still knows whose they are. Without `save`, a worktree that holds work is left alone.
    """
    if not force:
        refuse_if_shared(team)
    end_the_rest(team, force=force, show=show)
    config = team.config.read()
    if keep and not force and archives.holds_work(team):
        with archives.or_keep_none(team), store.changing(f"remove team {team.name}"):
            archive.rehearse(store.home, team.name, config.uid, clock())
    backend_of(config).dismantle(place_of(team, config))
    project = Path(config.project)
    stays = travelling.clear(team, show, save=save, force=force)
    trees = trees_of(store.home, config.name, config.uid)
    for tree in entries(trees):
        readying.end_left(tree)
        if (save or not work_in(tree)) and (why := readying.tear_down(team, tree.name, tree)):
            show(f"the tear-down of {tree.name}'s worktree failed: {why}")
    kept_work = [*stays, *checkouts.clear(trees, project, show, save=save)]
    kept_work += [branch for branch in checkouts.left_branches(team, project) if branch not in kept_work]
    with already("all that ran has ended"):
        archives.put_away(store, team, config.uid, force=force, show=show, keep=keep, check=check)
    return kept_work


def living_guard(team: TeamStore, state: SeatState) -> Process | None:
    """Return the guard of a session, None when it is dead."""
    report = team.report(state.incarnation)
    guard = report.guard if report else state.guard
    return guard if guard and ownership.is_guard(team, guard, state.incarnation) else None


def _refuse_if_live(team: TeamStore) -> None:
    alive = [state.agent_id for state in team.runtime.read().seats if living_guard(team, state)]
    if alive:
        raise Refused(
            f"{', '.join(alive)} of {team.name} still {'runs' if len(alive) == 1 else 'run'}",
            code=ErrorCode.LIVE_SESSIONS,
            hint=f"pro0 team stop -t {team.name}, or end them: pro0 team cleanup {team.name} --force",
        )


def refuse_if_joined(team: TeamStore) -> None:
    """Raise Refused for a team that another machine has made."""
    if team.machine:
        text = f"{team.name} was made on another machine; this one only takes part in it"
        raise Refused(text, code=ErrorCode.CONFLICT, hint=f"pro0 host leave {team.name}")


def refuse_if_shared(team: TeamStore) -> None:
    """Raise Refused while other machines take part in a team."""
    if others := others_of(team.documents):
        text = f"{', '.join(others)} still {'takes' if len(others) == 1 else 'take'} part in {team.name}"
        leave = f"pro0 host leave {team.name}"
        hint = f"on each: {leave}; for one that is gone: {leave} --machine {others[0]}"
        raise Refused(text, code=ErrorCode.LIVE_SESSIONS, hint=hint)


def take_over(team: TeamStore, show: Show, *, force: bool) -> Lease:
    """Stop the team and take its lease; wait for a lead that is just starting.

    With `force` an unresponsive lead is ended. This needs no write to the disk.
    """
    lease = team.documents.lease()
    deadline = time.monotonic() + PATIENCE
    while not lease.take("cleanup"):
        try:
            # A starting lead gets time to sign in, which it cannot on a full disk. A signed-in lead is told to stop.
            if time.monotonic() > deadline:
                raise _held(team, force=force)
            awake(team)
            if leads(team):
                _stop(team, show)
                deadline = time.monotonic() + PATIENCE
        except Pro0Error as error:
            if not force or not _is_in_the_way(error):
                raise
            if _end_lead(team, show, error):
                deadline = time.monotonic() + PATIENCE
            elif time.monotonic() > deadline:
                raise
        time.sleep(0.02)
    return lease


def _held(team: TeamStore, *, force: bool) -> StoreError:
    text = f"the lease of {team.name} is held by {team.documents.lease().holder()}"
    hint = "pro0 doctor" if force else "try again, or end it: --force"
    return StoreError(text, code=ErrorCode.LOCK_TIMEOUT, hint=hint)


def _is_in_the_way(error: Pro0Error) -> bool:
    """Return True when the lead will not stop by itself: it does not react, or the disk is unwritable."""
    return isinstance(error, Unwritable) or error.code in (
        ErrorCode.LEAD_STOPPED,
        ErrorCode.TIMED_OUT,
        ErrorCode.LOCK_TIMEOUT,
    )


def _stop(team: TeamStore, show: Show) -> None:
    wanted = teams.stop(Context(team, THE_HUMAN), timeout=0.0, force=True, reason="cleanup")
    if wanted.stop:
        stopped(team, wanted.stop, show)


def _end_lead(team: TeamStore, show: Show, error: Pro0Error) -> bool:
    """End an unreachable lead; return False when none lives. Raises Refused when it is not proven to be this team's."""
    holder = team.documents.lease().read()
    if holder is None or not processes.alive(holder.process):
        return False
    if not ownership.is_lead(team, holder.process):
        raise Refused(f"{holder} holds the lease of {team.name}, but is not its lead", code=ErrorCode.NOT_OURS)
    why = "which cannot be told to stop" if isinstance(error, Unwritable) else "which does not react"
    show(f"ending the lead (pid {holder.pid}), {why}")
    if not end_process(holder.process, LEAD_GRACE):
        raise Refused(
            f"the lead of {team.name} (pid {holder.pid}) cannot be ended",
            code=ErrorCode.LIVE_SESSIONS,
            hint="pro0 doctor",
        )
    return True


def end_process(process: Process, grace: float) -> bool:
    """End one process; return True when it is gone."""
    return not processes.end(lambda: [process] if processes.alive(process) else [], grace)


def end_the_rest(team: TeamStore, *, force: bool, show: Show) -> None:
    """End leftover sessions, found by their guards and the team's tag; raise Refused without `force`."""
    uid = team.config.read().uid
    guards = [guard for state in team.runtime.read().seats if (guard := living_guard(team, state))]
    remaining = living_processes(team, uid, guards)
    if remaining and not force:
        raise Refused(
            f"{len(remaining)} processes of {team.name} are left",
            code=ErrorCode.LIVE_SESSIONS,
            hint="--force ends them",
        )
    if remaining:
        show(f"ending {len(remaining)} processes that are left")
        end_processes(lambda: living_processes(team, uid, guards), end_grace(team))
    hosts.end_all(team)


def living_processes(team: TeamStore, uid: str, guards: Sequence[Process]) -> list[Process]:
    """Return the guards that are alive, and all processes that carry the team's tag."""
    alive = {guard.pid: guard for guard in guards if processes.alive(guard)}
    return [*(alive | {process.pid: process for process in ownership.of_team(team, uid)}).values()]


def end_grace(team: TeamStore) -> float:
    """Return the seconds that processes get between TERM and KILL."""
    return config.load(team.paths.home, None, os.environ, {}).end_grace_seconds


def end_processes(find: Callable[[], Iterable[Process]], grace: float) -> None:
    """End all processes that `find` returns; raise Refused when some cannot be ended."""
    if stubborn := processes.end(find, grace):
        pids = ", ".join(str(process.pid) for process in stubborn)
        raise Refused(f"cannot end {pids}", code=ErrorCode.LIVE_SESSIONS, hint="pro0 doctor")
