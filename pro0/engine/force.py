"""Ending by force on a full disk: processes first, the record as soon as there is room.

Normally a request in a file makes the lead end a session. On a full disk the forcing client signals the proven guards
itself. A guard needs no disk to end its tree. For a whole team this happens under the lease, so that nothing comes
back.
"""

import signal
import time
from collections.abc import Sequence
from contextlib import suppress

from pro0 import processes
from pro0.engine.cleanup import end_grace, end_processes, end_the_rest, living_guard, take_over
from pro0.engine.outcomes import Show
from pro0.engine.places import backend_of, place_of
from pro0.engine.room import unrecorded
from pro0.errors import Pro0Error, Refused, Unwritable
from pro0.model.runtime import Process, SeatState
from pro0.model.team import Seat, ShutdownWish
from pro0.ops import ownership
from pro0.ops.context import Context
from pro0.ops.seats import roster
from pro0.ops.team import members, teams
from pro0.processes.ending import FIRM
from pro0.store.database.sharing import others_of
from pro0.store.teams import TeamStore

_PAUSE = 0.02


def end_member(context: Context, name: str, why: Unwritable, show: Show) -> Seat:
    """End a member without a written request, then try to write one; return its seat.

    The seat has no shutdown request when the lead has recorded the end. Raises Unwritable, naming the ended member,
    when there is still no room. Raises `why` for a member of another machine: only the lead there knows its guard.
    """
    team_roster = roster(context.team)
    seat = team_roster.find(name)
    if seat.machine != context.team.machine:
        raise why
    state = team_roster.state(seat.agent_id)
    show(f"{why.message}: ending {seat.agent_id} directly")
    _end(context.team, [state] if state else [])
    try:
        return members.shutdown(context, name, timeout=0.0, force=True)
    except Refused:  # the disk has room again, and the lead has recorded the end
        return seat
    except Unwritable as error:
        raise unrecorded(seat.agent_id, error) from error


def end_team(context: Context, why: Unwritable, show: Show) -> ShutdownWish | None:
    """End a team and its lead without a written stop, then try to write one; return it.

    Raises Unwritable, saying all have ended, when there is still no room.
    """
    team = context.team
    show(f"{why.message}: ending all of {team.name} directly")
    where = " here" if others_of(team.documents) else ""
    try:
        lease = take_over(team, show, force=True)
    except Unwritable as error:  # a read-only file system opens no lease; the lead records the ends when it can
        _end(team, team.runtime.read().seats)
        hint = f"once it can be written again, once more: pro0 team stop -t {team.name}"
        raise Unwritable(unrecorded(f"every session of {team.name}{where}", error).message, hint=hint) from error
    try:
        _end(team, team.runtime.read().seats)
        end_the_rest(team, force=True, show=show)
        team_config = team.config.read()
        with suppress(Pro0Error):
            backend_of(team_config).dismantle(place_of(team, team_config))
        return teams.stop(context, timeout=0.0, force=True).stop
    except Unwritable as error:
        hint = f"free some space, then run again: pro0 team stop -t {team.name}"
        raise Unwritable(unrecorded(f"all of {team.name}{where}", error).message, hint=hint) from error
    finally:
        lease.drop()


def _end(team: TeamStore, states: Sequence[SeatState]) -> None:
    """Let the guards end their trees, then end the leftovers; raise Refused for surviving processes."""
    for state in states:  # without its launch file a pending session cannot start
        with suppress(OSError):
            (team.paths.sessions / team.paths.launch(state.incarnation)).unlink(missing_ok=True)
    guards, grace = [guard for state in states if (guard := living_guard(team, state))], end_grace(team)
    end_guards(guards, grace)
    uid, incarnations = team.config.read().uid, [state.incarnation for state in states]

    def remaining_processes() -> list[Process]:
        tagged = ownership.of_sessions(team, uid, incarnations)
        return [
            *filter(processes.alive, guards),
            *(process for session_processes in tagged.values() for process in session_processes),
        ]

    end_processes(remaining_processes, grace)


def end_guards(guards: Sequence[Process], grace: float) -> None:
    """Ask guards to end their trees, and wait until they have or their time is up.

    A stopped guard (SIGSTOP) is continued first, so that it can.
    """
    for guard in guards:
        for number in (signal.SIGTERM, signal.SIGCONT):
            with suppress(Pro0Error, OSError):  # a guard that gets no signal is found among the leftovers
                processes.signal_process(guard, number)
    deadline = time.monotonic() + grace + FIRM + 1
    while any(map(processes.may_live, guards)) and time.monotonic() < deadline:
        time.sleep(_PAUSE)
