"""Log when an agent's own word and its screen contradict each other for a while."""

import time
from collections.abc import Collection

import msgspec

from pro0.engine.log import Log
from pro0.model.runtime import SeatState
from pro0.model.screen import Reading
from pro0.rules.screens.states import difference

LASTING = 2.0
"""Seconds that a difference must last to be logged, since a screen is drawn a moment after its event."""


class _Lasting(msgspec.Struct):
    """A difference of one session, and since when it has lasted."""

    states: tuple[str, str]
    since: float
    is_logged: bool = False


class Differences:
    """Logs the differences of one team, each once."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._lasting: dict[str, _Lasting] = {}

    def note(self, state: SeatState, readings: Collection[Reading], counted: Reading) -> None:
        """Note what the sources of one session say now."""
        differing_readings = difference(readings)
        if differing_readings is None:
            self._lasting.pop(state.incarnation, None)
            return
        own, drawn = differing_readings
        before = self._lasting.get(state.incarnation)
        if before is None or before.states != (own.state, drawn.state):
            self._lasting[state.incarnation] = _Lasting((own.state, drawn.state), time.monotonic())
        elif not before.is_logged and time.monotonic() - before.since >= LASTING:
            before.is_logged = True
            self._log.write(
                "differs",
                agent=state.agent_id,
                incarnation=state.incarnation,
                own=_in_words(own),
                screen=_in_words(drawn),
                counted=counted.state,
            )

    def keep(self, incarnations: Collection[str]) -> None:
        """Forget all other sessions."""
        self._lasting = {name: lasting for name, lasting in self._lasting.items() if name in incarnations}


def _in_words(reading: Reading) -> str:
    return f"{reading.state} ({reading.source}: {reading.rule})"
