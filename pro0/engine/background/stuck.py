"""Find stuck workers: how long they have shown nothing new and run no program."""

import hashlib
import time
from collections.abc import Callable, Iterable

import msgspec

from pro0.engine.background.words import running_programs
from pro0.engine.places import shown_at
from pro0.errors import Pro0Error
from pro0.model.runtime import SeatState
from pro0.sessions.backend import Backend
from pro0.store.teams import TeamStore

LINES = 60
LOOKS = 20
"""Looks at a still worker until it counts as stuck."""
SHORTEST, LONGEST = 0.5, 5.0
"""Bounds of the seconds between two looks. After a crash only the last look at a pane is left."""
KEPT = 50
"""Sessions with a remembered last screen."""


class Still(msgspec.Struct):
    """The last screen of one session, and the time it first appeared, by the monotonic clock."""

    shown: str
    since: float


class StuckWatch:
    """Watches the workers of one team. A new lead starts without this memory, so a warning only comes later."""

    def __init__(
        self, team: TeamStore, backend: Backend, limit: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._team = team
        self._backend = backend
        self._pause = min(max(limit / LOOKS, SHORTEST), LONGEST)
        self._clock = clock
        self._known: dict[str, Still] = {}
        self._last: dict[str, str] = {}
        self._next = 0.0

    def look(self, workers: Iterable[SeatState]) -> dict[str, float]:
        """Return the seconds without change for each living worker, by incarnation."""
        living = {state.incarnation: state for state in workers}
        now = self._clock()
        self._known = {incarnation: screen for incarnation, screen in self._known.items() if incarnation in living}
        if now >= self._next:
            self._next = now + self._pause
            for incarnation, state in living.items():
                self._note(incarnation, self._shows(state), now)
        return {incarnation: now - screen.since for incarnation, screen in self._known.items()}

    def last(self, incarnation: str) -> str:
        """Return the last known screen of a session, "" for none."""
        return self._last.get(incarnation, "")

    def _note(self, incarnation: str, digest: str, now: float) -> None:
        before = self._known.get(incarnation)
        if before is None or not digest or before.shown != digest:
            self._known[incarnation] = Still(digest, now)

    def _shows(self, state: SeatState) -> str:
        """Return a digest of a session's screen, or nothing while its agent runs a program."""
        handle = shown_at(self._team, state)
        try:
            text = self._backend.peek(handle, LINES) if handle else "-"
        except Pro0Error:
            return ""
        self._last = dict([*self._last.items(), (state.incarnation, text)][-KEPT:])
        if state.agent is None or running_programs(state.agent):
            return ""
        return hashlib.sha256(text.encode()).hexdigest()
