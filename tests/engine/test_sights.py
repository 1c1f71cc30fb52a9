"""How often the lead looks at its agents."""

from collections.abc import Sequence

import pytest

from pro0.engine.background import agent_states
from pro0.model.runtime import Handle
from pro0.model.screen import Screen
from pro0.rules.lead.turns import LOOK
from tests.engine.crew import Crew
from tests.engine.test_nudging import Hand, Pane, pane

__all__ = ["pane"]
BUSY = 0.25
"""Seconds that one look takes on a machine that is busy."""


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 1e9

    def monotonic(self) -> float:
        """Return the time."""
        return self.now


def test_a_slow_look_is_no_reason_to_leave_the_next_one_out(
    pane: Pane, alpha: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a question is seen a second later on a busy machine (issue 4, line 5)."""
    hand, clock, looks = Hand(alpha), Clock(), list[float]()

    def look(_handles: Sequence[Handle]) -> dict[str, Screen]:
        looks.append(clock.now)
        clock.now += BUSY
        return {"inc-1": pane.screen}

    monkeypatch.setattr(agent_states, "time", clock)
    monkeypatch.setattr(pane, "look", look)
    for _ in range(3):
        began = clock.now
        hand.look()
        hand.look()
        clock.now = began + LOOK.total_seconds()
    assert len(looks) == 3
