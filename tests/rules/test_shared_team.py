"""A team that several machines share: each lead acts for its own members, and one of them for the whole team.

Issue 19, build 5. The team is drawn, with members in any state, and its members are divided among machines.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.model.decision import (
    Action,
    Announce,
    Decision,
    Deliver,
    Dismiss,
    Expire,
    Finish,
    Hire,
    Person,
    Snapshot,
    Withdraw,
)
from pro0.model.need import NeedKind, Surface
from pro0.model.runtime import ENDED, Failure, Phase, Runtime, State
from pro0.model.task import Policy, StartWish, Status, Task
from pro0.model.team import Seat, ShutdownWish
from pro0.store.database.sharing import whole
from tests.rules.building import T0, at, task
from tests.rules.divided import (
    ALL,
    MACHINES,
    NAMES,
    PLACES,
    concerned,
    is_about_cost,
    limited,
    of_members,
    part,
    parts,
    records,
    seat_of,
    teams,
)
from tests.rules.supervising import decided, kinds, look, only, seat, session

TEAM_WIDE = (Deliver, Expire, Announce)
"""What one lead does for the whole team, besides new seats for tasks and notices about the cost."""


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


def is_bell(action: Action) -> bool:
    """Say whether it is one of what each machine does for itself."""
    return isinstance(action, Announce) and action.surface is Surface.BELL


@given(teams(), PLACES)
def test_without_the_duties_a_lead_does_nothing_for_the_whole_team(team: Snapshot, places: dict[str, str]) -> None:
    """And all that it does for its members, it does all the same."""
    for machine in MACHINES:
        bare, full = (decided(part(team, places, machine, has_duties=has)) for has in (False, True))
        assert all(is_bell(action) for action in bare.actions if isinstance(action, TEAM_WIDE) or is_about_cost(action))
        assert [*filter(is_bell, bare.actions)] == [*filter(is_bell, full.actions)], "a person may sit at any machine"
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
    """A crash, a start that failed, a limit, and a machine out of reach; the other leads ring their own bells."""
    failed = Failure("w3", 1, at(-1), "no program")
    away = session("w4", State.UNREACHABLE, guard=None, note="two takes no part at present")
    others = Runtime(seats=(session("w2", State.CRASHED, told=("x",)), away), failures=(failed,), limits=(limited(),))
    seats = [seat("w1"), *(seat(name, machine="two") for name in NAMES[1:])]
    snapshot = replace(look(session("w1"), seats=seats), others=others, person=Person(), surfaces=ALL)
    for has_duties in (True, False):
        decision = decided(replace(snapshot, has_duties=has_duties))
        expected = {NeedKind.CRASH, NeedKind.NOT_STARTED, NeedKind.LIMIT, NeedKind.UNREACHABLE}
        assert {need.kind for need in decision.needs} == expected
        surfaces = ALL if has_duties else {Surface.BELL}
        told = {(one.surface, one.need.kind) for one in only(Announce, decision)}
        assert told == {(surface, kind) for surface in surfaces for kind in expected}
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
    snapshot = replace(look(seats=[seat("w1")]), others=Runtime(limits=(limited("shell"),)))
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
