"""How stored moments move with a clock that jumps, and with time in which nothing ran."""

import time
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from pro0.engine import jumps
from pro0.engine.jumps import AWAKE, Jumps
from pro0.model.runtime import Runtime, SeatState, State
from pro0.model.team import Answer, Seat, ShutdownWish, Wanted, Wish
from tests.rules.building import T0, at

DAY = 86400.0


class Clocks:
    """The wall's clock, and the seconds that pass."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wall: datetime = T0
        self.steady = 1000.0
        monkeypatch.setattr(jumps, "clock", lambda: self.wall)
        monkeypatch.setattr(time, "monotonic", lambda: self.steady)

    def go(self, steady: float, wall: float) -> None:
        """Let time pass on both."""
        self.steady += steady
        self.wall += timedelta(seconds=wall)


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


def team(*stamps: float) -> tuple[Wanted, Runtime]:
    """A team that is to stop since the first moment, and whose sessions came up at the others."""
    wish = ShutdownWish(id="ask", by="human", at=at(stamps[0]))
    states = (SeatState("w1", 1, f"inc-{moment}", State.IDLE, at(moment), at(moment)) for moment in stamps[1:])
    return Wanted(wish=Wish.STOP, stop=wish), Runtime(seats=tuple(states))


@pytest.mark.parametrize(
    ("steady", "wall", "moves"),
    [
        (2.0, 2.0, 0.0),
        (2.0, 3.5, 0.0),
        (2.0, 2.0 + DAY, DAY),
        (2.0, 2.0 - DAY, -DAY),
        (0.0, 60.0, 60.0),
        (30.0, 30.0, 30.0 - AWAKE.total_seconds()),
    ],
    ids=["as-it-should", "a-little-off", "a-day-on", "a-day-back", "a-closed-lid", "stopped"],
)
def test_what_is_known_moves_along(clocks: Clocks, steady: float, wall: float, moves: float) -> None:
    watch = Jumps()
    assert watch.look() == T0
    assert watch.moved(*team(-5, -3)) == {}
    clocks.go(steady, wall)
    assert watch.look() == clocks.wall
    expected = {at(-5): at(-5 + moves), at(-3): at(-3 + moves)} if moves else {}
    assert watch.moved(*team(-5, -3)) == expected


def test_what_is_stamped_after_a_jump_stays_and_jumps_add_up(clocks: Clocks) -> None:
    watch = Jumps()
    watch.moved(*team(-5))
    clocks.go(1, 1 + DAY)
    watch.look()
    assert watch.moved(*team(-5, DAY)) == {at(-5): at(-5 + DAY)}
    clocks.go(1, 1 - 3 * DAY)
    watch.look()
    assert watch.moved(*team(-5, DAY)) == {at(-5): at(-5 - 2 * DAY), at(DAY): at(-2 * DAY)}
    clocks.go(1, 1)
    watch.look()
    assert watch.moved(*team(-5)) == {at(-5): at(-5 - 2 * DAY)}
    assert watch.moved(*team(7)) == {}, "what is gone is forgotten"


def test_requests_and_answers_of_members_move_too(clocks: Clocks) -> None:
    wish = ShutdownWish(id="ask", by="human", at=at(-4))
    answer = Answer(request_id="ask", incarnation="inc", approve=False, at=at(-2))
    wanted = Wanted(seats=(Seat(agent_id="w1", name="w1", agent="shell", shutdown=wish, answer=answer),))
    state = SeatState("w1", 1, "inc", State.STOPPING, at(-9), at(-8), asked_at=at(-7), ending_since=at(-6))
    state = replace(state, nudged_at=at(-5))
    watch = Jumps()
    watch.moved(wanted, Runtime(seats=(state,)))
    clocks.go(0, DAY)
    watch.look()
    moved = watch.moved(wanted, Runtime(seats=(state,)))
    assert moved == {at(second): at(second + DAY) for second in (-9, -8, -7, -6, -5, -4, -2)}
