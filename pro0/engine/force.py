"""Ending by force when the disk takes nothing: the processes first, and the record as soon as there is room.

What makes the lead end a session is a wish in a file. When that cannot be written, whoever asks by force tells the
guards themselves, proven to be those; a guard needs no disk to end its tree. Under the lease, so that nothing comes
back, when it is the whole team.
"""

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress

from pro0 import config, processes
from pro0.engine.cleanup import end_the_rest, living_guard, take_over
from pro0.engine.outcomes import Show, unrecorded
from pro0.engine.places import backend_of, place_of
from pro0.errors import Pro0Error, Refused, Unwritable
from pro0.model.runtime import Process, SeatState
from pro0.model.team import Seat, ShutdownWish
from pro0.ops import ownership
from pro0.ops.context import Context
from pro0.ops.seats import roster
from pro0.ops.team import members, teams
from pro0.processes.ending import FIRM
from pro0.store.teams import TeamStore

_PAUSE = 0.02


def end_member(context: Context, name: str, why: Unwritable, show: Show) -> Seat:
    """End a member whose shutdown cannot be written, then try to write it; its seat has no wish when that is recorded.

    Raises Unwritable, saying that it has ended, when there is no room still.
    """
    known = roster(context.team)
    seat = known.find(name)
    state = known.state(seat.agent_id)
    show(f"{why.message}: ending {seat.agent_id} unasked")
    _end(context.team, [state] if state else [])
    try:
        return members.shutdown(context, name, timeout=0.0, force=True)
    except Refused:  # there is room again, and the lead has recorded it
        return seat
    except Unwritable as error:
        raise unrecorded(seat.agent_id, error) from error


def end_team(context: Context, why: Unwritable, show: Show) -> ShutdownWish | None:
    """End a team, its lead first, whose stop cannot be written, then try to write it; returns that wish.

    Raises Unwritable, saying that all have ended, when there is no room still.
    """
    team = context.team
    show(f"{why.message}: ending all of {team.name} unasked")
    lease = take_over(team, show, force=True)
    try:
        _end(team, team.runtime.read().seats)
        end_the_rest(team, force=True, show=show)
        made = team.config.read()
        with suppress(Pro0Error):
            backend_of(made).dismantle(place_of(team, made))
        return teams.stop(context, timeout=0.0, force=True).stop
    except Unwritable as error:
        hint = f"free some space, then once more: pro0 team stop -t {team.name}"
        raise Unwritable(unrecorded(f"all of {team.name}", error).message, hint=hint) from error
    finally:
        lease.drop()


def _end(team: TeamStore, states: Sequence[SeatState]) -> None:
    """Let the guards of these sessions end their trees, and end what is left of them; raises Refused for what stays."""
    for state in states:  # without it nobody starts one that is only to come
        with suppress(OSError):
            (team.paths.sessions / team.paths.launch(state.incarnation)).unlink(missing_ok=True)
    grace = config.load(team.paths.home, None, os.environ, {}).end_grace_seconds
    _tell(guards := [guard for state in states if (guard := living_guard(team, state))])
    deadline = time.monotonic() + grace + FIRM + 1
    while any(map(processes.alive, guards)) and time.monotonic() < deadline:
        time.sleep(_PAUSE)
    uid, incarnations = team.config.read().uid, [state.incarnation for state in states]

    def left() -> list[Process]:
        tagged = ownership.of_sessions(team, uid, incarnations)
        return [*filter(processes.alive, guards), *(one for those in tagged.values() for one in those)]

    if stubborn := processes.end(left, grace):
        pids = ", ".join(str(process.pid) for process in stubborn)
        raise Refused(f"cannot end {pids}", code="live_sessions", hint="pro0 doctor")


def _tell(guards: Sequence[Process]) -> None:
    """Ask guards to end their trees; one that was stopped goes on, so that it can."""
    for guard in guards:
        for number in (signal.SIGTERM, signal.SIGCONT):
            processes.signal_process(guard, number)
