"""The lead's decision while the tasks cannot be read: only what needs them waits."""

import pytest
from msgspec.structs import replace

from pro0.model.decision import Decision, End, Finish, Free, Snapshot, Start, Tell
from pro0.model.runtime import Exit, Phase, State
from pro0.rules.lead.idling import IDLE_AFTER
from tests.rules.building import at, claimed, task
from tests.rules.supervising import decided, exited, led, look, only, recorded, report, seat, session, wish

ENDINGS = {
    "exited": look(session(), reports=[exited(code=0)], dead=["w1"]),
    "crashed": look(session(), reports=[exited(state=State.CRASHED, signal=9)], dead=["w1"]),
    "guard killed": look(session(), dead=["w1"]),
    "left over": look(session(), dead=["w1"], leftovers=["w1"]),
    "silent": look(session(), seats=[seat(shutdown=wish(since=-61))]),
    "forced": look(session(), seats=[seat(shutdown=wish(since=-61, force=True))]),
    "asked": look(session(), seats=[seat(shutdown=wish())]),
    "overdue": look(session(state=State.STOPPING, ending_since=at(-60)), seats=[seat(shutdown=wish())]),
    "stopped": look(session(), reports=[exited(code=0)], dead=["w1"], stop=wish()),
}


def blindly(snapshot: Snapshot) -> Decision:
    """What is decided about the same team without its tasks."""
    return decided(replace(snapshot, tasks=None))


@pytest.mark.parametrize("seen", ENDINGS.values(), ids=ENDINGS.keys())
def test_ends_are_recorded_told_and_gone_on_with(seen: Snapshot) -> None:
    assert blindly(seen) == decided(seen)


def test_what_a_dead_session_held_is_given_back_later() -> None:
    seen = look(session(), dead=["w1"], tasks=[claimed(task(1))])
    first = blindly(seen)
    assert recorded(first).state is State.CRASHED
    assert [tell.content for tell in only(Tell, first)] == ["w1 has crashed (its guard was killed)"]
    assert not only(Free, first)
    later = decided(replace(seen, runtime=first.runtime))
    assert only(Free, later) == [Free("w1", "inc-w1", "crashed: its guard was killed")]
    assert not only(Tell, later)


def test_a_new_seat_is_started_and_an_old_one_waits_for_what_it_held() -> None:
    assert only(Start, blindly(look(seats=[seat()])))
    over = look(session(state=State.EXITED, exit=Exit(at=at(-1))), seats=[seat(generation=2)], dead=["w1"])
    assert only(Start, decided(over))
    assert not only(Start, blindly(over))


def test_nobody_is_called_idle() -> None:
    due = led(look(session(told=()), reports=[report(since=at(0) - IDLE_AFTER)]))
    assert only(Tell, decided(due))
    assert not only(Tell, blindly(due))


def test_a_stop_is_finished_and_the_rest_is_for_the_next_lead() -> None:
    over = session(state=State.CRASHED, told=("inc-w1:ended",))
    held = look(over, dead=["w1"], tasks=[claimed(task(1))], stop=wish())
    assert not only(Finish, decided(held))
    assert only(Finish, blindly(held))
    assert blindly(held).runtime.phase is Phase.STOPPED


def test_the_dead_are_swept() -> None:
    left = look(session(state=State.CRASHED), dead=["w1"], leftovers=["w1"])
    assert only(End, blindly(left)) == only(End, decided(left)) != []
