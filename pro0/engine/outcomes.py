"""Wait for the lead to act on a request, and report the outcome.

The waiting client also keeps a lead alive. After the last guard is told to end, nobody else does.
"""

import time
from collections.abc import Callable, Iterable
from functools import partial
from math import inf

from pro0 import processes
from pro0.agents import adapter_of
from pro0.engine.hosts import HeldStarts, OtherEnds
from pro0.engine.opening.failing import (
    raise_failure_of,
    raise_failures,
    raise_if_called_off,
    raise_unless_it_came_up,
)
from pro0.engine.opening.launch import ensure_lead
from pro0.engine.room import Room
from pro0.errors import EnvironmentMissing, ErrorCode, Refused, TimedOut
from pro0.model.runtime import ENDED, Phase, Refusal, Runtime, SeatState, State
from pro0.model.task import Status, Task
from pro0.model.team import Seat, ShutdownWish, placed
from pro0.ops.context import clock
from pro0.ops.seats import roster
from pro0.ops.work import readying
from pro0.rules.tasks.changes import find
from pro0.store.teams import TeamStore

Show = Callable[[str], None]

PAUSE = 0.03
"""Seconds between two looks at runtime.json."""
LEAD_PAUSE = 2.0
"""Seconds between two checks for a living lead."""
START_PATIENCE = 60.0
"""Seconds for sessions to come up, even seven of iTerm2 on a busy machine. Failures are reported at once."""
READY_PATIENCE = 5.0
"""Seconds for a running program to show a state. Some never do, so the client then says that and waits no longer."""
ENDING_PATIENCE = 30.0
"""Seconds for ending beyond the request's time-out: TERM, KILL, and the lead's own sweep."""
SLOW_END = 1.0
"""Seconds after which somebody who waits is told that a session is ending."""
RECORDING_PATIENCE = 10.0
"""Seconds for the lead to record who stays, once it has taken a request back."""


def started(team: TeamStore, seats: Iterable[Seat], show: Show) -> list[SeatState]:
    """Wait until every seat has a session with a known state; raises EnvironmentMissing for a failed one.

    Raises Refused when its team, or the seat itself, is asked to end before that. A session whose program runs, but
    shows no state, is returned as it is. A session held back by its provider's rate limit is left out.
    """
    seats = list(seats)
    agents = {seat.agent_id: placed(seat.agent, seat.host) for seat in seats}
    waiting = {seat.agent_id: seat.generation for seat in seats}
    generations, deadline, up = dict(waiting), time.monotonic() + START_PATIENCE, dict[str, SeatState]()
    lead, running, held = _Lead(team), _Running(seats), HeldStarts(team, show)
    made_ready = {seat.agent_id for seat in seats if seat.worktree}
    elsewhere = {seat.agent_id for seat in seats if seat.host}
    while waiting:
        lead.keep()
        late = time.monotonic() >= deadline
        runtime = team.runtime.read()
        raise_if_called_off(team, runtime, waiting)
        raise_failures(runtime, generations)
        held.look(runtime, elsewhere & waiting.keys())
        for state in runtime.seats:
            begun = state.state is not State.STARTING or running.long_enough(state) or (late and state.agent)
            if waiting.get(state.agent_id) == state.generation and begun:
                raise_unless_it_came_up(state, elsewhere=state.agent_id in elsewhere)
                up[state.agent_id] = state
                del waiting[state.agent_id]
                show(_begun(state))
        # A rate-limited member starts later, so waiting for it here would only time out.
        for agent_id in _held_back(runtime, {name: agents[name] for name in waiting}):
            del waiting[agent_id]
        if any(list(map(partial(_set_up, team, show), filter(made_ready.__contains__, waiting)))):
            deadline = time.monotonic() + START_PATIENCE
        elif waiting and late:
            raise held.error(waiting) or _slow(team, runtime, waiting)
        time.sleep(PAUSE)
    return [up[agent_id] for agent_id in generations if agent_id in up]


class _Running:
    """Tells which programs have run long enough without showing a state. pro0's own agents always show one."""

    def __init__(self, seats: Iterable[Seat]) -> None:
        self._patient = {s.agent_id: READY_PATIENCE if adapter_of(s).program and not s.host else inf for s in seats}
        self._since: dict[str, float] = {}

    def long_enough(self, state: SeatState) -> bool:
        """Note a running program; return True when it has had enough time to show a state."""
        if not state.agent or state.agent_id not in self._patient:
            return False
        now = time.monotonic()
        return now - self._since.setdefault(state.incarnation, now) >= self._patient[state.agent_id]


def _begun(state: SeatState) -> str:
    if state.state is State.STARTING:
        return f"{state.agent_id} is starting: its program runs, its state is not known yet"
    return f"{state.agent_id} is {state.state}"


def _set_up(team: TeamStore, show: Show, agent_id: str) -> bool:
    """Show how far the set-up of a member's worktree is; return False when none runs."""
    line = readying.progress(team, agent_id)
    if line:
        show(f"{agent_id} is being set up: {line}")
    return bool(line)


def looked_at(team: TeamStore) -> None:
    """Wait until the lead has recorded the end of every session that died without a lead."""
    deadline, lead = time.monotonic() + ENDING_PATIENCE, _Lead(team)
    while time.monotonic() < deadline:
        if all(state.state in ENDED or lives(state) for state in team.record.read().seats):
            return
        lead.keep()
        time.sleep(PAUSE)


def lives(state: SeatState) -> bool:
    """Return False only when a session's guard is known to be dead."""
    return state.guard is None or processes.may_live(state.guard)


def begun(team: TeamStore, wished: Task, show: Show) -> Task:
    """Wait until a task started by a human has a session; raises EnvironmentMissing when the start failed."""
    deadline, lead = time.monotonic() + START_PATIENCE, _Lead(team)
    while time.monotonic() < deadline:
        lead.keep()
        runtime = team.runtime.read()
        raise_failure_of(runtime, wished)
        task = find(team.tasks.read(), wished.id)
        if task.start is None and task.epoch > wished.epoch and task.status is not Status.PENDING:
            state = runtime.session(task.session)
            if state is None or state.state is not State.STARTING:
                show(f"{task.id} is {task.status.words}")
                return task
        time.sleep(PAUSE)
    hint = f"pro0 team logs -t {team.name}"
    raise EnvironmentMissing(f"{wished.id} was not started in {START_PATIENCE:g} s", hint=hint)


def shut_down(team: TeamStore, seat: Seat, show: Show, *, patience: float | None = None) -> SeatState | None:
    """Wait until a member has ended; return its state, None when its seat is gone too.

    Raises Refused with the member's reason when it stays. Raises TimedOut after `patience` seconds, at the latest
    `ENDING_PATIENCE` after the request's own time-out.
    """
    wish = seat.shutdown
    if wish is None:
        if (ended := roster(team).state(seat.agent_id)) and ended.state in ENDED:
            return ended
        raise Refused(f"nobody asked {seat.agent_id} to shut down", code=ErrorCode.NO_REQUEST)
    answers, lead, room, request = _Answers(show), _Lead(team), Room(team), _Request(team, wish, patience)
    while request.stands():
        team_roster = roster(team)
        state = team_roster.state(seat.agent_id)
        room.look([state] if state else [], seat.agent_id)
        lead.keep()
        answers.show(team_roster.wanted.seats, [state] if state else [])
        if state and state.state in ENDED:
            return state
        # The session of a task may end with its task meanwhile, and the lead takes the seat away or hires anew.
        if (seat.agent_id, seat.generation) not in {(s.agent_id, s.generation) for s in team_roster.wanted.seats}:
            return None
        request.look(seat.agent_id, team_roster.find(seat.agent_id).shutdown)
        time.sleep(PAUSE)
    raise _not_ended(
        seat.agent_id, roster(team).runtime, "check that the team has a lead: pro0 team status", seat.agent_id
    )


def stopped(team: TeamStore, wish: ShutdownWish, show: Show, *, patience: float | None = None) -> None:
    """Wait until a team has stopped and its lead is gone; raises Refused with each member's reason to stay.

    Raises TimedOut after `patience` seconds, at the latest `ENDING_PATIENCE` after the request's own time-out.
    """
    answers, lead, room, elsewhere = _Answers(show), _Lead(team), Room(team), OtherEnds(team)
    request = _Request(team, wish, patience)
    gone = {state.agent_id for state in team.runtime.read().seats if state.state in ENDED}
    while request.stands():
        team_roster = roster(team)
        room.look(team_roster.runtime.seats, f"all of {team.name}")
        lead.keep()
        answers.show(team_roster.wanted.seats, team_roster.runtime.seats)
        for state in team_roster.runtime.seats:
            if state.state in ENDED and state.agent_id not in gone:
                gone.add(state.agent_id)
                show(f"{state.agent_id} has ended ({state.state})")
        elsewhere.look(team_roster.runtime)
        if team_roster.runtime.phase is Phase.STOPPED and team.documents.lease().holder() is None:
            return
        request.look(team.name, team_roster.wanted.stop)
        time.sleep(PAUSE)
    raise _not_ended(team.name, roster(team).runtime, f"pro0 team stop -t {team.name} --force")


class _Request:
    """A request to end that somebody waits for. A newer one of somebody else takes its place."""

    def __init__(self, team: TeamStore, wish: ShutdownWish, patience: float | None) -> None:
        self._team = team
        self._latest = time.monotonic() + (inf if patience is None else patience)
        self._take(wish)

    def _take(self, wish: ShutdownWish) -> None:
        self._wish, self._missing = wish, inf
        self._deadline = min(time.monotonic() + wish.timeout + ENDING_PATIENCE, self._latest)

    def stands(self) -> bool:
        """Return True while it is worth waiting."""
        return time.monotonic() < self._deadline

    def look(self, subject: str, present: ShutdownWish | None) -> None:
        """Go over to the request that is present; raises Refused when somebody stays, or when it was taken back."""
        for refusal in self._team.runtime.read().refusals:
            if refusal.request_id == self._wish.id:
                raise _stayed(refusal)
        if present is None:
            self._missing = min(self._missing, time.monotonic())
            if time.monotonic() - self._missing >= RECORDING_PATIENCE:
                message = f"{subject} goes on: the request to end was taken back"
                raise Refused(message, code=ErrorCode.STAYS, hint=f"who did it: pro0 team logs -t {self._team.name}")
        elif present.id != self._wish.id:
            self._take(present)


class _Lead:
    """Starts a new lead when the awaited one has died."""

    def __init__(self, team: TeamStore) -> None:
        self._team = team
        self._look_at = time.monotonic() + LEAD_PAUSE

    def keep(self) -> None:
        """Check from time to time; raises EnvironmentMissing when no lead comes up."""
        if time.monotonic() >= self._look_at:
            ensure_lead(self._team)
            self._look_at = time.monotonic() + LEAD_PAUSE


class _Answers:
    """Shows each "not yet" once, and who takes long to end."""

    def __init__(self, show: Show) -> None:
        self._show = show
        self._shown: set[tuple[str, str]] = set()

    def show(self, seats: Iterable[Seat], states: Iterable[SeatState]) -> None:
        """Show the new rejections, and the sessions whose processes have been ending for a while."""
        for state in states:
            is_slow = state.ending_since and (clock() - state.ending_since).total_seconds() >= SLOW_END
            if is_slow and state.state not in ENDED and (state.agent_id, state.incarnation) not in self._shown:
                self._shown.add((state.agent_id, state.incarnation))
                self._show(f"{state.agent_id} is ending; what does not end by itself is killed in a while")
        for seat in seats:
            answer = seat.answer
            if answer and not answer.approve and (seat.agent_id, answer.reason) not in self._shown:
                self._shown.add((seat.agent_id, answer.reason))
                self._show(f"{seat.agent_id}: not yet: {answer.reason}")


def _held_back(runtime: Runtime, agents: dict[str, str]) -> set[str]:
    """Return the members without a session whose agent's provider is rate-limited."""
    limited = {limit.agent for limit in runtime.limits if limit.until > clock()}
    alive = {state.agent_id for state in runtime.seats if state.state not in ENDED}
    return {agent_id for agent_id, agent in agents.items() if agent in limited and agent_id not in alive}


def _slow(team: TeamStore, runtime: Runtime, waiting: dict[str, int]) -> EnvironmentMissing:
    """Return the error for a slow start. Its hint names a begun member, else the lead's log."""
    begun = [state.agent_id for state in runtime.seats if waiting.get(state.agent_id) == state.generation]
    look = f"pro0 member peek {min(begun)}" if begun else "pro0 team logs"
    message = f"{', '.join(sorted(waiting))} did not come up in {START_PATIENCE:g} s"
    return EnvironmentMissing(message, hint=f"look at it: {look} -t {team.name}", of_team=True)


def _not_ended(subject: str, runtime: Runtime, hint: str, agent_id: str | None = None) -> TimedOut:
    """Return the error for a member or a whole team that did not end in time."""
    for state in runtime.seats:
        if state.state is State.UNREACHABLE and agent_id in (None, state.agent_id):
            return TimedOut(f"{state.agent_id} has not ended: {state.note}", hint="pro0 needs")
    return TimedOut(f"{subject} has not ended", hint=hint)


def _stayed(refusal: Refusal) -> Refused:
    reasons = "; ".join(f"{agent_id} stays: {why}" for agent_id, why in sorted(refusal.stayed.items()))
    return Refused(reasons, code=ErrorCode.STAYS, hint="wait until it is free, or use --force")
