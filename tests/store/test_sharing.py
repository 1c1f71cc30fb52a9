"""A team that several machines share: their records as one, and what each machine keeps for itself."""

import json
import time
from collections.abc import Callable
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pro0.engine import machines
from pro0.errors import ErrorCode, NotFound, StoreError
from pro0.model.caller import THE_HUMAN, THE_LEAD
from pro0.model.message import Notice
from pro0.model.runtime import ENDED, Failure, Handle, Phase, RateLimit, Refusal, Runtime, SeatState, State
from pro0.model.team import Member, TeamConfig, Wanted
from pro0.model.usage import UsageBook
from pro0.ops.context import clock
from pro0.ops.team.machines import give_up
from pro0.store.database.server import DatabaseServer
from pro0.store.database.sharing import WholeRuntime, others_of, record_in, whole
from pro0.store.paths import is_document, machine_of, record_of
from pro0.store.teams import Store, TeamStore
from tests.rules.supervising import AGENT, GUARD
from tests.sharing import joined, led, pointer_of, seated, share, shared, state_of
from tests.store.raw import all_of, drop
from tests.teams import NOW, human, make_team
from tests.waiting import STUCK, wait_until

pytestmark = pytest.mark.usefixtures("no_sync")
RUNNING, STOPPING, STOPPED = Phase.RUNNING, Phase.STOPPING, Phase.STOPPED


# One record of all


def record(phase: Phase = RUNNING, *states: SeatState, **fields: object) -> Runtime:
    return replace(Runtime(phase=phase, seats=states), **fields)


LIVES, ENDS = state_of("w9"), state_of("w9", State.SHUTDOWN)
PHASES: dict[str, tuple[Phase, dict[str, Runtime], set[str], Phase]] = {
    "both run": (RUNNING, {"two": record()}, {"two"}, RUNNING),
    "both have stopped": (STOPPED, {"two": record(STOPPED)}, {"two"}, STOPPED),
    "both are stopping": (STOPPING, {"two": record(STOPPING)}, {"two"}, STOPPING),
    "it has stopped, another one runs": (STOPPED, {"two": record()}, {"two"}, RUNNING),
    "it runs, another one has stopped": (RUNNING, {"two": record(STOPPED)}, {"two"}, RUNNING),
    "it has stopped, another one is stopping": (STOPPED, {"two": record(STOPPING)}, {"two"}, STOPPING),
    "it is stopping, another one has stopped": (STOPPING, {"two": record(STOPPED)}, {"two"}, STOPPING),
    "absent, and nothing ever ran there": (STOPPED, {"two": record()}, set(), STOPPED),
    "absent, and all has ended there": (STOPPED, {"two": record(RUNNING, ENDS)}, set(), STOPPED),
    "absent, and one lives there": (STOPPED, {"two": record(RUNNING, ENDS, LIVES)}, set(), RUNNING),
    "absent while it was stopping": (STOPPED, {"two": record(STOPPING, LIVES)}, set(), STOPPING),
    "one of two is present": (STOPPED, {"two": record(), "three": record(STOPPED)}, {"three"}, STOPPED),
    "one of two runs": (STOPPING, {"two": record(), "three": record(STOPPED)}, {"two", "three"}, RUNNING),
    "the first one is absent": (STOPPED, {"": record(RUNNING, LIVES)}, set(), RUNNING),
}


@pytest.mark.parametrize("case", PHASES)
def test_the_phase_of_the_whole_team(case: str) -> None:
    """It has stopped once each machine has, but for those of which nobody is missed."""
    own, others, present, phase = PHASES[case]
    assert whole(record(own), others, present).phase is phase


def test_a_team_of_one_machine_is_as_it_recorded_it() -> None:
    own = record(STOPPING, state_of("w1", guard=GUARD), told=("x",))
    assert whole(own, {}, set()) is own


@pytest.mark.parametrize("machine", ["two", ""])
@pytest.mark.parametrize("state", State)
def test_only_who_may_live_on_an_absent_machine_is_unreachable(state: State, machine: str) -> None:
    """Nothing says that it has ended; what has ended stays as it is."""
    there = record(RUNNING, state_of("w2", state, note="as it was"), lead_machine="tower")
    [seen] = whole(record(), {machine: there}, set()).seats
    [known] = whole(record(), {machine: there}, {machine}).seats
    assert (known.state, known.note) == (state, "as it was")
    if state in ENDED:
        assert seen == known
    else:
        assert (seen.state, seen.since) == (State.UNREACHABLE, known.since)
        assert seen.note == f"{machine or 'tower'} takes no part at present"


def test_what_a_record_names_is_on_its_own_machine_alone() -> None:
    """No process and no pane of another machine is looked for on this one."""
    pane = Handle(backend="tmux", incarnation="i", pane="%1")
    states = [state_of(name, guard=GUARD, agent=AGENT, handle=pane) for name in ("w1", "w2")]
    own = record(RUNNING, states[0], lead=GUARD, server=pane, told=("a",))
    other = record(RUNNING, states[1], lead=AGENT, told=("b",), lead_machine="tower")
    seen = whole(own, {"two": other}, {"two"})
    assert seen.seats == (own.seats[0], replace(other.seats[0], guard=None, agent=None, handle=None))
    assert (seen.lead, seen.server, seen.told, seen.lead_machine) == (own.lead, own.server, own.told, "")


def test_what_went_wrong_anywhere_is_told_of_the_whole_team() -> None:
    failures = [Failure(name, 1, NOW, "no program") for name in ("w1", "w2")]
    refusals = [Refusal(request_id=id) for id in ("r1", "r2")]
    limits = [RateLimit(agent="claude", since=NOW, at=NOW, until=NOW, note=note) for note in ("here", "there")]
    own, other = (
        record(RUNNING, failures=(failure,), refusals=(refusal,), limits=(limit,))
        for failure, refusal, limit in zip(failures, refusals, limits, strict=True)
    )
    for present in ({"two"}, set[str]()):
        seen = whole(own, {"two": other}, present)
        assert [*seen.failures] == failures
        assert [*seen.refusals] == refusals
        assert [*seen.limits] == limits


STATES = st.builds(
    state_of,
    st.sampled_from(["w1", "w2", "w3"]),
    st.sampled_from([State.IDLE, State.WORKING, State.CRASHED, State.SHUTDOWN]),
    generation=st.integers(1, 4),
    guard=st.just(GUARD),
)
RECORDS = st.builds(
    lambda phase, states: record(phase, *{state.agent_id: state for state in states}.values()),
    st.sampled_from(Phase),
    st.lists(STATES, max_size=3),
)


@given(RECORDS, st.dictionaries(st.sampled_from(["two", "three", "four"]), RECORDS), st.data())
def test_each_member_is_seen_once_in_its_newest_session(
    own: Runtime, others: dict[str, Runtime], data: st.DataObject
) -> None:
    """A member that was on another machine before is there no more."""
    present = {name for name in others if data.draw(st.booleans())}
    seen = {state.agent_id: state for state in whole(own, others, present).seats}
    everywhere = [*own.seats, *(state for other in others.values() for state in other.seats)]
    assert len(whole(own, others, present).seats) == len({state.agent_id for state in everywhere})
    for agent_id, state in seen.items():
        newest = max(known.generation for known in everywhere if known.agent_id == agent_id)
        assert state.generation == newest
        mine = [known for known in own.seats if known.agent_id == agent_id and known.generation == newest]
        assert mine in ([], [state]), "of its own machine a lead knows best"
        assert mine or state.guard is None
        unheard = [name for name, other in others.items() if name not in present and known_there(other, state)]
        assert (state.state is not State.UNREACHABLE) or unheard


def known_there(other: Runtime, state: SeatState) -> bool:
    return any((s.agent_id, s.generation) == (state.agent_id, state.generation) for s in other.seats)


# The records in the database


def test_each_lead_records_its_own_sessions_and_readers_see_all(
    alpha: TeamStore, two: TeamStore, three: TeamStore
) -> None:
    """Issue 19, build 5: and each reads its own record when it decides."""
    seated(two, "w2")
    seated(three, "w3")
    with led(alpha), led(two), led(three):
        for team, name in ((alpha, "w1"), (two, "w2"), (three, "w3")):
            assert [state.agent_id for state in team.record.read().seats] == [name]
            assert {state.agent_id: state.state for state in team.runtime.read().seats} == dict.fromkeys(
                ("w1", "w2", "w3"), State.IDLE
            )
    assert {others: others_of(team.documents) for others, team in (("", alpha), ("two", two))} == {
        "": ["three", "two"],
        "two": ["", "three"],
    }
    assert [seat.machine for seat in three.wanted.read().seats] == ["", "two", "three"]


def test_a_lead_that_writes_its_record_leaves_the_others_alone(alpha: TeamStore, two: TeamStore) -> None:
    """Through the record of all, too: what is changed is this machine's alone."""
    seated(two, "w2")
    before = alpha.record.read()
    with two.runtime.change("a test") as change:
        assert [state.agent_id for state in change.value.seats] == ["w2"]
        change.value = replace(change.value, phase=STOPPED)
    assert (alpha.record.read(), two.record.read().phase) == (before, STOPPED)


def test_a_machine_without_a_record_takes_no_part(alpha: TeamStore, two: TeamStore) -> None:
    """What it would read or write is refused; the others see the rest."""
    seated(two, "w2")
    drop(two.record)
    for act in (two.runtime.read, two.record.read, two.record.change("a test").__enter__):
        with pytest.raises(NotFound, match="two no longer takes part in this team") as refused:
            act()
        assert refused.value.hint == "pro0 host leave"
    assert two.runtime.find() is None
    assert [state.agent_id for state in alpha.runtime.read().seats] == ["w1"]
    assert alpha.runtime.find() == alpha.runtime.read()
    drop(alpha.record)
    with pytest.raises(StoreError, match=r"runtime\.json is missing") as missing:
        alpha.runtime.read()
    assert missing.value.code == ErrorCode.STORE_CORRUPT


def test_a_record_is_not_that_of_a_later_machine_of_the_name(alpha: TeamStore, two: TeamStore) -> None:
    """Who was given up meanwhile neither reads nor changes what the later one records."""
    drop(two.record)
    later = joined(alpha, "two", alpha.paths.home.with_name("later"))
    for act in (two.runtime.read, two.record.read, two.record.change("a test").__enter__):
        with pytest.raises(NotFound, match="two no longer takes part in this team"):
            act()
    assert later.record.read().seats == ()


def told(team: TeamStore) -> None:
    team.mailbox("human").post(Notice(id="n1", from_="w2", to="human", content="hello"), clock)


ACTS: dict[str, Callable[[TeamStore], object]] = {
    "its configuration is read": lambda team: team.config.read(),
    "its members are read": lambda team: team.wanted.read(),
    "its tasks are read": lambda team: team.tasks.read(),
    "its mail is read": lambda team: team.mailbox("human").head.read(),
    "its record is read": lambda team: team.runtime.read(),
    "its members are changed": lambda team: seated(team, "w2"),
    "mail is sent": told,
    "a mailbox is made": lambda team: team.mailbox("w2").make(),
    "usage is written for the first time": lambda team: team.usage.create(UsageBook()),
}


@pytest.mark.parametrize("which", ["the machine that made it", "one that joined"])
def test_a_later_team_of_the_name_is_a_strangers(alpha: TeamStore, two: TeamStore, which: str) -> None:
    """Whoever was away while theirs was removed neither reads nor changes it, nor what its machine two records."""
    own, elsewhere = two if "joined" in which else alpha, alpha.paths.home.with_name
    url = pointer_of(alpha).url
    shared(alpha).drop(f"uid-{alpha.name}")
    config = TeamConfig(name=alpha.name, created_at=NOW, uid="uid-strangers", project="/strangers")
    stranger = Store(elsewhere("strangers")).create(config, Wanted(), url=url)
    joined(stranger, "two", elsewhere("strangers-two"))
    stranger.log_event(NOW, "human", "theirs")
    before = all_of(stranger)
    for what, act in ACTS.items():
        with pytest.raises(NotFound) as gone:
            act(own)
        assert gone.value.hint == ("pro0 host leave" if own is two else None), what
    with pytest.raises(NotFound, match="no machine called two takes part"):
        give_up(human(own), "two")
    own.log_event(NOW, "human", "ours")
    assert [*own.documents.signs(), *own.documents.events().fresh()] == []
    assert [*shared(own).records(), *own.mailbox_owners()] == []
    assert all_of(stranger) == before
    assert [json.loads(line)["event"] for line in stranger.documents.events().fresh()] == ["theirs"]
    assert machines.is_gone(own)


def test_a_record_that_is_damaged_is_named(alpha: TeamStore, two: TeamStore) -> None:
    with two.documents.team.open() as opened:
        opened.replace(record_of("two"), b"{]")
    with pytest.raises(StoreError, match=rf"{two.name}/runtime-two\.json is corrupt") as damaged:
        alpha.runtime.read()
    assert damaged.value.code == ErrorCode.STORE_CORRUPT
    assert [state.agent_id for state in alpha.record.read().seats] == ["w1"]


@given(st.text("az09-", min_size=1, max_size=48).filter(lambda name: not name.startswith("-")))
def test_the_name_of_a_record_tells_its_machine(machine: str) -> None:
    name = record_of(machine)
    assert machine_of(name) == machine
    assert is_document(f"teams/{name}")
    assert machine_of(f"x{name}") is machine_of(f"{name}.json") is None


@pytest.mark.parametrize(
    "name", ["config.json", "runtime-.json", "runtime-Two.json", "runtime-a.b.json", "runtimes.json"]
)
def test_other_files_are_no_record_of_a_machine(name: str) -> None:
    assert machine_of(name) is None
    assert machine_of("runtime.json") == ""
    assert record_of("") == "runtime.json"


@pytest.mark.parametrize("caller", [THE_HUMAN, THE_LEAD], ids=["a person", "the lead"])
def test_of_a_persons_act_the_events_name_the_role(alpha: TeamStore, caller: object) -> None:
    """Several persons share the team, and the database knows them apart."""
    actor = getattr(caller, "agent_id")  # noqa: B009 - of either kind
    alpha.log_event(clock(), actor, "team.pause")
    [line] = alpha.documents.events().last(1)
    told = json.loads(line)
    assert datetime.fromisoformat(told.pop("at"))
    role = {"db_role": "pro0"} if caller is THE_HUMAN else {}
    assert told == {"actor": actor, "event": "team.pause", **role}


def test_a_database_tells_which_teams_it_keeps(alpha: TeamStore, database: str) -> None:
    documents = shared(alpha)
    assert alpha.name in documents.names()
    assert documents.uid() == f"uid-{alpha.name}"
    unknown = shared(make_team(alpha.paths.home, name=f"{alpha.name}-x", url=database))
    Store(alpha.paths.home).discard(f"{alpha.name}-x", f"uid-{alpha.name}-x")
    with pytest.raises(NotFound, match=f"there is no team {alpha.name}-x in postgresql:"):
        unknown.uid()
    assert f"{alpha.name}-x" not in documents.names()


@pytest.mark.parametrize("ahead", [-3600.0, -6.0, 0.0, 6.0, 3600.0])
def test_the_clocks_difference_is_the_servers_lead(
    alpha: TeamStore, monkeypatch: pytest.MonkeyPatch, ahead: float
) -> None:
    """Of a machine whose clock is wrong."""
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - ahead)
    assert shared(alpha).clock_difference() == pytest.approx(ahead, abs=2)


def test_a_server_that_is_slow_to_connect_to_has_no_other_clock(
    alpha: TeamStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds, real = 0.0, time.time
    monkeypatch.setattr(time, "time", lambda: real() + seconds)
    ask = DatabaseServer.ask

    def slow(server: DatabaseServer, *arguments: object) -> object:
        nonlocal seconds
        if not seconds:
            seconds = 20.0
        return ask(server, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(DatabaseServer, "ask", slow)
    assert shared(alpha).clock_difference() == pytest.approx(-20, abs=2), "and not half of it"


# What a machine knows for itself


def test_the_configuration_names_this_machines_project(alpha: TeamStore, two: TeamStore) -> None:
    """Its project and its terminals; all else is the team's."""
    there = alpha.config.read()
    here = two.config.read()
    own = share("two")
    assert (here.project, here.mode, here.sockets) == ("/projects/two", own.mode, own.sockets)
    assert replace(here, project=there.project, mode=there.mode, mode_reason=there.mode_reason) == there
    assert two.config.find() == here
    assert two.environment.find()


def test_a_change_of_the_configuration_keeps_the_others_project(alpha: TeamStore, two: TeamStore) -> None:
    """Who lists a new member writes nothing of this machine into the document of all."""
    with two.config.change("list a member") as change:
        change.value = replace(change.value, members=(Member(name="w2", agent_id="w2"),))
    seen = alpha.config.read()
    assert (seen.project, [member.agent_id for member in seen.members]) == (str(alpha.paths.home), ["w2"])
    assert two.config.read().project == "/projects/two"
    assert [member.agent_id for member in two.config.read().members] == ["w2"]


def test_a_configuration_that_is_gone_or_foreign_is_none_of_this_machine(alpha: TeamStore, two: TeamStore) -> None:
    config: TeamConfig = alpha.config.read()
    with alpha.documents.team.open() as opened:
        opened.replace("config.json", b"{}")
    with pytest.raises(StoreError, match="is corrupt"):
        two.config.read()
    drop(two.config)
    assert two.config.find() is None
    with pytest.raises(StoreError, match="is missing"):
        two.config.read()
    alpha.config.create(replace(config, name="another"))
    with pytest.raises(StoreError, match="it belongs to another team, another"):
        two.config.read()


# Giving a machine up


def test_a_record_goes_with_the_act_it_belongs_to(alpha: TeamStore, two: TeamStore) -> None:
    """Its seats and its record, or neither; whoever watches the team hears of it."""
    seated(two, "w2")
    before = all_of(alpha)

    def act(fail: bool) -> None:
        with alpha.wanted.change("a test") as change:
            change.value = replace(change.value, seats=change.value.seats[:1])
            shared(alpha).drop_record(change.place, "two")
            if fail:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        act(fail=True)
    assert all_of(alpha) == before
    watch = alpha.documents.watch([alpha.documents.team], r"runtime-two\.json")
    try:
        wait_until(watch.drain, STUCK, "it listens")
        wait_until(lambda: not watch.drain(), STUCK, "it has told all")
        act(fail=False)
        wait_until(watch.drain, STUCK, "it hears")
    finally:
        watch.close()
    assert {*before} - {*all_of(alpha)} == {"teams/runtime-two.json"}
    assert [seat.agent_id for seat in alpha.wanted.read().seats] == ["w1"]
    act(fail=False)
    assert others_of(alpha.documents) == []


def test_the_record_of_a_machine_is_a_document_like_any(alpha: TeamStore, two: TeamStore) -> None:
    """Which machine asks for it does not matter."""
    seated(two, "w2")
    assert record_in(alpha.documents.team, "two").read() == two.record.read()
    assert isinstance(alpha.runtime, WholeRuntime)
    assert alpha.runtime.records() == {"": alpha.record.read(), "two": two.record.read()}
