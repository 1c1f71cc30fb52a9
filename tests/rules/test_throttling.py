"""A rate-limited agent: how long new starts of its agent are held back, who is told, and when it is over."""

from datetime import UTC, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.model.decision import Decision, LeadPolicy, Person, Seen, Snapshot, Start, Tell
from pro0.model.ids import LEAD
from pro0.model.need import NeedKind
from pro0.model.runtime import RateLimit, Runtime, State
from pro0.model.team import Wish
from pro0.rules.lead.plan import Plan, View
from pro0.rules.lead.throttling import FIRST, LONGEST, go_on, renewed
from pro0.rules.screens.rate_limits import named_end
from pro0.rules.tasks.board import Board
from pro0.rules.words.prompts import GO_ON
from tests.rules.building import at
from tests.rules.supervising import decided, ids, look, only, seat, session


def team(now: float, *seen: tuple[str, State, float, str], limits: tuple[RateLimit, ...] = ()) -> Snapshot:
    """A team of claudes of which these were seen so, and w9, which is to be started."""
    names = [name for name, *_ in seen]
    sessions = [session(name, state, since=at(since), source="own") for name, state, since, _ in seen]
    found = {f"inc-{name}": Seen(state, at(since), "own", note=note) for name, state, since, note in seen}
    seats = [seat(name, agent="claude") for name in (*names, "w9")]
    snapshot = look(*sessions, now=now, seats=seats, seen=found)
    return replace(snapshot, runtime=replace(snapshot.runtime, limits=limits))


def error(name: str = "w1", since: float = 0, note: str = "429 Too Many Requests") -> tuple[str, State, float, str]:
    return name, State.ERROR, since, note


def starts(decision: Decision) -> list[str]:
    return [start.seat.agent_id for start in only(Start, decision)]


def told(decision: Decision) -> list[str]:
    return [tell.content for tell in only(Tell, decision) if ":limit:" in tell.id and tell.to == LEAD]


def test_new_sessions_of_that_agent_wait_and_others_start() -> None:
    """Also in the look that first sees the error, and whatever order the seats have."""
    snapshot = team(1, error())
    other = replace(snapshot, wanted=replace(snapshot.wanted, seats=(seat("w8"), *snapshot.wanted.seats)))
    decision = decided(other)
    assert starts(decision) == ["w8"]
    [said] = told(decision)
    assert said.startswith("no new session of claude starts at least until 2026-01-01 00:00:30 UTC, since")
    assert said.endswith(": 429 Too Many Requests")
    assert decision.wake_at
    assert decision.wake_at <= at(30)


def test_a_login_of_another_machine_is_limited_for_itself() -> None:
    """Issue 19, must show 4: what an agent there shows holds back nobody here, and the other way round."""
    there = team(1, error())
    seats = tuple(replace(one, host="build1") if one.agent_id == "w1" else one for one in there.wanted.seats)
    w8 = seat("w8", agent="claude", host="build1")
    decision = decided(replace(there, wanted=replace(there.wanted, seats=(*seats, w8))))
    assert starts(decision) == ["w9"]
    assert told(decision)[0].startswith("no new session of claude@build1 starts at least until ")
    here = replace(there.wanted, seats=(*there.wanted.seats, w8))
    assert starts(decided(replace(there, wanted=here))) == ["w8"]


def test_it_is_told_once_and_over_by_itself() -> None:
    first = team(1, error())
    runtime = decided(first).runtime
    again = replace(first, runtime=runtime, now=at(29))
    assert (starts(decided(again)), told(decided(again))) == ([], [])
    after = replace(first, runtime=decided(again).runtime, now=at(30))
    assert (starts(decided(after)), told(decided(after))) == (["w9"], [])
    assert told(decided(replace(team(31, error(since=30.5)), runtime=decided(after).runtime))) == []


def test_another_error_of_a_person_is_no_limit() -> None:
    assert starts(decided(team(1, error(note="401 Unauthorized")))) == ["w9"]


def rows(*history: tuple[float, str]) -> list[tuple[float, int]]:
    """How long each of these errors of one member holds, and the how many-th in a row it is."""
    limits: tuple[RateLimit, ...] = ()
    found = []
    for since, note in history:
        [limit] = limits = renewed(team(since, error(since=since, note=note), limits=limits)).runtime.limits
        found.append(((limit.until - at(since)).total_seconds(), limit.times))
    return found


PLAIN = "429"


def test_each_error_after_a_hold_doubles_it_up_to_a_bound() -> None:
    moments = [0.0]
    while len(moments) < 9:
        moments.append(moments[-1] + min(LONGEST, FIRST * 2 ** (len(moments) - 1)).total_seconds() + 1)
    holds = [30, 60, 120, 240, 480, 600, 600, 600, 600]
    assert rows(*((moment, PLAIN) for moment in moments)) == [(hold, n) for n, hold in enumerate(holds, 1)]


def test_errors_within_a_hold_are_the_same_one() -> None:
    assert rows((0, PLAIN), (10, PLAIN), (29, PLAIN)) == [(30, 1), (20, 1), (1, 1)]


def test_long_afterwards_it_is_a_first_one_again() -> None:
    later = 30 + LONGEST.total_seconds()
    assert rows((0, PLAIN), (later, PLAIN)) == [(30, 1), (60, 2)]
    assert rows((0, PLAIN), (later + 1, PLAIN)) == [(30, 1), (30, 1)]


def test_a_named_end_counts_before_a_guess_and_lengthens_one() -> None:
    assert rows((0, "429, retry in 5s"), (6, PLAIN)) == [(5, 1), (60, 2)]
    assert rows((0, PLAIN), (10, "429, retry in 1h"), (20, PLAIN)) == [(30, 1), (3600, 1), (3590, 1)]
    assert rows((0, "429, retry in 1h"), (10, "429, retry in 5s")) == [(3600, 1), (3590, 1)]


def known(*history: tuple[float, str]) -> RateLimit:
    """What is known after these errors of one member."""
    limits: tuple[RateLimit, ...] = ()
    for since, note in history:
        limits = renewed(team(since, error(since=since, note=note), limits=limits)).runtime.limits
    return limits[0]


def test_what_is_known_of_a_limit() -> None:
    """When the errors in a row began, the last one that counted, until when, whether that was named, in its words."""
    first = RateLimit(agent="claude", since=at(0), at=at(0), until=at(30), note=PLAIN)
    assert known((0, PLAIN)) == first
    again = known((0, PLAIN), (31, "529"))
    assert again == replace(first, at=at(31), until=at(91), times=2, note="529")
    named = "429, retry in 1h"
    assert known((0, PLAIN), (31, named)) == replace(first, at=at(31), until=at(3631), named=True, times=2, note=named)
    assert known((0, PLAIN), (10, named)) == replace(first, at=at(10), until=at(3610), named=True, note=named)
    assert known((0, "429, retry in 5s"), (6, PLAIN)) == replace(first, at=at(6), until=at(66), times=2)
    assert known((0, PLAIN), (0, named)) == replace(first, until=at(3600), named=True, note=named)
    short = known((0, "429, retry in 30s"))
    assert known((0, "429, retry in 30s"), (10, "429, retry in 20s")) == short, "the same end is no news"
    assert known((0, PLAIN), (30, "529")) == first, "in the moment when it ends it is the same one"


@pytest.mark.parametrize(("days", "believed"), [(8, True), (8.001, False)])
def test_limits_for_a_week_are_believed(days: float, believed: bool) -> None:
    moment = (at(0) + timedelta(days=days)).isoformat()
    assert (named_end(f"resets at {moment}", at(0), UTC) is not None) is believed


def test_a_turn_that_ended_when_the_error_came_is_not_after_it() -> None:
    limits = (known((2, PLAIN)),)
    for moment, until in ((2, 32), (3, 3), (31, 31), (32, 32)):
        seen = renewed(team(40, ("w2", State.IDLE, moment, ""), limits=limits)).runtime.limits[0]
        assert seen.until == at(until)


def test_a_turn_that_ends_well_is_the_end() -> None:
    limits = renewed(team(1, error())).runtime.limits
    worked = team(5, error(), ("w2", State.IDLE, 4, ""), limits=limits)
    assert starts(decided(worked)) == ["w9"]
    before = team(5, error(since=3), ("w2", State.IDLE, 2, ""))
    assert starts(decided(before)) == []


def test_a_lead_that_has_just_begun_does_not_take_an_old_error_for_a_new_one() -> None:
    old = team(100, error(since=0))
    fresh = {"inc-w1": replace(old.seen["inc-w1"], since=at(99))}
    assert starts(decided(replace(old, seen=fresh))) == ["w9"]


def test_an_error_of_a_member_that_was_at_work_before_begins_when_it_is_seen() -> None:
    seen = team(100, error(since=99))
    before = session("w1", State.WORKING, since=at(0), source="own")
    [limit] = renewed(replace(seen, runtime=replace(seen.runtime, seats=(before,)))).runtime.limits
    assert (limit.at, limit.until) == (at(99), at(129))


def test_a_guess_moves_with_the_clock_and_a_named_end_does_not() -> None:
    """An hour is lost by sleeping: a guessed hold counts time that passes for the team."""
    for note, held in ((PLAIN, True), ("429, retry in 30s", False)):
        [limit] = renewed(team(1, error(note=note))).runtime.limits
        asleep = replace(
            team(3601, error(note=note), limits=(limit,)), moved={limit.until: limit.until + timedelta(hours=1)}
        )
        assert bool(starts(decided(asleep))) is not held


@pytest.mark.parametrize("jump", [3600, -3600])
@pytest.mark.parametrize(("note", "held"), [(PLAIN, True), ("429, retry in 30s", False)])
def test_a_limit_is_recorded_by_the_clock_that_has_jumped(jump: float, note: str, held: bool) -> None:
    """So the person reads the end that the lead keeps to, and the same error is no second one."""
    [limit] = renewed(team(1, error(note=note))).runtime.limits
    moved = {at(second): at(second + jump) for second in (0, 30)}
    after = replace(team(2 + jump, error(note=note), limits=(limit,)), moved=moved)
    [now] = renewed(after).runtime.limits
    assert now == replace(limit, at=at(jump), until=at(30 + jump) if held else at(30))
    [later] = renewed(replace(after, runtime=replace(after.runtime, limits=(now,)))).runtime.limits
    assert later == now
    assert bool(starts(decided(after))) is (after.now >= now.until)
    needs = decided(replace(after, person=Person())).needs
    assert [need.kind for need in needs].count(NeedKind.LIMIT) == (after.now < now.until)


def test_an_error_after_a_clock_that_was_set_back_counts() -> None:
    [limit] = renewed(team(1, error())).runtime.limits
    back = {at(second): at(second - 3600) for second in (0, 30)}
    fresh = replace(team(-3560, error("w2", since=-3565), limits=(limit,)), moved=back)
    [now] = renewed(fresh).runtime.limits
    assert (now.until, now.times) == (at(-3565 + 60), 2)


@pytest.mark.parametrize("state", [State.ERROR, State.UNRESPONSIVE, State.UNREACHABLE])
def test_the_same_error_is_no_new_one_after_a_clock_that_was_set_back(state: State) -> None:
    """Also of a member whose own state is another by now."""
    [limit] = renewed(team(1, error())).runtime.limits
    moved = {at(second): at(second - 3600) for second in (0, 30)}
    back = replace(team(-3599, error(), limits=(limit,)), moved=moved)
    seats = tuple(replace(one, state=state) for one in back.runtime.seats)
    [now] = renewed(replace(back, runtime=replace(back.runtime, seats=seats))).runtime.limits
    assert (now.until, now.times) == (at(30 - 3600), limit.times)


NAMED = "usage limit; try again in 20s"


def sent_on(decision: Decision) -> list[str]:
    return [tell.to for tell in only(Tell, decision) if tell.content == GO_ON]


def test_a_stopped_turn_goes_on_once_at_the_end_that_was_named() -> None:
    first = team(1, error(note=NAMED))
    before = decided(first)
    assert sent_on(before) == []
    assert before.wake_at
    assert before.wake_at <= at(20)
    over = replace(first, runtime=before.runtime, now=at(20))
    after = decided(over)
    assert sent_on(after) == ["w1"]
    assert sent_on(decided(replace(over, runtime=after.runtime, now=at(21)))) == []
    again = [tell.id for tell in only(Tell, decided(over)) if tell.content == GO_ON]
    assert again == [tell.id for tell in only(Tell, after) if tell.content == GO_ON]


def test_only_the_member_that_the_limit_stopped_goes_on() -> None:
    """Another one of that agent failed for a reason of its own, or is idle below an old note, or failed at its end."""
    first = team(1, error(note=NAMED))
    limits = decided(first).runtime.limits
    others = (error("w2", 5, "401 Unauthorized"), ("w3", State.IDLE, 0, NAMED), error("w4", 20, PLAIN))
    late = team(25, error(note=NAMED), *others, limits=limits)
    noted = tuple(replace(one, note=late.seen[one.incarnation].note) for one in late.runtime.seats)
    assert sent_on(decided(replace(late, runtime=replace(late.runtime, seats=noted)))) == ["w1"]


def test_a_turn_that_was_stopped_before_a_clock_was_set_back_goes_on() -> None:
    """Another member's error names the end by the new clock, which is long before what was recorded by the old one."""
    back = timedelta(hours=1)
    first = team(1, error(note=PLAIN))
    before = decided(first).runtime
    moved = {at(second): at(second) - back for second in (0, 30)}
    again = team(-3570, error(note=PLAIN), error("w2", -3575, NAMED), limits=before.limits)
    later = decided(replace(again, moved=moved)).runtime
    over = replace(again, runtime=later, moved={at(0): at(0) - back}, now=at(-3550))
    assert sent_on(decided(over)) == ["w1", "w2"]


@pytest.mark.parametrize(("now", "wake"), [(19, 20), (20, None), (21, None)])
def test_the_lead_wakes_for_it_and_not_afterwards(now: float, wake: float | None) -> None:
    first = team(1, error(note=NAMED))
    runtime = decided(first).runtime
    if wake is None:
        runtime = decided(replace(first, runtime=runtime, now=at(20))).runtime
    view = View(snapshot=replace(first, runtime=runtime, now=at(now)), board=Board([]), new_id=ids())
    plan = go_on(view, Plan(first.wanted.seats[0], runtime.seats[0]))
    assert plan.wake_at == (at(wake) if wake else None)
    assert plan.actions == ()


@pytest.mark.parametrize("why", ["off", "no end named", "another error", "stopping", "it works again"])
def test_a_turn_that_goes_on_by_no_message(why: str) -> None:
    note = {"no end named": PLAIN, "another error": "401; try again in 20s"}.get(why, NAMED)
    first = team(1, error(note=note))
    late = replace(first, runtime=decided(first).runtime, now=at(700))
    if why == "off":
        late = replace(late, policy=LeadPolicy(continue_after_limit=False))
    elif why == "stopping":
        late = replace(late, wanted=replace(late.wanted, wish=Wish.STOP))
    elif why == "it works again":
        late = replace(late, seen={i: replace(s, state=State.WORKING, note="") for i, s in late.seen.items()})
    assert sent_on(decided(late)) == []


NOTES = st.sampled_from(["429", "429, retry in 50s", "overloaded; try again in 2 minutes", "401"])
LOOKS = st.lists(
    st.tuples(st.sampled_from(["w1", "w2"]), st.sampled_from([State.ERROR, State.IDLE]), NOTES), max_size=12
)


@given(LOOKS, st.lists(st.integers(0, 900), min_size=12, max_size=12))
def test_holds_are_bounded_and_seen_again_they_change_nothing(
    looks: list[tuple[str, State, str]], pauses: list[int]
) -> None:
    now, runtime = 0, Runtime()
    for (name, state, note), pause in zip(looks, pauses, strict=False):
        now += pause
        snapshot = team(now, (name, state, now, note if state is State.ERROR else ""), limits=runtime.limits)
        runtime = renewed(snapshot).runtime
        again = renewed(replace(snapshot, runtime=replace(snapshot.runtime, limits=runtime.limits))).runtime
        assert again.limits == runtime.limits
        assert all(limit.until - at(now) <= LONGEST for limit in runtime.limits)
        assert len(runtime.limits) <= 1


def test_ids_of_notices_are_those_of_the_episode() -> None:
    """So that a lead that dies between telling and recording tells no second time."""
    first = [tell.id for tell in only(Tell, decided(team(1, error()))) if ":limit:" in tell.id]
    later = [tell.id for tell in only(Tell, decided(team(9, error()))) if ":limit:" in tell.id]
    assert first == later == [f"uid:limit:claude:{at(0).isoformat()}"]
