"""Teams: create, pause, stop, dismiss, resume."""

import time
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

import msgspec
from msgspec.structs import asdict, replace

from pro0 import processes
from pro0.errors import ErrorCode, Refused
from pro0.model import ids
from pro0.model.caller import HUMAN_ONLY, IN_CHARGE, Caller, Who
from pro0.model.run import RUNNER
from pro0.model.runtime import ENDED, Phase, Runtime, SeatState
from pro0.model.team import (
    Approver,
    Display,
    Environment,
    PermissionMode,
    Seat,
    TeamConfig,
    Wanted,
    Window,
    WindowLayout,
    Wish,
)
from pro0.ops import ownership
from pro0.ops.context import Context, Vouch, already, clock, in_process, new_id, operation
from pro0.ops.seats import Roster
from pro0.ops.team.members import renewed, shutdown_wish
from pro0.ops.team.outside import as_lead, introduced
from pro0.store.teams import Store, TeamStore

LEAVING = 10.0
"""Seconds for the lead of a stopped team to end."""
_PAUSE = 0.02


class Home(msgspec.Struct, frozen=True):
    """The properties of a new team."""

    name: str
    project: Path
    display: Display = Display()
    permission_mode: PermissionMode = PermissionMode.ASK
    plan_approval: Approver = "human"
    windows: tuple[Window, ...] = ()
    layout: WindowLayout = "tiled"
    panes_per_window: int = 0
    worktrees: bool = False
    store: str = ""
    """The URL of the database that keeps its documents; empty for files."""
    environment: dict[str, str] = {}
    """The environment of leads and members, whoever starts them; when empty, that of the lead's starter."""
    reserved: dict[str, str] = {}
    """The variables reserved for agents that name them in their definition."""


def create(store: Store, caller: Caller, home: Home, vouch: Vouch = in_process) -> Context:
    """Make a team without members; raises Refused for a taken name, and for a member as caller.

    An agent from outside leads the team it makes.
    """
    if caller.who not in (Who.HUMAN, Who.OUTSIDE):
        raise Refused("a teammate cannot start a team of its own", code=ErrorCode.NOT_ALLOWED)
    ids.team_name(home.name)
    _not_elsewhere(store, home)
    config = TeamConfig(
        name=home.name,
        created_at=clock(),
        uid=new_id(),
        project=str(home.project),
        **asdict(home.display),
        permission_mode=home.permission_mode,
        plan_approval=home.plan_approval,
        windows=home.windows,
        layout=home.layout,
        panes_per_window=home.panes_per_window,
        worktrees=home.worktrees,
    )
    environment = Environment(variables=home.environment, reserved=home.reserved)
    desired = Wanted()
    if caller.who is Who.OUTSIDE:
        desired, caller = Wanted(outside=introduced(caller)), as_lead(caller)
    context = Context(store.create(config, desired, environment, url=home.store), caller, vouch=vouch)
    # The event holds everything needed to rebuild a lost config.json.
    details = {"project": config.project, "uid": config.uid, "mode": config.mode, "reason": config.mode_reason}
    details |= {"permission": config.permission_mode.value}
    details |= {"tmux": config.inside_tmux, "iterm2": config.iterm2_session, "sockets": config.sockets}
    context.team.log_event(context.now(), caller.agent_id, "team.create", **details)
    return context


@operation("team.pause", IN_CHARGE)
def pause(context: Context, *, paused: bool) -> Wanted:
    """Stop or resume the claiming of tasks; work on claimed tasks goes on."""
    with context.team.require().wanted.change("pause a team") as change:
        change.value = replace(change.value, paused=paused)
    context.team.log_event(context.now(), context.caller.agent_id, "team.pause" if paused else "team.unpause")
    return change.value


@operation("team.stop", IN_CHARGE)
def stop(context: Context, *, timeout: float = 60.0, force: bool = False, reason: str = "") -> Wanted:
    """Ask every member to shut down; from now on nobody claims and nothing starts (behaviour 3.9)."""
    with context.team.require().wanted.change("stop a team") as change:
        wish = shutdown_wish(context, reason=reason, timeout=timeout, force=force)
        change.value = replace(change.value, wish=Wish.STOP, stop=wish)
    context.team.log_event(context.now(), context.caller.agent_id, "team.stop")
    return change.value


@operation("team.cleanup", IN_CHARGE)
def dismiss(context: Context) -> bool:
    """Dismiss a team without teammates; raises Refused while one lives.

    Returns True when the caller has a session of its own. That session is asked to end; then the lead removes the team.
    """
    caller, name = context.caller, context.team.name
    with context.team.require().wanted.change("remove a team") as change:
        roster = Roster(name, change.value, context.team.runtime.read())
        live = [seat.agent_id for seat in roster.live()]
        if teammates := [agent_id for agent_id in live if agent_id != caller.agent_id]:
            verb = "runs" if len(teammates) == 1 else "run"
            hint = "shut them down first"
            raise Refused(f"{', '.join(teammates)} of {name} still {verb}", code=ErrorCode.LIVE_SESSIONS, hint=hint)
        if live:
            wish = shutdown_wish(context, reason="the team is removed", timeout=60.0, force=False)
            change.value = replace(change.value, wish=Wish.STOP, stop=wish, remove=True)
    context.team.log_event(context.now(), caller.agent_id, "team.cleanup")
    return bool(live)


@operation("team.resume", HUMAN_ONLY)
def resume(
    context: Context,
    environment: Mapping[str, str] | None = None,
    reserved: Mapping[str, str] | None = None,
    display: Display | None = None,
) -> Wanted:
    """Ask for the team to run again, in this environment; members ended by its stop get new sessions.

    A team without a living session is shown at this `display` from now on.
    """
    if display:
        _show_at(context, display)
    if environment is not None:
        with context.team.require().environment.change("renew the environment") as renewal:
            renewal.value = replace(renewal.value, variables=dict(environment), reserved=dict(reserved or {}))
    with already("the environment is renewed") if environment is not None else nullcontext():
        return _resumed(context)


def _resumed(context: Context) -> Wanted:
    with context.team.require().wanted.change("resume a team") as change:
        desired, runtime = change.value, context.team.record.read()
        roster, has_stopped = Roster(context.team.name, desired, runtime), runtime.phase is Phase.STOPPED

        def is_due(seat: Seat) -> bool:
            if seat.machine != context.team.machine:  # its own machine resumes it
                return False
            fell = desired.wish is Wish.RUN and _fell(context, runtime, seat)
            return fell or (has_stopped and _comes_back(roster, seat))

        seats = tuple(renewed(seat, runtime) if is_due(seat) else seat for seat in desired.seats)
        change.value = replace(desired, seats=seats)
        if desired.wish is Wish.STOP:
            change.value = replace(change.value, wish=Wish.RUN, stop=None, remove=False)
    return change.value


def _show_at(context: Context, display: Display) -> None:
    """Record where the team is shown, unless one of its sessions lives; wait for a lead that is about to end."""
    team = context.team.require()
    if team.machine or display == team.config.read().display:
        return  # another machine's own display is no part of config.json
    lease, deadline = team.documents.lease(), time.monotonic() + LEAVING
    while not lease.take("resume"):
        if team.record.read().phase is not Phase.STOPPED or time.monotonic() > deadline:
            return  # a lead goes on with the display that it has read
        time.sleep(_PAUSE)
    try:
        if not any(_is_guarded(team, state) for state in team.record.read().seats):
            with team.config.change("record where the team is shown") as change:
                change.value = replace(change.value, **asdict(display))
    finally:
        lease.drop()


def _is_guarded(team: TeamStore, state: SeatState) -> bool:
    report = team.report(state.incarnation)
    guard = report.guard if report else state.guard
    return guard is not None and ownership.is_guard(team, guard, state.incarnation)


def _comes_back(roster: Roster, seat: Seat) -> bool:
    """Return True when only a stop ended a member; a task's session comes with its task, and a run is over."""
    return bool(roster.ended(seat.agent_id)) and not (seat.shutdown or seat.task or seat.agent == RUNNER)


def _fell(context: Context, runtime: Runtime, seat: Seat) -> bool:
    """Return True when a member's session died together with the lead, with no one to record its end."""
    state = next((s for s in runtime.seats if (s.agent_id, s.generation) == (seat.agent_id, seat.generation)), None)
    if state is None or state.state in ENDED or state.guard is None:
        return False
    if seat.shutdown or seat.task or seat.agent == RUNNER:
        return False
    if processes.alive(state.guard) or context.team.documents.lease().holder() is not None:
        return False
    return not ownership.goes_on_elsewhere(context.team, state, context.team.report(state.incarnation))


def _not_elsewhere(store: Store, home: Home) -> None:
    team = store.team(home.name)
    if team.exists():
        bound = team.config.read().project
        if bound != str(home.project):
            raise Refused(
                f"the team {home.name} belongs to {bound}", code=ErrorCode.CONFLICT, hint="choose another name"
            )
