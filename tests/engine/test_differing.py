"""A contradiction between an agent's word and its screen is logged once, when it lasts."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from pro0.engine.background import differing
from pro0.model.runtime import SeatState, State
from pro0.model.screen import Reading

OWN, DRAWN = Reading(state=State.WORKING, source="bridge", rule="working"), Reading(state=State.IDLE, source="screen")
NOW = datetime(2026, 11, 24, tzinfo=UTC)
SEAT = SeatState(agent_id="w1", incarnation="i1", generation=1, state=State.WORKING, since=NOW, started_at=NOW)


class Noted:
    """A log that keeps what is written."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def write(self, event: str, **details: Any) -> None:
        self.events.append({"event": event, **details})


@pytest.fixture
def log() -> Noted:
    return Noted()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_what_lasts_is_logged_once_and_again_when_it_comes_again(log: Noted, clock: list[float]) -> None:
    """Issue 17, build 2: for whoever asks `agent explain`."""
    differences = differing.Differences(log)  # type: ignore[arg-type]
    for now in (0.0, 1.0, 2.0, 3.0):
        clock[0] = now
        differences.note(SEAT, (OWN, DRAWN), OWN)
    [event] = log.events
    assert (event["own"], event["counted"]) == ("working (bridge: working)", State.WORKING)
    differences.note(SEAT, (OWN,), OWN)
    for now in (4.0, 6.0):
        clock[0] = now
        differences.note(SEAT, (OWN, DRAWN), OWN)
    assert len(log.events) == 2


def test_what_passes_is_no_difference(log: Noted, clock: list[float]) -> None:
    differences = differing.Differences(log)  # type: ignore[arg-type]
    for now in range(20):
        clock[0] = float(now)
        differences.note(SEAT, (OWN, DRAWN) if now % 2 else (OWN,), OWN)
    differences.keep(())
    assert log.events == []
