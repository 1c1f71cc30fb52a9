"""A team that several machines share: each lead acts for its own members, and one of them for the whole team.

Issue 19, build 5. The team is drawn, with members in any state, and its members are divided among machines.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.model.caller import Caller, Who
from pro0.model.decision import (
    Action,
    Announce,
    Ask,
    Decision,
    Deliver,
    Dismiss,
    End,
    Expire,
    Finish,
    Free,
    Harvest,
    Hire,
    Nudge,
    Person,
    Prepare,
    Question,
    Seen,
    Snapshot,
    Start,
    Tell,
    Withdraw,
)
from pro0.model.message import Notice
from pro0.model.need import NeedKind, Surface
from pro0.model.runtime import ENDED, Exit, Failure, Phase, RateLimit, Report, Runtime, SeatState, State, Unread
from pro0.model.task import Policy, StartWish, Status, Task, TaskList
from pro0.model.team import Answer, PlanGate, Seat, ShutdownWish, Wanted, Wish
from pro0.store.database.sharing import whole
from tests.rules.building import T0, at, claimed, task
from tests.rules.supervising import AGENT, CONFIG, GUARD, decided, kinds, look, only, seat, session

NAMES = ("w1", "w2", "w3", "w4")
MACHINES = ("", "two")
TEAM_WIDE = (Deliver, Expire, Announce)
"""What one lead does for the whole team, besides new seats for tasks and notices about the cost."""
ALL = frozenset(Surface)
PEOPLE = st.sampled_from(["shell", "shell", "claude", "command"])
MOMENTS = st.sampled_from([-1000.0, -70.0, -20.0, -5.0, -1.0, 0.0])


class Member(NamedTuple):
    """One member as it is drawn: what is wanted of it, what is recorded, and what is seen of it."""

    seat: Seat
    state: SeatState | None
    report: Report | None
    lives: bool
    left: bool
    tasks: tuple[Task, ...]
    failures: tuple[Failure, ...]
    unread: Unread | None
    seen: Seen | None


@st.composite
def wishes(draw: st.DrawFn, id: str) -> ShutdownWish:
    """A request to end, with a minute for the answer, which may be over."""
    return ShutdownWish(id=id, by="human", at=at(draw(MOMENTS)), force=draw(st.booleans()), timeout=60)


@st.composite
def sessions(draw: st.DrawFn, name: str, generation: int) -> SeatState:
    """A session in any state, asked to end or not, with what it was told."""
    since, incarnation = at(draw(MOMENTS)), f"inc-{name}"
    state = draw(st.sampled_from([State.IDLE, State.IDLE, State.WORKING, *State]))
    is_up = state is not State.STARTING or draw(st.booleans())
    return SeatState(
        agent_id=name,
        generation=generation,
        incarnation=incarnation,
        state=state,
        since=since,
        started_at=since,
        guard=GUARD if is_up else None,
        agent=AGENT if is_up else None,
        exit=Exit(at=since, code=1) if state is State.CRASHED else None,
        asked=draw(st.sampled_from([None, "stop-1", f"ask-{name}"])),
        ending_since=at(draw(MOMENTS)) if state is State.STOPPING else None,
        told=draw(st.sampled_from([(), (f"{incarnation}:ended",), (f"{incarnation}:idle:{since.isoformat()}",)])),
        source=draw(st.sampled_from(["", "screen"])),
    )


@st.composite
def members(draw: st.DrawFn, name: str) -> Member:
    """A member with or without a session, a task of its own, mail, and a request to end."""
    number, generation, has_task = NAMES.index(name), draw(st.integers(1, 2)), draw(st.booleans())
    own = task(10 + number, policy=draw(st.sampled_from(list(Policy))))
    wish = draw(st.none() | wishes(f"ask-{name}"))
    state = draw(st.none() | sessions(name, draw(st.integers(1, generation))))
    incarnation = state.incarnation if state else ""
    asked = draw(st.sampled_from(["stop-1", f"ask-{name}"]))
    answer = Answer(asked, incarnation, draw(st.booleans()), at(draw(MOMENTS)), "busy") if state else None
    wanted = Seat(
        agent_id=name,
        name=name,
        agent=draw(PEOPLE),
        generation=generation,
        task=own.id if has_task else None,
        disposable=has_task and draw(st.booleans()),
        worktree=draw(st.sampled_from([False, False, True])),
        shutdown=wish,
        answer=draw(st.sampled_from([None, answer])),
        gate=draw(st.sampled_from([None, PlanGate(), PlanGate(id="p", verdict="approved", generation=generation)])),
    )
    lives, reported = draw(st.booleans()), draw(st.booleans())
    shown, shown_since = draw(st.sampled_from(State)), at(draw(MOMENTS))
    report = Report(agent_id=name, incarnation=incarnation, guard=GUARD, agent=AGENT, state=shown, since=shown_since)
    held = claimed(task(1 + number), Caller(Who.MEMBER, name, incarnation))
    mine = claimed(own, Caller(Who.MEMBER, name, incarnation))
    mine = replace(mine, session=draw(st.sampled_from([incarnation, "inc-other"])), claimed_at=at(draw(MOMENTS)))
    over = replace(mine, status=Status.COMPLETED, claim=None, completed_at=at(draw(MOMENTS)))
    failure = Failure(name, generation, T0, "no program")
    return Member(
        seat=wanted,
        state=state,
        report=report if state and reported else None,
        lives=lives and reported and state is not None,
        left=state is not None and draw(st.booleans()),
        tasks=(held if state and draw(st.booleans()) else task(1 + number), draw(st.sampled_from([own, mine, over]))),
        failures=(failure,) if draw(st.booleans()) else (),
        unread=draw(st.sampled_from([None, Unread(newest=5, count=1)])),
        seen=draw(
            st.sampled_from([None, *(Seen(s, T0, "screen") for s in (State.IDLE, State.WORKING, State.WAITING))])
        ),
    )


@st.composite
def teams(draw: st.DrawFn) -> Snapshot:
    """A team on one machine as its lead sees it."""
    drawn = [draw(members(name)) for name in NAMES[: draw(st.integers(1, 4))]]
    stop = draw(st.none() | st.none() | wishes("stop-1"))
    in_line = tuple(task(20 + number, policy=Policy.DISPATCH) for number in range(draw(st.integers(0, 2))))
    overdue = claimed(replace(task(30), claimed_at=T0), Caller(Who.MEMBER, "gone", "inc-gone"))
    notice = Notice(id="n1", from_="human", to="w1", content="x")
    states = [member.state for member in drawn if member.state]
    reports = {member.report.incarnation: member.report for member in drawn if member.report}
    limit = RateLimit(agent="claude", since=at(-9), at=at(-9), until=at(50), note="429")
    return Snapshot(
        now=at(draw(st.sampled_from([0.0, 30.0, 1805.0]))),
        config=CONFIG,
        wanted=Wanted(
            wish=Wish.STOP if stop else Wish.RUN,
            stop=stop,
            paused=draw(st.sampled_from([False, False, True])),
            max_cost=10.0,
            seats=tuple(member.seat for member in drawn),
            outbox=draw(st.sampled_from([(), (notice,)])),
        ),
        runtime=Runtime(
            seats=tuple(states),
            failures=tuple(failure for member in drawn for failure in member.failures),
            limits=draw(st.sampled_from([(), (), (limit,)])),
        ),
        tasks=TaskList(
            tasks=(*(one for member in drawn for one in member.tasks), *in_line, overdue),
            outbox=draw(st.sampled_from([(), (notice,)])),
        )
        if draw(st.integers(0, 9))
        else None,
        reports=reports,
        guards_alive=frozenset(m.state.incarnation for m in drawn if m.state and m.lives),
        leftovers=frozenset(m.state.incarnation for m in drawn if m.state and m.left),
        unopened={s.incarnation: False for s in states if s.state is State.STARTING and s.guard is None},
        unread={member.seat.agent_id: member.unread for member in drawn if member.unread},
        seen={member.state.incarnation: member.seen for member in drawn if member.state and member.seen},
        hooked=draw(st.booleans()),
        spent=draw(st.sampled_from([0.0, 0.0, 9.0, 10.0])),
        person=Person(),
        surfaces=ALL,
        protocol=frozenset({"shell"}),
        line=frozenset({"claude"}),
    )


PLACES = st.fixed_dictionaries({name: st.sampled_from(MACHINES) for name in NAMES})
"""The machine of each member."""


def part(team: Snapshot, places: dict[str, str], machine: str, *, has_duties: bool) -> Snapshot:
    """What the lead of one machine sees of a team whose members are divided."""
    states = team.runtime.seats
    own = {state.incarnation for state in states if places[state.agent_id] == machine}

    def here(all_failures: Iterable[Failure], *, is_own: bool = True) -> tuple[Failure, ...]:
        return tuple(one for one in all_failures if (places[one.agent_id] == machine) == is_own)

    return replace(
        team,
        machine=machine,
        has_duties=has_duties,
        wanted=replace(
            team.wanted, seats=tuple(replace(seat, machine=places[seat.agent_id]) for seat in team.wanted.seats)
        ),
        runtime=replace(
            team.runtime,
            seats=tuple(state for state in states if state.incarnation in own),
            failures=here(team.runtime.failures),
        ),
        others=Runtime(
            seats=tuple(state for state in states if state.incarnation not in own),
            failures=here(team.runtime.failures, is_own=False),
        ),
        reports={incarnation: report for incarnation, report in team.reports.items() if incarnation in own},
        guards_alive=team.guards_alive & own,
        leftovers=team.leftovers & own,
        unopened={incarnation: value for incarnation, value in team.unopened.items() if incarnation in own},
        seen={incarnation: seen for incarnation, seen in team.seen.items() if incarnation in own},
    )


def parts(team: Snapshot, places: dict[str, str]) -> list[Decision]:
    """What both leads decide; that of the first machine has the duties."""
    return [decided(part(team, places, machine, has_duties=not machine)) for machine in MACHINES]


def concerned(action: Action, decision: Decision) -> str | None:
    """The member that an action is about, None for one about the whole team."""
    incarnations = {state.incarnation: state.agent_id for state in decision.runtime.seats}
    match action:
        case Start(seat=seat) | Prepare(seat=seat):
            return seat.agent_id
        case Ask() | End() | Free() | Nudge() | Harvest() | Dismiss():
            return action.agent_id
        case Question(state=state):
            return state.agent_id
        case Tell(id=id):
            return incarnations.get(id.partition(":")[0])
        case Withdraw(request_id=id) if id.startswith("ask-"):
            return id.removeprefix("ask-")
    return None


def seat_of(team: Snapshot, task_id: str) -> Seat | None:
    return next((seat for seat in team.wanted.seats if seat.task == task_id), None)


def alike(what: object) -> str:
    """An action or a record without what differs by machine: which one it is, and the ids that are new."""
    return re.sub(r"new-\d+", "new", repr(what)).replace("machine='two'", "machine=''")


def of_members(*decisions: Decision) -> list[str]:
    """The actions about members, of one lead or of several."""
    return sorted(alike(a) for one in decisions for a in one.actions if concerned(a, one) is not None)


def records(*decisions: Decision) -> list[str]:
    """The sessions as they are recorded, by one lead or by several."""
    return sorted(alike(state) for one in decisions for state in one.runtime.seats)


def is_about_cost(action: Action) -> bool:
    return isinstance(action, Tell) and ":cost:" in f":{action.id}:"


@given(teams(), PLACES, st.booleans())
def test_a_lead_acts_for_its_own_members_alone(team: Snapshot, places: dict[str, str], has_duties: bool) -> None:
    for machine in MACHINES:
        seen = part(team, places, machine, has_duties=has_duties)
        decision = decided(seen)
        named = {concerned(action, decision) for action in decision.actions} - {None}
        assert {places[str(agent_id)] for agent_id in named} <= {machine}
        assert {places[state.agent_id] for state in decision.runtime.seats} <= {machine}
        for hire in only(Hire, decision):
            known = seat_of(team, hire.task_id)
            assert places[known.agent_id] == machine if known else has_duties


@given(teams(), PLACES)
def test_without_the_duties_a_lead_does_nothing_for_the_whole_team(team: Snapshot, places: dict[str, str]) -> None:
    """And all that it does for its members, it does all the same."""
    for machine in MACHINES:
        bare, full = (decided(part(team, places, machine, has_duties=has)) for has in (False, True))
        assert not [action for action in bare.actions if isinstance(action, TEAM_WIDE) or is_about_cost(action)]
        assert all(seat_of(team, hire.task_id) for hire in only(Hire, bare))
        assert bare.announced is None
        assert of_members(bare) == of_members(full)
        assert records(bare) == records(full)
        assert bare.needs == full.needs, "what its members need is shown where they are"


@given(teams(), PLACES)
def test_two_leads_do_together_what_one_does_for_all(team: Snapshot, places: dict[str, str]) -> None:
    """Whoever divides the members among machines changes nothing for any of them."""
    alone, together = decided(team), parts(team, places)
    assert of_members(*together) == of_members(alone)
    assert records(*together) == records(alone)
    hires = [hire for one in together for hire in only(Hire, one)]
    assert sorted(map(repr, hires)) == sorted(map(repr, only(Hire, alone)))
    for kind in (Deliver, Expire):
        assert [action for one in together for action in only(kind, one)] == only(kind, alone)
    costs = [[*filter(is_about_cost, decision.actions)] for decision in (*together, alone)]
    assert costs[0] == costs[2]
    assert costs[1] == []


@given(teams(), PLACES)
def test_the_team_has_stopped_when_each_machine_has(team: Snapshot, places: dict[str, str]) -> None:
    """The phases that leads decide on their own are that of one lead, put together as readers see them."""
    alone, (here, there) = decided(team), parts(team, places)
    seen = whole(here.runtime, {"two": there.runtime}, {"two"})
    assert (seen.phase is Phase.STOPPED) == (alone.runtime.phase is Phase.STOPPED)
    assert all(only(Finish, one) for one in (here, there)) == bool(only(Finish, alone))
    if only(Withdraw, alone):
        withdrawn = {one.request_id for decision in (here, there) for one in only(Withdraw, decision)}
        assert withdrawn >= {one.request_id for one in only(Withdraw, alone)}


@settings(max_examples=50)
@given(teams(), PLACES, st.sampled_from(State), st.integers(1, 3))
def test_what_is_recorded_elsewhere_changes_nothing_that_a_lead_does(
    team: Snapshot, places: dict[str, str], state: State, generation: int
) -> None:
    """It says what the person needs, and no more."""
    seen = part(team, places, "", has_duties=True)
    others = [replace(one, state=state, generation=generation) for one in seen.others.seats]
    before, after = decided(seen), decided(replace(seen, others=Runtime(seats=tuple(others))))
    assert after.runtime == before.runtime
    assert _but_news(after) == _but_news(before)


def _but_news(decision: Decision) -> list[Action]:
    return [action for action in decision.actions if not isinstance(action, Announce)]


# By hand


def dispatched(**fields: object) -> Task:
    """A task in line for a worker."""
    return task(2, policy=Policy.DISPATCH, **fields)


def worker(machine: str, **fields: object) -> Seat:
    return seat("t2", task="task-2", disposable=True, machine=machine, **fields)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("has_duties", [True, False])
def test_a_new_task_is_hired_for_by_the_lead_with_the_duties(machine: str, has_duties: bool) -> None:
    snapshot = replace(look(tasks=[dispatched()]), machine=machine, has_duties=has_duties)
    assert only(Hire, decided(snapshot)) == ([Hire("task-2", "t2")] if has_duties else [])


@pytest.mark.parametrize("how", ["not begun", "it lives", "it is over", "it failed"])
@pytest.mark.parametrize("has_duties", [True, False])
def test_a_task_whose_seat_is_elsewhere_is_not_hired_for_again(how: str, has_duties: bool) -> None:
    """Whatever has become of its session there, of which that lead knows best."""
    states = {"it lives": State.WORKING, "it is over": State.SHUTDOWN}
    others = Runtime(
        seats=(session("t2", states[how]),) if how in states else (),
        failures=(Failure("t2", 1, T0, "no program"),) if how == "it failed" else (),
    )
    snapshot = replace(look(seats=[worker("two")], tasks=[dispatched()]), others=others, has_duties=has_duties)
    assert not decided(snapshot).actions


@pytest.mark.parametrize("has_duties", [True, False])
@pytest.mark.parametrize("machine", MACHINES)
def test_a_task_that_is_to_begin_again_does_so_in_the_seat_that_it_has(machine: str, has_duties: bool) -> None:
    """By the lead of that machine, though another one may have the duties by now: else nobody would."""
    over = session("t2", State.SHUTDOWN, told=("inc-t2:ended",))
    snapshot = look(over, seats=[seat("t2", task="task-2", machine=machine)], tasks=[again()], dead=["t2"])
    for own in MACHINES:
        seen = replace(snapshot, machine=own, has_duties=has_duties)
        if own != machine:
            seen = replace(seen, runtime=Runtime(), others=snapshot.runtime)
        assert only(Hire, decided(seen)) == ([Hire("task-2", "t2")] if own == machine else [])
        assert only(Dismiss, decided(seen)) == []


def again() -> Task:
    """A task that has failed, and is to be done by a session of its own once more."""
    return task(2, started_at=T0, start=StartWish(by="human", at=T0))


@pytest.mark.parametrize("has_duties", [True, False])
def test_the_seat_of_a_task_that_is_over_is_taken_away_by_its_own_lead(has_duties: bool) -> None:
    done = task(2, status=Status.COMPLETED, completed_at=T0)
    over = session("t2", State.SHUTDOWN, told=("inc-t2:ended",))
    snapshot = look(over, seats=[seat("t2", task="task-2", machine="two")], tasks=[done], dead=["t2"])
    there = replace(snapshot, machine="two", has_duties=has_duties)
    assert only(Dismiss, decided(there)) == [Dismiss("t2", 1)]
    assert only(Dismiss, decided(replace(snapshot, has_duties=has_duties))) == []


def test_what_members_elsewhere_need_is_announced_by_the_lead_with_the_duties() -> None:
    """A crash, a start that failed, a limit, and a machine out of reach; the other leads announce nothing."""
    failed = Failure("w3", 1, at(-1), "no program")
    limit = RateLimit(agent="claude", since=at(-9), at=at(-9), until=at(50), note="429")
    away = session("w4", State.UNREACHABLE, guard=None, note="two takes no part at present")
    others = Runtime(seats=(session("w2", State.CRASHED, told=("x",)), away), failures=(failed,), limits=(limit,))
    seats = [seat("w1"), *(seat(name, machine="two") for name in NAMES[1:])]
    snapshot = replace(look(session("w1"), seats=seats), others=others, person=Person(), surfaces=ALL)
    for has_duties in (True, False):
        decision = decided(replace(snapshot, has_duties=has_duties))
        expected = {NeedKind.CRASH, NeedKind.NOT_STARTED, NeedKind.LIMIT, NeedKind.UNREACHABLE}
        assert {need.kind for need in decision.needs} == expected
        assert {one.need.kind for one in only(Announce, decision)} == (expected if has_duties else set())
    [need] = [need for need in decision.needs if need.kind is NeedKind.UNREACHABLE]
    assert need.command == "pro0 host list"


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("host", ["", "build1"])
def test_what_to_do_about_a_machine_out_of_reach_depends_on_whose_member_it_is(machine: str, host: str) -> None:
    """A name for OpenSSH, and a terminal, are known on the machine that leads the member, and on no other one."""
    away = session("w1", State.UNREACHABLE, source="screen")
    seats = [seat("w1", machine=machine, host=host)]
    own = replace(look(away, seats=seats), machine=machine, person=Person())
    elsewhere = whole(Runtime(), {machine: own.runtime}, set())
    other = replace(own, machine="three", runtime=Runtime(), others=elsewhere, reports={}, guards_alive=frozenset())
    commands = [[need.command for need in decided(one).needs] for one in (own, other)]
    assert commands == [["pro0 doctor --host build1" if host else "pro0 member peek w1"], ["pro0 host list"]]


def test_a_limit_that_is_known_elsewhere_holds_nobody_here() -> None:
    """Each machine may have an account of its own."""
    limit = RateLimit(agent="shell", since=at(-9), at=at(-9), until=at(50), note="429")
    snapshot = replace(look(seats=[seat("w1")]), others=Runtime(limits=(limit,)))
    assert kinds(decided(snapshot)) == ["Start"]


def test_the_cost_is_told_once_by_the_lead_with_the_duties() -> None:
    spent = replace(look(session("w1")), spent=10.0, machine="two")
    spent = replace(spent, wanted=replace(spent.wanted, max_cost=10.0))
    told = [decided(replace(spent, has_duties=has)) for has in (True, False)]
    assert [len([*filter(is_about_cost, one.actions)]) for one in told] == [1, 0]
    later = replace(spent, runtime=told[0].runtime)
    assert not [*filter(is_about_cost, decided(later).actions)]


def test_a_stop_ends_each_lead_with_its_own_members() -> None:
    """One whose members have ended does not wait for those of others."""
    stop = ShutdownWish(id="stop-1", by="human", at=T0)
    seats = [seat("w1"), seat("w2", machine="two")]
    lives, over = session("w1"), session("w2", State.SHUTDOWN)
    here = look(lives, seats=seats, stop=stop)
    there = replace(look(over, seats=seats, stop=stop, dead=["w2"]), machine="two", has_duties=False)
    assert not only(Finish, decided(here))
    assert only(Finish, decided(there))
    assert decided(there).runtime.phase is Phase.STOPPED
    assert {state.agent_id for state in decided(there).runtime.seats if state.state in ENDED} == {"w2"}
