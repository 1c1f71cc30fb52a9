"""How a machine begins and ends to take part in a team that another one has made."""

import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pro0 import config, processes
from pro0.config import Settings
from pro0.config.database import checked
from pro0.engine import hosts
from pro0.engine.opening.environment import kept_environment
from pro0.engine.places import backend_of, choose_mode, place_of
from pro0.errors import BadInput, EnvironmentMissing, ErrorCode, NotFound, Refused, StoreError
from pro0.model import ids
from pro0.model.runtime import Process, Report
from pro0.model.team import Share
from pro0.ops import ownership
from pro0.ops.context import Context, new_id
from pro0.ops.team import machines
from pro0.ops.work import checkouts, travelling
from pro0.processes.ending import FIRM
from pro0.sessions.iterm2 import it2
from pro0.store.database import joining
from pro0.store.database.pointer import in_database, pointer_in
from pro0.store.database.sharing import others_of
from pro0.store.lease import Lease
from pro0.store.paths import DOCUMENT, trees_of
from pro0.store.removal.trees import entries
from pro0.store.teams import Store, TeamStore

Show = Callable[[str], None]

APART = 5.0
"""Seconds by which a machine's clock may differ from the database's: one machine's time-outs count another's stamps."""
LEAD_GRACE = 2.0
"""Seconds between TERM and KILL for a lead, which takes TERM between two rounds."""
_PATIENCE = 10.0
"""Seconds for an ending lead to give up its lease."""
_PAUSE = 0.05


def join(
    store: Store, url: str, name: str, machine: str, project: Path, settings: Settings, *, terminal: bool
) -> TeamStore:
    """Let this machine take part in a team of a database, the only one there for an empty `name`.

    Raises NotFound for no such team, Refused for a name that is taken, EnvironmentMissing for a wrong clock.
    """
    checked(url)
    name = name or _only_team(store, url)
    _require_near(in_database(store.home, name, url).clock_difference())
    mode, reason = choose_mode(settings.teammate_mode, os.environ, terminal=terminal)
    share = Share(
        machine=machine,
        project=str(project),
        mode=mode,
        mode_reason=reason,
        inside_tmux=os.environ.get("TMUX", "") if mode == "tmux" else "",
        iterm2_session=it2.own_session(os.environ) if mode == "iterm2" else "",
        sockets=os.environ.get("TMUX_TMPDIR", ""),
        joined=new_id(),
    )
    environment = kept_environment(os.environ, settings.pass_environment, settings.agents.values())
    return joining.join(store, name, url, share, environment)


def leave(store: Store, team: TeamStore, context: Context, show: Show, *, force: bool) -> list[str]:
    """Take this machine and its members out of a team, and return what it keeps: branches that are not merged.

    Raises Refused while a member lives, which `force` ends, BadInput on the machine that made the team.
    """
    if not team.machine:
        raise BadInput(f"{team.name} was made here", hint=f"pro0 team cleanup {team.name} removes it")
    gone, uid = is_gone(team), _uid(team)
    if not force:
        _refuse_if_live(team)
    lease = _take_over(team)
    try:
        end_all(team)
        kept = [] if gone else _put_code_away(store, team, show, force=force)
        if not gone:
            machines.give_up(context, team.machine)
        store.discard(team.name, uid)
    finally:
        lease.drop()
    return kept


def is_gone(team: TeamStore) -> bool:
    """Return True when a team was removed, or this machine takes no part in it any more."""
    place = team.documents.team
    if not (team.exists() and place.is_there() and place.holds(team.record.path.name)):
        return True
    try:
        team.record.read()
    except NotFound:  # it was given up, and another machine has its name by now
        return True
    return False


def require_clock(team: TeamStore) -> None:
    """Raise EnvironmentMissing when this machine's clock is not that of the others."""
    database = team.documents.database
    if database is None or not others_of(team.documents):
        return
    _require_near(database.clock_difference())


def end_all(team: TeamStore) -> None:
    """End every session of this machine, when the team is gone or this machine has been given up.

    Its documents may be gone with it, so only what is on this machine says what there is.
    """
    uid = _uid(team)
    guards = [report.guard for report in _reports(team) if ownership.is_guard(team, report.guard, report.incarnation)]
    grace = config.load(team.paths.home, None, os.environ, {}).end_grace_seconds
    for guard in guards:
        for number in (signal.SIGTERM, signal.SIGCONT):
            processes.signal_process(guard, number)
    deadline = time.monotonic() + grace + FIRM
    while any(map(processes.alive, guards)) and time.monotonic() < deadline:
        time.sleep(_PAUSE)

    def remaining() -> list[Process]:
        alive = {guard.pid: guard for guard in filter(processes.alive, guards)}
        return [*(alive | {process.pid: process for process in ownership.of_team(team, uid)}).values()]

    if stubborn := processes.end(remaining, grace):
        pids = ", ".join(str(process.pid) for process in stubborn)
        raise Refused(f"cannot end {pids}", code=ErrorCode.LIVE_SESSIONS, hint="pro0 doctor")
    hosts.end_all(team)


def _only_team(store: Store, url: str) -> str:
    names = in_database(store.home, "any", url).names()
    if len(names) != 1:
        teams = ", ".join(names) or "none"
        raise BadInput("which team?", hint=f"pro0 host join URL TEAM; there: {teams}")
    return names[0]


def _require_near(difference: float) -> None:
    if abs(difference) > APART:
        which = "behind" if difference > 0 else "ahead of"
        text = f"this machine's clock is {abs(difference):.0f} s {which} the database's"
        raise EnvironmentMissing(text, code=ErrorCode.CLOCK, hint="set both by NTP: time-outs count by them")


def _refuse_if_live(team: TeamStore) -> None:
    alive = [report.agent_id for report in _reports(team) if ownership.is_guard(team, report.guard, report.incarnation)]
    if alive:
        text = f"{', '.join(alive)} still {'runs' if len(alive) == 1 else 'run'} here"
        hint = f"pro0 member shutdown {alive[0]}, or end all of them here: pro0 host leave {team.name} --force"
        raise Refused(text, code=ErrorCode.LIVE_SESSIONS, hint=hint)


def _take_over(team: TeamStore) -> Lease:
    """End the lead of this machine, and return its lease, which keeps others from beginning."""
    lease, deadline = Lease(team.paths.team), time.monotonic() + _PATIENCE
    while not lease.take("leave"):
        if time.monotonic() > deadline:
            raise StoreError(f"the lease of {team.name} is held by {lease.holder()}", code=ErrorCode.LOCK_TIMEOUT)
        if (holder := lease.read()) and processes.alive(holder.process) and ownership.is_lead(team, holder.process):
            processes.end(partial(_if_alive, holder.process), LEAD_GRACE)
        time.sleep(_PAUSE)
    lease.rest("leave")
    return lease


def _if_alive(process: Process) -> list[Process]:
    return [process] if processes.alive(process) else []


def _put_code_away(store: Store, team: TeamStore, show: Show, *, force: bool) -> list[str]:
    settings = team.config.read()
    backend_of(settings).dismantle(place_of(team, settings))
    trees = trees_of(store.home, settings.name, settings.uid)
    elsewhere = travelling.clear(team, show, save=True, force=force)
    return [*elsewhere, *checkouts.clear(trees, Path(settings.project), show, save=True)]


def _reports(team: TeamStore) -> list[Report]:
    """Return what the guards of this machine have reported."""
    names = [path.name.removesuffix(DOCUMENT) for path in entries(team.paths.sessions) if path.suffix == DOCUMENT]
    reports = (team.report(name) for name in names if ids.is_incarnation(name))
    return [report for report in reports if report]


def _uid(team: TeamStore) -> str:
    pointer = pointer_in(team.paths.team)
    return pointer.uid if pointer else ""
