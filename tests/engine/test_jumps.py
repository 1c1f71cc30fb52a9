"""How stored moments move with a clock that jumps, and with time in which nothing ran."""

import time
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from pro0.engine import jumps
from pro0.engine.jumps import AWAKE, Jumps
from pro0.model.decision import End, Seen
from pro0.model.runtime import Process, RateLimit, Report, Runtime, SeatState, State
from pro0.model.task import Claim, Status, TaskList
from pro0.model.team import Answer, PlanGate, Seat, ShutdownWish, Wanted, Wish
from pro0.rules.lead.hiring import TURN_LIMIT
from tests.rules.building import T0, at, task
from tests.rules.supervising import decided, look, only, seat, session

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


def moves(clocks: Clocks, wanted: Wanted, runtime: Runtime, tasks: TaskList) -> dict[datetime, datetime]:
    """How the moments of a team move in an hour's sleep."""
    watch = Jumps()
    watch.moved(wanted, runtime, tasks)
    clocks.go(0, 3600)
    watch.look()
    return watch.moved(wanted, runtime, tasks)


def test_what_ends_a_turn_and_what_warns_move_too(clocks: Clocks) -> None:
    """An approved plan, the completed task of a session, the last warning of a stuck worker, a rate limit."""
    gate = PlanGate(id="p", text="x", incarnation="inc", at=at(-20), verdict="approved", by="human", decided_at=at(-3))
    seats = (Seat(agent_id="w1", name="w1", agent="shell", gate=gate), seat("t1", task="task-1"))
    limit = RateLimit(agent="claude", since=at(-13), at=at(-12), until=at(18), note="429")
    worker = SeatState("t1", 1, "inc-t1", State.WORKING, at(-9), at(-8), warned_at=at(-7))
    ours, old = (task(n, status=Status.COMPLETED, completed_at=at(-n)) for n in (1, 2))
    moved = moves(clocks, Wanted(seats=seats), Runtime(seats=(worker,), limits=(limit,)), TaskList(tasks=(ours, old)))
    assert moved == {at(second): at(second + 3600) for second in (-12, -9, -8, -7, -3, -1, 18)}, "no session has task-2"


def test_a_look_without_the_tasks_forgets_no_claim(clocks: Clocks) -> None:
    """After a closed lid the tasks may be out of reach for a look; the claim counts no more time for it."""
    claimed = TaskList(tasks=(task(1, status=Status.IN_PROGRESS, claim=Claim("w1", "inc-w1", 1, at(-2))),))
    watch = Jumps()
    watch.moved(Wanted(), Runtime(), claimed)
    clocks.go(1, 1 + DAY)
    for known in (claimed, None, claimed):
        watch.look()
        assert watch.moved(Wanted(), Runtime(), known) == {at(-2): at(-2 + DAY)}
        clocks.go(1, 1)
    clocks.go(0, DAY)
    watch.look()
    assert watch.moved(Wanted(), Runtime(), None) == {at(-2): at(-2 + 2 * DAY)}, "it moves while it is out of reach"
    assert watch.moved(Wanted(), Runtime(), TaskList()) == {}, "what is gone is forgotten"
    assert watch.moved(Wanted(), Runtime(), claimed) == {}


@pytest.mark.parametrize("slept", [0, 3600, -3600])
def test_no_jump_ends_a_turn_that_has_just_done_its_work(clocks: Clocks, slept: float) -> None:
    done = task(1, status=Status.COMPLETED, completed_at=at(-1), session="inc-t1", assignee="t1")
    before = look(session("t1", State.WORKING, task="task-1"), seats=[seat("t1", task="task-1")], tasks=[done])
    watch = Jumps()
    watch.moved(before.wanted, before.runtime, before.tasks)
    clocks.go(2, 2 + slept)
    now = watch.look()
    decision = decided(replace(before, now=now, moved=watch.moved(before.wanted, before.runtime, before.tasks)))
    assert not only(End, decision)
    assert decision.wake_at == at(-1) + timedelta(seconds=slept) + TURN_LIMIT


def test_what_was_read_of_an_agent_and_of_its_guard_moves_too(clocks: Clocks) -> None:
    process = Process(pid=1, start="1", boot_id="boot")
    report = Report(agent_id="w1", incarnation="inc", guard=process, agent=None, state=State.RUNNING, since=at(-9))
    looks = (Seen(State.WORKING, at(-8), "screen"), report)
    watch = Jumps()
    watch.moved(Wanted(), Runtime(), None, looks)
    clocks.go(0, -DAY)
    watch.look()
    assert watch.moved(Wanted(), Runtime(), None, looks) == {at(second): at(second - DAY) for second in (-9, -8)}
