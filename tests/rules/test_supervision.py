"""The lead's decision as a table of histories: what is seen → what is recorded and done."""

import pytest
from msgspec.structs import replace

from pro0.model.decision import Deliver, End, Finish, Free, Start, Tell
from pro0.model.message import Notice
from pro0.model.runtime import Exit, Failure, Phase, SeatState, State
from pro0.model.task import Status, Task, TaskList
from pro0.rules.lead.idling import IDLE_AFTER
from pro0.rules.lead.supervision import STARTING_LIMIT
from pro0.rules.tasks.acts import TaskPhase
from tests.rules.building import LEAD_AGENT, at, standing, task
from tests.rules.supervising import (
    GUARD,
    LONG_AGO,
    decided,
    exited,
    held,
    kinds,
    led,
    look,
    only,
    recorded,
    report,
    seat,
    session,
    wish,
)


def coming_up() -> SeatState:
    """A session that was just opened, of which no guard has reported yet."""
    return session(state=State.STARTING, guard=None, agent=None, since=at(0), started_at=at(0))


def test_a_team_at_rest_needs_nothing() -> None:
    seen = look(session("w1"), session("w2", State.WORKING, task="task-1"), tasks=[held(1, "w2")])
    decision = decided(seen)
    assert (decision.actions, decision.runtime, decision.wake_at) == ((), seen.runtime, None)


# Starting


def test_a_wanted_seat_gets_a_session() -> None:
    decision = decided(look(seats=[seat()]))
    assert only(Start, decision) == [Start(seat(), "new-1")]
    state = recorded(decision)
    assert (state.state, state.incarnation, state.generation) == (State.STARTING, "new-1", 1)
    assert state.started_at == at(0)


def test_every_session_has_an_incarnation_of_its_own() -> None:
    starts = only(Start, decided(look(seats=[seat("w1"), seat("w2")])))
    assert len({start.incarnation for start in starts}) == 2


def test_nothing_starts_while_the_team_is_to_stop() -> None:
    assert not only(Start, decided(look(seats=[seat()], stop=wish())))


@pytest.mark.parametrize("living", [State.STARTING, State.IDLE, State.WORKING, State.STOPPING, State.UNRESPONSIVE])
def test_a_living_session_is_never_replaced(living: State) -> None:
    assert not only(Start, decided(look(session(state=living), seats=[seat(generation=2)])))


def test_a_new_generation_gets_a_new_session_once_the_old_one_is_over() -> None:
    decision = decided(look(session(state=State.CRASHED), seats=[seat(generation=2)], dead=["w1"]))
    assert [(start.seat.generation, start.incarnation) for start in only(Start, decision)] == [(2, "new-1")]
    assert recorded(decision).told == ()


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({}, id="guard alive"),
        pytest.param({"dead": ["w1"], "leftovers": ["w1"]}, id="leftovers"),
        pytest.param({"dead": ["w1"], "tasks": [held(1)]}, id="tasks not freed yet"),
    ],
)
def test_a_restart_waits_until_the_old_session_is_proved_dead_and_freed(more: dict[str, object]) -> None:
    """rulings 3.11"""
    ended = session(state=State.CRASHED, since=at(-1))
    decision = decided(look(ended, seats=[seat(generation=2)], **more))  # type: ignore[arg-type]
    assert not only(Start, decision)
    assert decision.wake_at is not None
    assert decision.wake_at <= at(1)


@pytest.mark.parametrize("end", [State.EXITED, State.CRASHED, State.SHUTDOWN])
def test_who_has_ended_is_not_started_again_by_itself(end: State) -> None:
    assert not only(Start, decided(look(session(state=end), dead=["w1"])))


def test_a_spawn_that_failed_is_not_tried_again() -> None:
    failure = Failure("w1", 1, at(0), "no tmux")
    assert not decided(look(seats=[seat()], failures=[failure])).actions
    assert only(Start, decided(look(seats=[seat(generation=2)], failures=[failure])))


# Ends


@pytest.mark.parametrize(
    ("end", "state", "note"),
    [
        ({"code": 0}, State.EXITED, "exit code 0"),
        ({"code": 3}, State.CRASHED, "exit code 3"),
        (
            {"code": 3, "output": "a\nb\n\n\x1b[31mno money\x1b[0m\n bye \n"},
            State.CRASHED,
            "exit code 3: b / no money / bye",
        ),
        ({"code": 3, "output": " \n\x1b[2J"}, State.CRASHED, "exit code 3"),
        ({"signal": 9}, State.CRASHED, "killed by signal 9"),
        ({"signal": 9, "output": "at work"}, State.CRASHED, "killed by signal 9"),
        ({"code": 0, "output": "done"}, State.EXITED, "exit code 0"),
        ({"signal": 6, "output": "out of memory"}, State.CRASHED, "killed by signal 6: out of memory"),
        ({"signal": 1, "reason": "ended: hang-up"}, State.CRASHED, "ended: hang-up"),
        ({"code": 127, "reason": "cannot start nope"}, State.CRASHED, "cannot start nope"),
    ],
)
def test_an_end_is_taken_over_from_the_report(end: dict[str, object], state: State, note: str) -> None:
    """anchors 44"""
    said = exited(state=state, **end)  # type: ignore[arg-type]
    decision = decided(look(session(), reports=[said], dead=["w1"]))
    after = recorded(decision)
    assert (after.state, after.note, after.since) == (state, note, at(-1))
    assert after.exit == replace(Exit(at=at(-1)), **end)


def test_a_guard_that_is_gone_without_a_report_means_crashed() -> None:
    after = recorded(decided(look(session(), dead=["w1"])))
    assert (after.state, after.note, after.since) == (State.CRASHED, "its guard was killed", at(0))


def test_a_guard_that_is_gone_while_ending_means_shut_down() -> None:
    ending = session(state=State.STOPPING, ending_since=at(-1))
    assert recorded(decided(look(ending, dead=["w1"]))).state is State.SHUTDOWN


def test_a_guard_may_take_a_while_to_come_up() -> None:
    new = coming_up()
    limit = STARTING_LIMIT.total_seconds()
    early = decided(look(new, now=limit - 0.1, reports=[]))
    assert (early.actions, early.wake_at) == ((), at(limit))
    late = decided(look(new, now=limit, reports=[]))
    assert (recorded(late).state, recorded(late).note) == (State.CRASHED, "it never came up")
    assert [(end.incarnation, end.firm) for end in only(End, late)] == [("inc-w1", True)]


def test_an_ended_session_whose_guard_goes_on_is_ended() -> None:
    """A guard that came up too late, or hangs after its agent's end; else the team could never stop."""
    late = session(state=State.CRASHED)
    decision = decided(look(replace(late, since=at(-5)), now=0, stop=wish()))
    assert (only(End, decision), decision.wake_at) == ([], at(10))
    decision = decided(look(replace(late, since=at(-15)), now=0, stop=wish()))
    assert [(end.incarnation, end.firm) for end in only(End, decision)] == [("inc-w1", True)]


@pytest.mark.parametrize("state", [State.IDLE, State.CRASHED, State.SHUTDOWN])
def test_what_outlives_a_dead_guard_is_ended_firmly(state: State) -> None:
    """must show 7"""
    decision = decided(look(session(state=state), dead=["w1"], leftovers=["w1"]))
    assert End("w1", "inc-w1", firm=True) in decision.actions


def test_the_ended_stay_ended_whatever_a_report_says() -> None:
    over = session(state=State.CRASHED, since=at(-1))
    assert recorded(decided(look(over, reports=[report(state=State.WORKING)]))).state is State.CRASHED


# The claims of the dead


@pytest.mark.parametrize(
    ("more", "freed"),
    [
        ({"dead": ["w1"]}, True),
        ({}, False),
        ({"dead": ["w1"], "leftovers": ["w1"]}, False),
    ],
    ids=["proved dead", "guard alive", "leftovers"],
)
def test_claims_are_given_back_only_after_a_proved_death(more: dict[str, object], freed: bool) -> None:
    """AC-76"""
    seen = look(session(), reports=[exited(state=State.CRASHED, signal=9)], tasks=[held(1)], **more)  # type: ignore[arg-type]
    free = [Free("w1", "inc-w1", "crashed: killed by signal 9")]
    assert only(Free, decided(seen)) == (free if freed else [])


def test_a_reservation_of_the_dead_is_given_back_too() -> None:
    assert only(Free, decided(look(session(state=State.EXITED), dead=["w1"], tasks=[task(1, assignee="w1")])))


def test_a_reservation_that_waits_at_a_gate_is_given_back_too() -> None:
    """Nobody has worked on it, so the notice names nothing that is pending again."""
    gated = replace(standing(TaskPhase.AWAITING), assignee="w1", claimed_at=None)
    gone = decided(look(session(state=State.CRASHED), dead=["w1"], tasks=[gated]))
    assert only(Free, gone)
    assert [tell.content for tell in only(Tell, gone)] == ["w1 has crashed"]


def test_what_another_session_of_the_same_member_holds_is_not_touched() -> None:
    theirs = held(1)
    assert theirs.claim
    newer = replace(theirs, claim=replace(theirs.claim, incarnation="inc-later"))
    assert not only(Free, decided(look(session(state=State.CRASHED), dead=["w1"], tasks=[newer])))


def test_nothing_is_freed_twice() -> None:
    gone = session(state=State.CRASHED, told=("inc-w1:ended",))
    assert not decided(look(gone, dead=["w1"], tasks=[task(1)])).actions


def test_a_crash_is_told_to_the_lead_address_once_with_what_is_pending_again() -> None:
    """AC-76, must show 4"""
    seen = look(session(), dead=["w1"], tasks=[held(1), task(2), held(3)])
    told = only(Tell, first := decided(seen))
    assert [(tell.id, tell.to) for tell in told] == [("inc-w1:ended:lead", "lead")]
    assert told[0].content == "w1 has crashed (its guard was killed); pending again: task-1, task-3"
    assert not only(Tell, decided(replace(seen, runtime=first.runtime)))


def test_a_crash_is_told_to_the_human_too_when_there_is_a_lead_agent() -> None:
    """rulings 3.11"""
    decision = decided(look(session(), session(LEAD_AGENT.agent_id), dead=["w1"]))
    assert [(tell.id, tell.to) for tell in only(Tell, decision)] == [
        ("inc-w1:ended:lead", "lead"),
        ("inc-w1:ended:human", "human"),
    ]


def test_an_exit_is_told_but_a_shutdown_is_not() -> None:
    left = decided(look(session(), reports=[exited(code=0)], dead=["w1"]))
    assert [tell.content for tell in only(Tell, left)] == ["w1 has exited (exit code 0)"]
    agreed = session(state=State.STOPPING, ending_since=at(-2))
    assert not only(Tell, decided(look(agreed, reports=[exited(code=0)], dead=["w1"])))


def test_an_end_is_not_told_while_the_team_stops() -> None:
    assert not only(Tell, decided(look(session(), dead=["w1"], stop=wish())))


# Idle


AGO = at(-IDLE_AFTER.total_seconds())


def test_idle_is_told_once_per_real_change_with_the_last_result() -> None:
    """AC-73"""
    done = replace(held(1), status=Status.COMPLETED, result="42 passed", claim=None)
    busy = session(state=State.WORKING, told=())
    seen = led(look(busy, reports=[report(since=AGO)], tasks=[done]))
    first = decided(seen)
    key = f"inc-w1:idle:{AGO.isoformat()}"
    assert only(Tell, first) == [Tell(key, "lead", "w1 is idle; last: task-1 completed: 42 passed")]
    assert not decided(replace(seen, runtime=first.runtime)).actions
    later = led(look(recorded(first), reports=[report(since=at(5))], now=10, tasks=[done]))
    assert [tell.id for tell in only(Tell, decided(later))] == [f"inc-w1:idle:{at(5).isoformat()}"]


def test_a_person_gets_no_letter_about_an_idle_member() -> None:
    """Idle is a state: who leads the team without an agent sees it wherever they look."""
    decision = decided(look(session(told=(), since=AGO)))
    assert not only(Tell, decision)
    assert recorded(decision).told == (f"inc-w1:idle:{AGO.isoformat()}",), "the hook was asked once"


def test_idle_is_told_only_after_two_seconds() -> None:
    decision = decided(led(look(session(told=(), since=at(-1)))))
    assert (only(Tell, decision), decision.wake_at) == ([], at(1))


@pytest.mark.parametrize(
    ("state", "more"),
    [
        pytest.param(State.WORKING, {}, id="working"),
        pytest.param(State.RUNNING, {}, id="running: an agent without turns"),
        pytest.param(State.IDLE, {"tasks": [task(1, run="make")]}, id="something claimable"),
        pytest.param(State.IDLE, {"tasks": [task(1, run="make", assignee="w1")]}, id="something reserved for it"),
        pytest.param(State.IDLE, {"paused": True}, id="paused"),
        pytest.param(State.IDLE, {"stop": wish()}, id="stopping"),
    ],
)
def test_idle_is_not_told(state: State, more: dict[str, object]) -> None:
    """rulings 3.7"""
    assert not only(Tell, decided(led(look(session(state=state, since=AGO, told=()), **more))))  # type: ignore[arg-type]


def test_a_lead_agent_is_not_told_that_it_is_idle_itself() -> None:
    """It would wake up, look, turn idle, and be told again."""
    assert not only(Tell, decided(look(session(LEAD_AGENT.agent_id, since=AGO, told=()))))


@pytest.mark.parametrize(
    "other",
    [task(1), task(1, run="make", assignee="w2"), task(1, 2, run="make")],
    ids=["no command: not for a shell", "reserved for another", "blocked"],
)
def test_idle_is_told_when_nothing_that_is_there_is_for_it(other: Task) -> None:
    assert only(Tell, decided(led(look(session(since=AGO, told=()), tasks=[other]))))


# The rest


def test_owed_notices_are_delivered() -> None:
    owing = TaskList(outbox=(Notice(id="n", from_="w1", to="lead", content="c"),))
    owed = replace(look(session()), tasks=owing)
    assert kinds(decided(owed)) == ["Deliver"]
    assert only(Deliver, decided(owed)) == [Deliver()]
    wished = replace(look(session()), wanted=replace(look(session()).wanted, outbox=owing.outbox))
    assert only(Deliver, decided(wished)) == [Deliver(wishes=True)]


def test_the_report_is_taken_over_whole() -> None:
    new = coming_up()
    seen = look(new, reports=[report(state=State.WORKING, since=at(-1), task="task-1", note="n")], now=1)
    after = recorded(decided(seen))
    assert (after.state, after.since, after.task, after.note, after.guard) == (
        State.WORKING,
        at(-1),
        "task-1",
        "n",
        GUARD,
    )


def test_who_does_not_answer_is_heard_again_when_it_says_something_new() -> None:
    silent = session(state=State.UNRESPONSIVE, since=at(-5))
    assert recorded(decided(look(silent, reports=[report(since=LONG_AGO)]))).state is State.UNRESPONSIVE
    assert recorded(decided(look(silent, reports=[report(since=at(-1))]))).state is State.IDLE


def test_a_reboot_frees_and_signals_nobody() -> None:
    """anchors 57: every guard is of another boot, so all are dead."""
    decision = decided(look(session("w1"), session("w2"), dead=["w1", "w2"], tasks=[held(1, "w2")]))
    assert {recorded(decision, name).state for name in ("w1", "w2")} == {State.CRASHED}
    assert sorted(kinds(decision)) == ["Free", "Tell", "Tell"]


def test_a_team_is_over_when_nobody_is_left_and_nobody_is_being_ended() -> None:
    """Who was wanted and never came is nobody; whom the lead gives up in this moment is ended first."""
    assert only(Finish, decided(look(seats=[seat()], stop=wish())))
    given_up = decided(look(coming_up(), now=STARTING_LIMIT.total_seconds(), reports=[], stop=wish()))
    assert (len(only(End, given_up)), only(Finish, given_up)) == (1, [])


def test_one_members_end_is_nobody_elses() -> None:
    """rulings 3.11: everyone else goes on."""
    others = [session("w2", State.WORKING, task="task-2"), session("w3")]
    seen = look(session("w1"), *others, dead=["w1"], tasks=[held(1, "w1"), held(2, "w2")])
    decision = decided(seen)
    assert [recorded(decision, name) for name in ("w2", "w3")] == others
    assert decision.runtime.phase is Phase.RUNNING
