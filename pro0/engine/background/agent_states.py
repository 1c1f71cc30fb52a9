"""Read the agents' states from their own sources, titles and screens."""

import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import partial

import msgspec
from msgspec.structs import replace

from pro0.agents import adapter_of, first_prompt, limited
from pro0.agents.adapter import Adapter, Memory, SessionView
from pro0.engine.background.differing import Differences
from pro0.engine.background.words import OVER, began_with, last_words, left_running
from pro0.engine.log import Log, SessionNet
from pro0.engine.opening.environment import member_environment, of_agent
from pro0.errors import Pro0Error
from pro0.model.decision import Seen
from pro0.model.runtime import ENDED, Process, Report, Runtime, SeatState, State
from pro0.model.screen import Reading, Screen
from pro0.model.team import Wanted
from pro0.ops.context import clock, zone
from pro0.ops.team import costs
from pro0.rules.screens import screens
from pro0.rules.screens.nudges import ignoring_own_line
from pro0.rules.screens.rate_limits import named_zone
from pro0.rules.screens.screens import Drawing, typed
from pro0.rules.screens.states import DRAWN, combine
from pro0.sessions.backend import Backend
from pro0.store.teams import TeamStore

PAUSE = 0.3
"""Seconds between two looks at the same agents, less than `rules.turns.LOOK`, the lead's own pause."""


class WatchedSession(msgspec.Struct, frozen=True):
    """A living session with a readable agent."""

    adapter: Adapter
    state: SeatState
    session_view: SessionView
    memory: Memory


class AgentStates:
    """Reads the agents of one team. It remembers the last readings, since unknown overwrites nothing."""

    def __init__(self, team: TeamStore, backend: Backend, log: Log) -> None:
        self._team = team
        self._differences = Differences(log)
        self._net = SessionNet(log)
        self._backend = backend
        self._watched: dict[str, WatchedSession] = {}
        self._readings: dict[str, Reading] = {}
        self._seen: dict[str, Seen] = {}
        self._memories: dict[str, Memory] = {}
        self._began_with: dict[str, frozenset[Process]] = {}
        """The programs below each agent when its present turn began."""
        self._next = 0.0

    def look(self, wanted: Wanted, runtime: Runtime, reports: Mapping[str, Report]) -> dict[str, Seen]:
        """Return the known state of each readable session, from a new look when the last one is old."""
        self._watched = {w.state.incarnation: w for w in self._choose(wanted, runtime, reports)}
        self._seen = {
            incarnation: sighting for incarnation, sighting in self._seen.items() if incarnation in self._watched
        }
        if self._watched and time.monotonic() >= self._next:
            self._next = time.monotonic() + max(PAUSE, self._backend.pace)  # from its start: a look may take long
            self._renew()
        return dict(self._seen)

    def watched(self, incarnation: str) -> WatchedSession | None:
        """Return one session of the last look, None for none."""
        return self._watched.get(incarnation)

    def all(self) -> tuple[WatchedSession, ...]:
        """Return the sessions of the last look."""
        return tuple(self._watched.values())

    def now(self, watched: WatchedSession) -> tuple[Reading | None, Screen | None]:
        """Return one session's state and screen from a fresh look, without memory; None for both when out of reach."""
        report = self._team.report(watched.state.incarnation)
        if report and report.state is State.UNREACHABLE:  # its screen here is an old one
            return None, None
        screen = self._screens([watched]).get(watched.state.incarnation)
        # A memory of its own: other threads call this.
        return combine(None, _sources(replace(watched, memory=Memory()), screen)), screen

    def busy(self, watched: WatchedSession) -> bool:
        """Return True when an agent is in the middle of a turn, without a question or a draft."""
        reading, _ = self.now(watched)
        return reading is not None and reading.state is State.WORKING

    def _choose(self, wanted: Wanted, runtime: Runtime, reports: Mapping[str, Report]) -> Iterable[WatchedSession]:
        seats = {seat.agent_id: seat for seat in wanted.seats}
        for state in runtime.seats:
            seat, report = seats.get(state.agent_id), reports.get(state.incarnation)
            if seat and state.state not in ENDED and report and report.agent and not report.exit:
                adapter = limited(adapter_of(seat), state.off)
                if adapter.look or adapter.screens or adapter.deliver:
                    memory = self._memories.setdefault(state.incarnation, Memory(costs.of_call))
                    yield WatchedSession(adapter, state, view_of(self._team, adapter, state, report.agent), memory)

    def _renew(self) -> None:
        current_screens = self._screens(list(self._watched.values()))
        now = clock()
        for incarnation, watched in self._watched.items():
            screen = current_screens.get(incarnation)
            self._net.look(watched.state, partial(self._renew_one, watched, screen, now))
        self._differences.keep(self._watched)
        self._net.keep(self._watched)
        self._readings = {i: reading for i, reading in self._readings.items() if i in self._watched}
        self._began_with = {i: programs for i, programs in self._began_with.items() if i in self._watched}
        self._memories = {i: memory for i, memory in self._memories.items() if i in self._watched}

    def _renew_one(self, watched: WatchedSession, screen: Screen | None, now: datetime) -> None:
        incarnation = watched.state.incarnation
        sources = _sources(watched, screen)
        reading = combine(self._readings.get(incarnation), sources)
        if reading is None:
            return
        self._differences.note(watched.state, sources, reading)
        before = self._seen.get(incarnation)
        if all(source.source in DRAWN for source in sources):  # an agent's own word takes its prompt into account
            reading = _until_begun(watched, reading, before, screen)
        words = last_words(watched.adapter, watched.session_view, watched.memory, reading, before, screen)
        running = self._left_running(watched, reading, before)
        self._readings[incarnation] = reading
        self._seen[incarnation] = replace(_sighting(reading, before, now), words=words, running=running)

    def _left_running(self, watched: WatchedSession, reading: Reading, before: Seen | None) -> tuple[str, ...]:
        """Return the programs left running by a turn; looked for once, at its end."""
        incarnation, agent = watched.state.incarnation, watched.session_view.agent
        was_over, over = before is not None and before.state in OVER, reading.state in OVER
        if was_over and not over:
            self._began_with[incarnation] = began_with(agent)
        if not over or (was_over and before):
            return before.running if over and before else ()
        return left_running(agent, self._began_with.get(incarnation, frozenset()))

    def _screens(self, watched: list[WatchedSession]) -> dict[str, Screen]:
        handles = [w.state.handle for w in watched if w.adapter.screens and w.state.handle]
        try:
            return self._backend.look(handles) if handles else {}
        except Pro0Error:
            return {}


def view_of(team: TeamStore, adapter: Adapter, state: SeatState, agent: Process | None = None) -> SessionView:
    """Return a session as its adapter sees it."""
    started_in = of_agent(team.environment.read(), adapter.passes)
    return SessionView(
        session=state.session,
        agent=agent,
        started_at=state.started_at,
        cwd=state.worktree or team.config.read().project,
        folder=str(team.paths.agent_folder(state.incarnation)),
        environment=member_environment(started_in, {}),
    )


def _sources(watched: WatchedSession, screen: Screen | None) -> tuple[Reading, ...]:
    """Return the readings of all sources."""
    adapter = watched.adapter
    own_reading = adapter.look(watched.session_view, watched.memory) if adapter.look else None
    drawn = watched.memory.drawn(adapter.screens, screen, _drawn) if adapter.screens and screen else ()
    return (*([own_reading] if own_reading else []), *(_without_its_prompt(watched, each, screen) for each in drawn))


def _without_its_prompt(watched: WatchedSession, reading: Reading, screen: Screen | None) -> Reading:
    """Return "starting" for a draft that is the first prompt itself, which some agents show before they send it."""
    if reading.state is not State.DRAFT or watched.state.state is not State.STARTING:
        return reading
    text = typed(watched.adapter.screens, screen) if watched.adapter.screens and screen else None
    if not text or not first_prompt.holds(watched.session_view, text):
        return reading
    return replace(reading, state=State.STARTING, rule=first_prompt.UNTAKEN)


def _until_begun(watched: WatchedSession, reading: Reading, before: Seen | None, screen: Screen | None) -> Reading:
    """Return "starting" for an agent whose input is empty because it may not have taken its first prompt yet."""
    begun = before is not None and before.state not in (State.STARTING, State.UNKNOWN)
    if reading.state is not State.IDLE or watched.state.state is not State.STARTING or begun:
        return reading
    adapter, session_view = watched.adapter, watched.session_view
    if adapter.prompt_on_screen:
        untaken = first_prompt.untaken(session_view, screen)
    else:  # some agents show their prompt before they take it; then their own files tell nothing yet
        untaken = adapter.look is not None and first_prompt.awaited(session_view)
    return replace(reading, state=State.STARTING, rule=first_prompt.UNTAKEN) if untaken else reading


def _drawn(drawing: Drawing, screen: Screen) -> tuple[Reading, ...]:
    return tuple(ignoring_own_line(drawing, reading, screen) for reading in screens.read(drawing, screen))


def _sighting(reading: Reading, before: Seen | None, now: datetime) -> Seen:
    since = before.since if before and before.state is reading.state else now
    return Seen(
        state=reading.state,
        since=since,
        source=reading.source,
        rule=reading.rule,
        note=reading.note,
        lost=reading.lost,
        session=reading.session or (before.session if before else ""),
        zone=zone(named_zone(reading.note)) if reading.state is State.ERROR else UTC,
    )
