"""How members and teams end, as a table of histories (rulings 3.9)."""

import pytest
from msgspec.structs import replace

from pro0.model.decision import Ask, Decision, End, Finish, Snapshot, Tell, Withdraw
from pro0.model.runtime import Phase, Refusal, SeatState, State
from pro0.model.team import Answer, Seat
from pro0.rules.lead.ending import ENDING_LIMIT
from tests.rules.building import at
from tests.rules.supervising import (
    decided,
    exited,
    held,
    look,
    only,
    recorded,
    report,
    said,
    seat,
    session,
    wish,
)

LIMIT = ENDING_LIMIT.total_seconds()


def asked(**fields: object) -> Seat:
    """A member that is to end."""
    return replace(seat(shutdown=wish()), **fields)


def known(state: State = State.IDLE, **fields: object) -> SeatState:
    """Its session, which was asked at once."""
    return replace(session(state=state, asked="ask-1", asked_at=at(0)), **fields)


def after(seen: Snapshot, first: Decision, seconds: float) -> Decision:
    """What is decided later when nothing else has changed."""
    return decided(replace(seen, runtime=first.runtime, now=at(seconds)))


# Asking


def test_a_member_is_asked_once() -> None:
    """AC-74"""
    seen = look(session(), seats=[asked(shutdown=wish(reason="done for today"))])
    first = decided(seen)
    ask = only(Ask, first)[0]
    assert (ask.id, ask.agent_id) == ("ask-1:inc-w1", "w1")
    assert ask.content == (
        "Please shut down (done for today). Answer with `pro0 shutdown approve` or `pro0 shutdown reject REASON`."
    )
    assert (recorded(first).asked, first.wake_at) == ("ask-1", at(60))
    assert not after(seen, first, 1).actions


def test_a_lead_that_did_not_record_that_it_asked_asks_with_the_same_id() -> None:
    seen = look(session(), seats=[asked()])
    assert only(Ask, decided(seen)) == only(Ask, decided(replace(seen, now=at(5))))


def test_an_answer_counts_even_when_the_asking_was_not_recorded_yet() -> None:
    """The member reads its mail as soon as it is there, the record is written a moment later."""
    seen = look(session(), seats=[asked(answer=said(approve=True))], now=2)
    assert only(End, decided(seen)) == [End("w1", "inc-w1")]


def test_who_speaks_no_protocol_is_ended_at_once() -> None:
    decision = decided(look(session(state=State.RUNNING), seats=[asked(agent="command")]))
    assert (only(Ask, decision), only(End, decision)) == ([], [End("w1", "inc-w1")])
    assert recorded(decision).state is State.STOPPING


def test_who_has_no_guard_yet_is_ended_when_it_has() -> None:
    """A TERM to nobody would be lost."""
    new = session(state=State.STARTING, guard=None, agent=None, started_at=at(-1))
    early = decided(look(new, seats=[asked(agent="command")], reports=[]))
    assert not early.actions
    assert recorded(early).ending_since is None
    up = decided(look(new, seats=[asked(agent="command")], reports=[report(state=State.RUNNING)]))
    assert only(End, up) == [End("w1", "inc-w1")]


# Answers


def test_who_agrees_is_ended() -> None:
    """AC-74"""
    decision = decided(look(known(), seats=[asked(answer=said(approve=True))], now=2))
    assert only(End, decision) == [End("w1", "inc-w1")]
    after = recorded(decision)
    assert (after.state, after.ending_since, after.since) == (State.STOPPING, at(2), at(2))


def test_who_agrees_and_leaves_by_itself_is_shut_down() -> None:
    seen = look(known(), seats=[asked(answer=said(approve=True))], reports=[exited(code=0)], dead=["w1"], now=2)
    decision = decided(seen)
    assert recorded(decision).state is State.SHUTDOWN
    assert not only(Tell, decision)


@pytest.mark.parametrize(
    "answer",
    [
        said(approve=True, to="ask-0"),
        replace(said(approve=True), incarnation="inc-earlier"),
    ],
    ids=["another request", "an earlier session"],
)
def test_an_answer_to_something_else_is_not_heard(answer: Answer | None) -> None:
    """anchors 55, 58"""
    assert not decided(look(known(), seats=[asked(answer=answer)], now=2)).actions


def test_a_duplicate_answer_changes_nothing() -> None:
    """anchors 58"""
    seen = look(known(), seats=[asked(answer=said(approve=True))], now=2)
    first = decided(seen)
    again = replace(seen, wanted=replace(seen.wanted, seats=(asked(answer=said(approve=True, since=3)),)))
    assert not after(again, first, 3).actions


def test_not_yet_is_asked_again_when_it_turns_idle() -> None:
    """rulings 3.9"""
    busy = look(known(State.WORKING), seats=[asked(answer=said(approve=False, reason="working on task-1"))], now=2)
    assert (decided(busy).actions, decided(busy).wake_at) == ((), at(60))
    free = look(known(State.WORKING), seats=busy.wanted.seats, reports=[report(since=at(4))], now=5)
    first = decided(free)
    ask = only(Ask, first)
    assert [one.id for one in ask] == [f"ask-1:inc-w1:{at(1).isoformat()}"]
    assert not only(Ask, after(free, first, 6))
    yes = replace(free, wanted=replace(free.wanted, seats=(asked(answer=said(approve=True, since=6)),)))
    assert only(End, after(yes, first, 7))


def test_an_answer_in_the_moment_of_the_asking_counts() -> None:
    seen = look(known(asked_at=at(2)), seats=[asked(answer=said(approve=True, since=2))], now=3)
    assert only(End, decided(seen))


def test_who_turned_idle_as_it_answered_is_not_asked_again() -> None:
    idle = known(since=at(1))
    assert not only(Ask, decided(look(idle, seats=[asked(answer=said(approve=False, since=1))], now=5)))
    later = known(since=at(1.5))
    assert only(Ask, decided(look(later, seats=[asked(answer=said(approve=False, since=1))], now=5)))


def test_who_stayed_idle_is_not_asked_again() -> None:
    seen = look(known(), seats=[asked(answer=said(approve=False, reason="no"))], now=5)
    assert not decided(seen).actions


def test_not_yet_until_the_end_of_time_is_a_refusal() -> None:
    """AC-74"""
    seen = look(known(State.WORKING), seats=[asked(answer=said(approve=False, reason="busy"))], now=60)
    decision = decided(seen)
    assert only(Withdraw, decision) == [Withdraw("ask-1", ("w1",))]
    assert decision.runtime.refusals == (Refusal(request_id="ask-1", stayed={"w1": "not yet: busy"}),)
    assert recorded(decision).state is State.WORKING


def test_silence_is_unresponsive_and_a_refusal() -> None:
    """AC-74, must show 6"""
    seen = look(known(), seats=[asked()], now=60)
    first = decided(seen)
    assert (recorded(first).state, recorded(first).since) == (State.UNRESPONSIVE, at(60))
    assert first.runtime.refusals == (Refusal(request_id="ask-1", stayed={"w1": "it does not answer"}),)
    assert not only(End, first)
    withdrawn = replace(seen, wanted=replace(seen.wanted, seats=(seat(),)), runtime=first.runtime)
    assert (decided(withdrawn).actions, decided(withdrawn).runtime) == ((), first.runtime)


def test_silence_before_a_second_asking_counts_from_that() -> None:
    once = known(asked_at=at(30))
    seen = look(once, seats=[asked(answer=said(approve=False, since=1, reason="busy"))], now=60)
    assert recorded(decided(seen)).state is State.UNRESPONSIVE


@pytest.mark.parametrize("answer", [None, said(approve=False, reason="busy")])
def test_force_ends_who_has_not_agreed_in_time(answer: Answer | None) -> None:
    wanted = asked(shutdown=wish(force=True), answer=answer)
    assert not only(End, decided(look(known(State.WORKING), seats=[wanted], now=59)))
    assert only(End, decided(look(known(State.WORKING), seats=[wanted], now=60))) == [End("w1", "inc-w1")]


def test_force_without_a_time_ends_at_once() -> None:
    decision = decided(look(session(), seats=[asked(shutdown=wish(force=True, timeout=0))]))
    assert only(End, decision) == [End("w1", "inc-w1")]


def test_a_guard_that_does_not_manage_is_helped() -> None:
    """anchors 58: always terminates"""
    ending = session(state=State.STOPPING, ending_since=at(0), asked="ask-1", asked_at=at(0))
    early = decided(look(ending, seats=[asked()], now=LIMIT - 1))
    assert (early.actions, early.wake_at) == ((), at(LIMIT))
    late = decided(look(ending, seats=[asked()], now=LIMIT))
    assert late.actions == (End("w1", "inc-w1", firm=True),)
    assert late.wake_at == at(LIMIT + 1)


def test_who_dies_while_it_is_asked_has_crashed() -> None:
    """anchors 58"""
    decision = decided(look(known(State.WORKING), seats=[asked()], dead=["w1"], tasks=[held(1)], now=5))
    assert recorded(decision).state is State.CRASHED
    assert not only(Withdraw, decision)


# The whole team


def test_stopping_is_recorded_at_once() -> None:
    decision = decided(look(session(state=State.WORKING), stop=wish()))
    assert decision.runtime.phase is Phase.STOPPING
    assert [ask.agent_id for ask in only(Ask, decision)] == ["w1"]


def test_a_team_without_members_stops_at_once() -> None:
    decision = decided(look(stop=wish()))
    assert (decision.runtime.phase, decision.actions) == (Phase.STOPPED, (Finish(),))


@pytest.mark.parametrize(
    ("more", "stopped"),
    [
        ({"dead": ["w1"]}, True),
        ({}, False),
        ({"dead": ["w1"], "leftovers": ["w1"]}, False),
        ({"dead": ["w1"], "tasks": [held(1)]}, False),
    ],
    ids=["proved dead", "guard alive", "leftovers", "tasks not freed yet"],
)
def test_stopped_means_that_everybody_is_proved_dead_and_freed(more: dict[str, object], stopped: bool) -> None:
    decision = decided(look(session(state=State.SHUTDOWN), stop=wish(), **more))  # type: ignore[arg-type]
    assert (decision.runtime.phase is Phase.STOPPED) is stopped
    assert bool(only(Finish, decision)) is stopped


def test_one_busy_and_one_free() -> None:
    """must show 6: "not yet", then leaves"""
    busy, free = known(State.WORKING), session("w2", asked="ask-1", asked_at=at(0))
    seats = [
        seat(answer=said(approve=False, reason="working on task-1")),
        seat("w2", answer=said(approve=True, name="w2")),
    ]
    decision = decided(look(busy, free, seats=seats, stop=wish(), tasks=[held(1)], now=2))
    assert only(End, decision) == [End("w2", "inc-w2")]
    assert (decision.runtime.phase, decision.wake_at) == (Phase.STOPPING, at(2 + LIMIT))


def test_a_stop_is_lifted_when_somebody_stays() -> None:
    """rulings 3.9"""
    gone = session("w2", State.SHUTDOWN)
    seats = [seat(answer=said(approve=False, reason="busy")), seat("w2")]
    decision = decided(look(known(State.WORKING), gone, seats=seats, stop=wish(), dead=["w2"], now=60))
    assert only(Withdraw, decision) == [Withdraw("ask-1", ("w1",))]
    assert decision.runtime.refusals[-1].stayed == {"w1": "not yet: busy"}
    assert not only(Finish, decision)


def test_the_verdict_waits_for_those_on_their_way_out() -> None:
    leaving = session("w2", State.STOPPING, ending_since=at(59))
    seen = look(known(), leaving, stop=wish(), now=60)
    first = decided(seen)
    assert not only(Withdraw, first)
    assert recorded(first).state is State.UNRESPONSIVE
    second = after(seen, first, 61)
    assert (second.runtime, second.actions) == (first.runtime, ()), "nothing is written while nothing changes"


def test_who_was_to_end_before_the_team_was_is_asked_for_the_team() -> None:
    seen = look(known(), seats=[asked()], stop=wish("stop-1", since=5), now=6)
    assert [ask.id for ask in only(Ask, decided(seen))] == ["stop-1:inc-w1"]


def test_a_refusal_is_remembered_only_so_long() -> None:
    seen = look(known(), seats=[asked()], now=60)
    many = replace(seen.runtime, refusals=tuple(Refusal(request_id=f"r{n}") for n in range(50)))
    assert len(decided(replace(seen, runtime=many)).runtime.refusals) == 20
