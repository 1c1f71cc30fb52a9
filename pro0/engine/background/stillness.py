"""Stillness: for how long workers have neither shown anything new nor had a program of theirs running."""

import hashlib
import time
from collections.abc import Callable, Iterable

import msgspec

from pro0 import processes
from pro0.engine.places import shown_at
from pro0.errors import Pro0Error
from pro0.model.runtime import SeatState
from pro0.sessions.backend import Backend
from pro0.store.teams import TeamStore

LINES = 60
LOOKS = 20
"""How often one that is still is looked at until it counts as stuck."""
SHORTEST, LONGEST = 0.5, 5.0
"""Seconds between two looks: what a pane showed last is all that is left of it after a crash."""
KEPT = 50
"""Of how many sessions the last sight is kept."""


class Still(msgspec.Struct):
    """What one session showed last, and since when, by the monotonic clock."""

    shown: str
    since: float


class Stillness:
    """Watches the workers of one team; what it saw is forgotten with its lead, which only makes a warning later."""

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
        """Return for how many seconds each living worker has been still, by incarnation."""
        living = {state.incarnation: state for state in workers}
        now = self._clock()
        self._known = {incarnation: still for incarnation, still in self._known.items() if incarnation in living}
        if now >= self._next:
            self._next = now + self._pause
            for incarnation, state in living.items():
                self._note(incarnation, self._shows(state), now)
        return {incarnation: now - still.since for incarnation, still in self._known.items()}

    def last(self, incarnation: str) -> str:
        """Return what a session showed when it was last looked at, "" when it never was."""
        return self._last.get(incarnation, "")

    def _note(self, incarnation: str, shown: str, now: float) -> None:
        before = self._known.get(incarnation)
        if before is None or not shown or before.shown != shown:
            self._known[incarnation] = Still(shown, now)

    def _shows(self, state: SeatState) -> str:
        """Return what tells one moment of a session from the next; nothing while a program of its agent's runs."""
        handle = shown_at(self._team, state)
        try:
            text = self._backend.peek(handle, LINES) if handle else "-"
        except Pro0Error:
            return ""
        self._last = dict([*self._last.items(), (state.incarnation, text)][-KEPT:])
        if state.agent is None or processes.descendants(state.agent.pid, sparing=True):
            return ""
        return hashlib.sha256(text.encode()).hexdigest()
