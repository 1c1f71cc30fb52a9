"""Nudging: hand one fixed line to one agent, by its own channel or its pane, and verify its arrival.

An Enter in a permission prompt approves it, in most agents. So a pane gets a line only while its agent's turn is over.
The agent's state is checked again between the line and its Enter. Afterwards the outcome is checked too. While an
agent works the line waits, unless the agent has a channel of its own.
"""

import threading
import time
from collections.abc import Callable, Collection
from datetime import datetime

import msgspec
from msgspec.structs import replace

from pro0.engine.background.agent_states import AgentStates, WatchedSession
from pro0.engine.log import Log, reason
from pro0.engine.places import backend_of
from pro0.model.decision import Nudge, Nudged
from pro0.model.home import AgentAct
from pro0.model.runtime import Handle, SeatState, State
from pro0.ops.context import clock
from pro0.rules.screens.nudges import (
    holds_only,
    input_is_free,
    left_over_line,
    may_still_appear,
    tells_the_same,
    was_taken,
)
from pro0.rules.screens.screens import Drawing
from pro0.store.teams import TeamStore

KEYS = "keys"
"""The carrier of a line that goes through the pane."""
VERIFY = 3.0
"""Seconds for a sent line to leave the input."""
GONE = 1.0
"""Seconds without the line in an idle agent's input, until it counts as taken."""
PAUSE = 0.15
FORGETS = "it is working, and would lose a stopped turn: it is told after its next tool"
OLDER = "an older line was sent first"
OFF = "typing is switched off for this version of its agent: pro0 agent prove"
BACKOFF = (1.0, 2.0, 5.0, 15.0, 60.0)
"""Seconds until the next try, by failures so far. A change of the agent's state retries sooner."""


class Try(msgspec.Struct):
    """Failed nudges of one session, and the earliest time of the next."""

    failed: int = 0
    after: float = 0.0
    state: tuple[State, datetime] | None = None
    """The agent's state at the last try, and the time it began."""
    running: bool = False
    why: str = ""


class Nudger:
    """Nudges sessions of one team in the background, one line at a time each. It calls `woken` after each."""

    def __init__(self, team: TeamStore, log: Log, woken: Callable[[], None]) -> None:
        self.backend = backend_of(team.config.read())
        self.agent_states = AgentStates(team, self.backend, log)
        self._log = log
        self._woken = woken
        self._tries: dict[str, Try] = {}
        self._arrived: dict[str, Nudged] = {}
        self._unseen = set[str]()
        """The incarnations whose line has arrived since the lead last looked: what it decides now is out of date."""
        self._lock = threading.Lock()
        """Held while a try begins and while it ends, so that a line is never both on its way and arrived."""

    def begin(self, nudge: Nudge, state: SeatState) -> None:
        """Start to hand the line over, unless a try is running, failed a moment ago or arrived since the last look."""
        with self._lock:
            trial = self._tries.setdefault(nudge.incarnation, Try())
            if trial.running or nudge.incarnation in self._unseen:
                return
            if trial.state != (state.state, state.since):
                trial.state, trial.failed, trial.after = (state.state, state.since), 0, 0.0
            if time.monotonic() >= trial.after:
                threading.Thread(target=self._nudge, args=(nudge, state, trial), daemon=True).start()
                trial.running = True  # the thread ends its try under the lock too, so later

    def arrived(self) -> dict[str, Nudged]:
        """Return the last arrived nudge of each incarnation, for the lead to decide by."""
        with self._lock:
            self._unseen.clear()
            return dict(self._arrived)

    def keep(self, incarnations: Collection[str]) -> None:
        """Forget all other sessions."""
        with self._lock:
            self._tries = {name: trial for name, trial in self._tries.items() if name in incarnations}
            self._arrived = {name: nudged for name, nudged in self._arrived.items() if name in incarnations}

    def queued(self) -> dict[str, str]:
        """Return by incarnation why its line waits, empty for a line that has arrived."""
        return {incarnation: trial.why for incarnation, trial in list(self._tries.items())}

    def _nudge(self, nudge: Nudge, state: SeatState, trial: Try) -> None:
        began, by = clock(), KEYS
        try:
            why, by = self._hand_over(nudge, state)
        except Exception as error:  # noqa: BLE001 - the next try may succeed after any failure
            why = reason(error)
        with self._lock:
            if why:
                trial.after = time.monotonic() + BACKOFF[min(trial.failed, len(BACKOFF) - 1)]
                trial.failed += 1
            else:
                trial.failed = 0
                self._arrived[nudge.incarnation] = replace(nudge.tells, at=began, by=by)
                self._unseen.add(nudge.incarnation)
            trial.why, trial.running = why, False
        self._log.write("nudged", agent=nudge.agent_id, incarnation=nudge.incarnation, queued=why, by=by)
        self._woken()

    def _hand_over(self, nudge: Nudge, state: SeatState) -> tuple[str, str]:
        """Hand the line over; return why it waits, empty when it arrived, and its carrier."""
        watched, handle = self.agent_states.watched(nudge.incarnation), state.handle
        looked = time.monotonic()
        if nudge.urgent and watched and self.agent_states.busy(watched):
            if watched.adapter.forgets:
                return FORGETS, KEYS
            self._stop(watched, handle, looked)
        if watched and watched.adapter.deliver and watched.adapter.deliver(watched.session_view, nudge.line):
            return "", watched.adapter.channel
        return self._by_keys(nudge, watched, handle, off=AgentAct.TYPING in state.off), KEYS

    def _by_keys(self, nudge: Nudge, watched: WatchedSession | None, handle: Handle | None, *, off: bool) -> str:
        if off:
            return OFF
        if handle is None:
            return "its pane is not known"
        drawing = watched.adapter.screens if watched else None
        if watched is None or drawing is None:
            return (
                "" if self.backend.nudge(handle, nudge.line) else "its pane takes no input, or somebody is typing there"
            )
        return self._paste(Input(self.agent_states, watched, drawing, nudge.line), handle)

    def _stop(self, watched: WatchedSession, handle: Handle | None, looked: float) -> None:
        """Stop the agent's turn, if it can be stopped, and wait for its end."""
        adapter = watched.adapter
        done = adapter.stop is not None and adapter.stop(watched.session_view)
        if not done and adapter.interrupt and handle:
            done = self.backend.press(handle, adapter.interrupt, looked)
        deadline = time.monotonic() + VERIFY
        while done and self.agent_states.busy(watched) and time.monotonic() < deadline:
            time.sleep(PAUSE)

    def _paste(self, place: "Input", handle: Handle) -> str:
        looked, line = time.monotonic(), place.line
        # A fixed line of an earlier try may still be there. Then only its Enter is missing.
        if left_over := place.left_over_line():
            place = replace(place, line=left_over)
        elif why := place.closed():
            return why
        elif not self.backend.nudge(handle, place.line, place.shows, looked):
            return "its pane takes no input, somebody is typing there, or its screen has changed"
        elif place.left():
            return ""
        # Some agents take the first Enter as part of the paste. An earlier try, or lead, may also have left the line.
        looked = time.monotonic()
        if not (place.ready() and self.backend.press(handle, "Enter", looked) and place.left()):
            return "the line is still in its input"
        return "" if tells_the_same(place.line, line) else OLDER


class Input(msgspec.Struct, frozen=True):
    """The input box of one agent, and the line to put there."""

    agent_states: AgentStates
    watched: WatchedSession
    drawing: Drawing
    line: str

    def closed(self) -> str:
        """Return the reason not to type now, empty for none."""
        reading, screen = self.agent_states.now(self.watched)
        if input_is_free(self.drawing, reading, screen):
            return ""
        state = reading.state if reading else State.UNKNOWN
        return "its input is not empty" if state in (State.IDLE, State.ERROR) else f"it is {state}"

    def left_over_line(self) -> str:
        """Return the fixed line already in the input, empty for none."""
        return left_over_line(self.drawing, self.agent_states.now(self.watched)[1])

    def shows(self) -> bool:
        """Wait until the input holds the line and nothing else. A busy agent is slow to draw it."""
        deadline = time.monotonic() + VERIFY
        while not holds_only(self.drawing, *(now := self.agent_states.now(self.watched)), self.line):
            if time.monotonic() > deadline or not may_still_appear(self.drawing, *now, self.line):
                return False
            time.sleep(PAUSE)
        return True

    def ready(self) -> bool:
        """Return True when the input holds the line and nothing else."""
        return holds_only(self.drawing, *self.agent_states.now(self.watched), self.line)

    def left(self) -> bool:
        """Wait until the line has left the input for good; False when it stays too long.

        A line also vanishes for a moment while an agent redraws its screen. So it must stay away.
        """
        deadline, gone_since = time.monotonic() + VERIFY, 0.0
        while (now := time.monotonic()) < deadline or gone_since:
            reading, screen = self.agent_states.now(self.watched)
            if not was_taken(self.drawing, reading, screen, self.line):
                gone_since = 0.0
            elif (reading and reading.state is State.WORKING) or now >= (gone_since or now) + GONE:
                return True
            else:
                gone_since = gone_since or now
            time.sleep(PAUSE)
        return False
