"""The machines that share a team: which there are, giving one up, and what is said of members on another one."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0 import processes
from pro0.errors import BadInput, ErrorCode, NotFound, Refused
from pro0.model.caller import Caller, Who
from pro0.model.need import AskedPermission, Choice
from pro0.model.runtime import Phase, Process, SeatState, State
from pro0.model.task import Draft, Status
from pro0.model.team import OutsideAgent, Seat, ShutdownWish, Wish
from pro0.ops import permissions
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.seats import led as is_led
from pro0.ops.tasks import tasks
from pro0.ops.team import events, machines, members, needs, status, teams
from pro0.ops.team.machines import give_up, list_machines, nothing_to_show, where
from pro0.store.database import lease as lease_module
from pro0.store.database.documents import DatabaseDocuments
from pro0.store.database.server import DatabaseServer
from pro0.store.database.sharing import others_of, record_in
from pro0.store.teams import TeamStore
from tests import crowd
from tests.faults import DONE, KILLED
from tests.rules.supervising import GUARD
from tests.sharing import founded, joined, led, recorded, seated, state_of
from tests.teams import ASKED, NOW, human, make_team, member, set_state


@pytest.fixture
def alpha(home: Path, database: str) -> TeamStore:
    """A team on the machine that made it, with the member w1."""
    return founded(home, database)


@pytest.fixture
def two(alpha: TeamStore) -> TeamStore:
    """The same team as a second machine has it, with the member w2."""
    team = joined(alpha, "two")
    seated(team, "w2")
    return team


def me() -> Process:
    found = processes.identify(os.getpid())
    assert found
    return found


GONE = Process(pid=2**22 + 1, start="1", boot_id="gone")


# Which there are


def test_the_machines_are_listed_with_their_members(alpha: TeamStore, two: TeamStore) -> None:
    """Issue 19, build 5: the one that made the team first, and whose lead is at work."""
    three = joined(alpha, "three")
    recorded(two, state_of("w3", State.CRASHED), state_of("w4", State.WORKING))
    with two.record.change("sign in") as change:
        change.value = replace(change.value, lead_machine="tower", lead_since=NOW, lead_version="1.2")
    with led(two):
        seen = list_machines(human(alpha))
    assert [(one.name, one.here, one.present, one.members) for one in seen] == [
        ("", True, False, ("w1",)),
        ("three", False, False, ()),
        ("two", False, True, ("w2", "w4")),
    ]
    assert [(one.hostname, one.since, one.version) for one in seen] == [
        ("", None, ""),
        ("", None, ""),
        ("tower", NOW, "1.2"),
    ]
    assert [one.name for one in list_machines(human(three)) if one.here] == ["three"]
    assert [one.present for one in list_machines(human(two))] == [False] * 3
    assert list_machines(member(two, "w2")) == list_machines(human(two)), "members may look"


def test_a_team_in_files_is_shared_by_nobody(home: Path) -> None:
    team = make_team(home, "w1")
    for act in (lambda: list_machines(human(team)), lambda: give_up(human(team), "two")):
        with pytest.raises(
            BadInput, match="alpha is stored in files on this machine, which no other machine shares"
        ) as refused:
            act()
        assert refused.value.hint == "move it: pro0 store copy alpha postgresql://…"
    assert where(team, team.wanted.read().seats[0]) == ""


def test_a_team_that_is_gone_has_no_machines(alpha: TeamStore, two: TeamStore) -> None:
    two.paths.team.rename(two.paths.team.with_name("elsewhere"))
    with pytest.raises(NotFound):
        list_machines(human(two))


# Giving one up


TITLES = ("held by t9", "held by w1", "held by w2", "for w1", "for w2", "for w5", "free")
KEPT = {"held by w1": "w1", "for w1": "w1"}
TAKEN = ("held by t9", "held by w2", "for w2", "for w5", "free")


def at_work(alpha: TeamStore, two: TeamStore) -> dict[str, str]:
    """Have tasks of each kind, by their titles: t9 is a worker for one of them, w5 never began."""
    made = {task.title: task.id for task in tasks.create(human(alpha), [Draft(title=title) for title in TITLES])}
    recorded(two, state_of("t9", State.WORKING))
    for name in ("w1", "w2", "t9"):
        tasks.claim(member(alpha if name == "w1" else two, name), made[f"held by {name}"])
    with alpha.wanted.change("a test") as change:
        late = Seat("w5", "W5", "shell", machine="two")
        worker = Seat("t9", "T9", "shell", machine="two", task=made["held by t9"], disposable=True)
        change.value = replace(change.value, seats=(*change.value.seats, late, worker))
    for name in ("w1", "w2", "w5"):
        alpha.mailbox(name).make()
        tasks.assign(human(alpha), made[f"for {name}"], name)
    return made


def holders(team: TeamStore) -> dict[str, str | None]:
    """Who has which task, by its title."""
    return {task.title: task.assignee for task in team.tasks.read().tasks}


def test_what_a_member_takes_while_its_machine_is_given_up_is_given_back(
    alpha: TeamStore, two: TeamStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lead is away, but it works, and its seat is there until it is not: else nobody could have the task."""
    tasks.create(human(alpha), [Draft(title="late")])
    settle = permissions.settle

    def meanwhile(*arguments: object) -> None:
        settle(*arguments)  # type: ignore[arg-type]
        monkeypatch.setattr(permissions, "settle", settle)
        tasks.claim(member(two, "w2"), "1")
        permissions.ask(member(two, "w2"), ASKED)

    monkeypatch.setattr(permissions, "settle", meanwhile)
    assert give_up(human(alpha), "two") == ("w2",)
    assert holders(alpha) == {"late": None}
    assert permissions.waiting(alpha) == ()


@pytest.mark.parametrize("by", ["the first machine", "a third machine", "itself"])
def test_a_machine_that_is_given_up_leaves_nothing_behind(alpha: TeamStore, two: TeamStore, by: str) -> None:
    """Issue 19, build 5: its members go, and their tasks are free; nobody else's is touched."""
    made = at_work(alpha, two)
    asker = {"the first machine": alpha, "itself": two}.get(by) or joined(alpha, "three")
    with led(alpha):
        assert give_up(human(asker), "two") == ("w2", "w5", "t9")
    assert holders(alpha) == KEPT | dict.fromkeys(TAKEN)
    freed = {task.id: task for task in alpha.tasks.read().tasks}
    for title in ("held by t9", "held by w2"):
        task = freed[made[title]]
        assert (task.status, task.claim) == (Status.PENDING, None)
        assert "was on two, which no longer takes part" in task.history[-1].text
    assert freed[made["held by w1"]].claim
    assert [seat.agent_id for seat in alpha.wanted.read().seats] == ["w1"]
    assert "two" not in others_of(alpha.documents)
    assert [state.agent_id for state in alpha.runtime.read().seats] == ["w1"]
    [event] = [one for one in events.listed(human(alpha)) if one.event == "host.leave"]
    assert (event.actor, event.detail) == ("human", {"machine": "two", "db_role": "pro0"})
    again = joined(alpha, "two", alpha.paths.home.with_name("another"))
    assert (again.machine, again.record.read().seats) == ("two", ())


def test_a_machine_whose_lead_is_at_work_is_not_given_up(
    alpha: TeamStore, two: TeamStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is changed, and nobody is kept from leading afterwards."""
    monkeypatch.setattr(lease_module, "_ENDING", 0.05)
    at_work(alpha, two)
    before = holders(alpha)
    with led(two), pytest.raises(Refused, match="two cannot be given up while its lead runs") as refused:
        give_up(human(alpha), "two")
    assert refused.value.code == ErrorCode.LEAD_ALIVE
    assert (holders(alpha), len(alpha.wanted.read().seats), others_of(alpha.documents)) == (before, 4, ["two"])
    with led(two):
        pass
    assert give_up(human(alpha), "two") == ("w2", "w5", "t9")


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("three", NotFound, "no machine called three takes part in"),
        ("Two", NotFound, "no machine called Two takes part in"),
        ("../x", NotFound, "no machine called"),
        ("", BadInput, "the machine that made the team cannot leave it"),
    ],
)
def test_only_a_machine_that_takes_part_is_given_up(
    alpha: TeamStore, two: TeamStore, name: str, error: type[Exception], said: str
) -> None:
    for asker in (alpha, two):
        with pytest.raises(error, match=said):
            give_up(human(asker), name)
    assert others_of(alpha.documents) == ["two"]
    give_up(human(alpha), "two")
    with pytest.raises(NotFound, match="no machine called two"):
        give_up(human(alpha), "two")


def test_what_its_lead_did_last_counts(alpha: TeamStore, two: TeamStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may begin a session and end before the machine is kept from leading."""
    at_work(alpha, two)
    real = DatabaseDocuments.led_by_nobody

    @contextmanager
    def late(documents: DatabaseDocuments, machine: str) -> Iterator[None]:
        set_state(two, "w2", State.CRASHED, "inc-w2")
        tasks.free(Context(two, Caller(Who.LEAD, "lead", "")), "w2", "inc-w2", "crashed")
        set_state(two, "w2", State.IDLE, "inc-new")
        tasks.claim(member(two, "w2", "inc-new"), free)
        with real(documents, machine):
            yield

    free = next(task.id for task in alpha.tasks.read().tasks if task.title == "free")
    monkeypatch.setattr(DatabaseDocuments, "led_by_nobody", late)
    give_up(human(alpha), "two")
    assert holders(alpha) == KEPT | dict.fromkeys(TAKEN)


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(lambda w2: tasks.claim(w2, tasks.list_tasks(w2)[-1].id), id="claim"),
        pytest.param(tasks.take, id="take"),
    ],
)
def test_a_claim_that_has_begun_before_comes_too_late(
    alpha: TeamStore, two: TeamStore, monkeypatch: pytest.MonkeyPatch, claim: Callable[[Context], object]
) -> None:
    """It was looked at while its machine took part, and is done after that machine's tasks were given back."""
    at_work(alpha, two)
    monkeypatch.setattr(tasks, "claiming", lambda _: give_up(human(alpha), "two"))
    with pytest.raises(NotFound, match="two no longer takes part in this team"):
        claim(member(two, "w2"))
    assert holders(alpha) == KEPT | dict.fromkeys(TAKEN)


def test_a_member_that_is_elsewhere_by_now_keeps_what_is_reserved_for_it(alpha: TeamStore, two: TeamStore) -> None:
    """Its name was taken again on another machine, after its session there had ended."""
    made = at_work(alpha, two)
    set_state(two, "w2", State.SHUTDOWN)
    with alpha.wanted.change("spawn it here") as change:
        seats = (
            replace(seat, machine="", generation=2) if seat.agent_id == "w2" else seat for seat in change.value.seats
        )
        change.value = replace(change.value, seats=tuple(seats))
    recorded(alpha, state_of("w2", generation=2, incarnation="inc-here"))
    assert give_up(human(alpha), "two") == ("w5", "t9")
    assert holders(alpha)["for w2"] == holders(alpha)["held by w2"] == "w2"
    assert tasks.show(human(alpha), made["held by w2"]).claim is None
    assert tasks.claim(member(alpha, "w2", "inc-here"), made["for w2"]).claim


def test_what_members_there_have_asked_for_is_over(alpha: TeamStore, two: TeamStore) -> None:
    """Nobody there takes an answer, and nobody else is asked any more."""
    here, there = permissions.ask(member(alpha, "w1"), ASKED), permissions.ask(member(two, "w2"), ASKED)
    assert {request.machine for request in permissions.waiting(alpha)} == {"", "two"}
    give_up(human(alpha), "two")
    assert [request.id for request in permissions.waiting(alpha)] == [here.id]
    assert permissions.show(human(alpha), there.id).outcome == "ended"


def give_up_killed_before(team: TeamStore, number: int) -> None:
    """Give the machine up; be killed when the act of that number is about to be done."""
    seen, real = 0, DatabaseServer._commit

    def commit(server: DatabaseServer, *arguments: object) -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)
        real(server, *arguments)  # type: ignore[arg-type]

    DatabaseServer._commit = commit  # type: ignore[method-assign,assignment]
    give_up(human(team), "two")


def test_wherever_it_is_interrupted_it_may_be_done_again(home: Path, database: str) -> None:
    """Its seats and its record go in one act; until then the machine takes part."""
    ends, number = set[int | None](), 0
    while DONE not in ends:
        number += 1
        alpha = founded(home, database)
        two = joined(alpha, "two", home.with_name(f"two-{number}"))
        seated(two, "w2")
        at_work(alpha, two)
        process = crowd.start(give_up_killed_before, alpha, number)
        process.join()
        ends.add(process.exitcode)
        takes_part = "two" in others_of(alpha.documents)
        assert takes_part == any(seat.machine == "two" for seat in alpha.wanted.read().seats)
        assert holders(alpha)["held by w1"] == "w1"
        if takes_part:
            assert give_up(human(alpha), "two") == ("w2", "w5", "t9")
        assert holders(alpha) == KEPT | dict.fromkeys(TAKEN)
        assert [seat.agent_id for seat in alpha.wanted.read().seats] == ["w1"]
        history = [entry.text for task in alpha.tasks.read().tasks for entry in task.history if "two" in entry.text]
        assert len(history) == 4, "each is given back once"
    assert ends == {KILLED, DONE}
    assert number > 6


# What is said of members elsewhere


def test_where_a_member_is_depends_on_who_asks(alpha: TeamStore, two: TeamStore) -> None:
    with alpha.record.change("sign in") as change:
        change.value = replace(change.value, lead_machine="tower")
    seats = {seat.agent_id: seat for seat in alpha.wanted.read().seats}
    hosted = replace(seats["w2"], host="build1")
    assert [where(alpha, seat) for seat in (seats["w1"], seats["w2"], hosted)] == ["", "two", "build1"]
    assert [where(two, seat) for seat in (seats["w1"], seats["w2"], hosted)] == ["tower", "", "build1"]
    shown = {
        team.machine: {one.agent_id: one.host for one in status.status(human(team)).members} for team in (alpha, two)
    }
    assert shown == {"": {"w1": "", "w2": "two"}, "two": {"w1": "tower", "w2": ""}}
    for team, name, said in ((alpha, "w2", "two"), (two, "w1", "tower")):
        error = nothing_to_show(team, seats[name])
        assert (error.message, error.exit_code) == (f"{name} runs on {said}, and is shown there", 3)
    for team, name in ((alpha, "w1"), (two, "w2")):
        error = nothing_to_show(team, seats[name])
        assert (error.message, error.hint) == (f"{name} has nothing to show", f"pro0 member show {name}")


def lead_from_outside(team: TeamStore, process: Process) -> None:
    with team.wanted.change("lead") as change:
        outside = OutsideAgent(incarnation="outside-1", process=process, since=NOW)
        change.value = replace(change.value, outside=outside)


def test_the_persons_own_agent_is_looked_for_on_its_own_machine(alpha: TeamStore, two: TeamStore) -> None:
    """On another one nobody knows whether it lives, and its mail is not called the person's there."""
    assert not is_led(alpha.wanted.read(), "")
    for process, lives in ((me(), True), (GONE, False)):
        lead_from_outside(alpha, process)
        wanted, runtime = alpha.wanted.read(), alpha.runtime.read()
        assert (is_led(wanted, ""), is_led(wanted, "two")) == (lives, True)
        assert needs.left_alone(wanted, runtime, "") is not lives
        assert needs.left_alone(wanted, runtime, "two") is False
        assert messages.addresses(two, human(two).caller) == ["human"]
        assert messages.addresses(alpha, human(alpha).caller) == (["human"] if lives else ["human", "lead"])
        assert status.status(human(two)).outside is None
        outside = status.status(human(alpha)).outside
        assert outside
        assert outside.state == ("running" if lives else "gone")
    with alpha.record.change("stop") as change:
        change.value = replace(change.value, phase=Phase.STOPPED)
    assert needs.left_alone(alpha.wanted.read(), alpha.record.read(), "") is False
    no_outside = replace(alpha.wanted.read(), outside=None)
    assert needs.left_alone(no_outside, alpha.record.read(), "") is False
    for machine in ("", "two"):
        assert not is_led(no_outside, machine)
        assert is_led(replace(no_outside, seats=(Seat("lead", "Lead", "claude", machine="two"),)), machine)


def test_who_waits_for_an_answer_is_looked_for_on_its_own_machine(alpha: TeamStore, two: TeamStore) -> None:
    """A process of another machine is none here, and its request is answered from anywhere all the same."""
    asked = AskedPermission(key="k", tool="Bash", input="{}", asker=GONE)
    there = permissions.ask(member(two, "w2"), asked)
    here = permissions.ask(member(alpha, "w1"), replace(asked, key="l"))
    assert (there.machine, here.machine) == ("two", "")
    unheard = {
        (request.agent_id, machine): permissions.is_unheard(request, machine)
        for request in (there, here)
        for machine in ("", "two")
    }
    assert [pair for pair, is_so in unheard.items() if is_so] == [("w2", "two"), ("w1", "")]
    assert not permissions.is_unheard(replace(there, asker=None), "two")
    assert not permissions.is_unheard(replace(there, asker=me()), "two")
    assert [request.agent_id for request in permissions.waiting(alpha)] == ["w2"]
    assert [request.agent_id for request in permissions.waiting(two)] == ["w1"]
    with pytest.raises(Refused, match="nobody waits for the answer"):
        permissions.answer(human(two), there.id, Choice.ALLOW)
    assert permissions.answer(human(alpha), there.id, Choice.ALLOW).answer


def test_who_is_spawned_or_hired_is_of_the_asking_machine(alpha: TeamStore, two: TeamStore) -> None:
    members.spawn(human(two), [members.SeatDraft(name="w3")], 9)
    members.spawn(human(alpha), [members.SeatDraft(name="w4")], 9)
    assert {seat.agent_id: seat.machine for seat in alpha.wanted.read().seats} == {
        "w1": "",
        "w2": "two",
        "w3": "two",
        "w4": "",
    }


# Resuming


def stopped(team: TeamStore, *states: SeatState) -> None:
    """Have a machine's lead record that all has stopped."""
    with team.record.change("a test") as change:
        seats = tuple(replace(state, state=State.SHUTDOWN) for state in (*change.value.seats, *states))
        change.value = replace(change.value, phase=Phase.STOPPED, seats=seats)


def stop(team: TeamStore) -> None:
    with team.wanted.change("stop") as change:
        wish = ShutdownWish(id="stop-1", by="human", at=NOW)
        change.value = replace(change.value, wish=Wish.STOP, stop=wish, remove=True)


def generations(team: TeamStore) -> dict[str, int]:
    return {seat.agent_id: seat.generation for seat in team.wanted.read().seats}


def test_each_machine_resumes_its_own_members(alpha: TeamStore, two: TeamStore) -> None:
    """Issue 19, build 5: the team runs again with the first; twice is once."""
    stop(alpha)
    for team in (alpha, two):
        stopped(team)
    for _ in range(2):
        resumed = teams.resume(human(two))
        assert (resumed.wish, resumed.stop, resumed.remove) == (Wish.RUN, None, False)
        assert generations(alpha) == {"w1": 1, "w2": 2}
    for _ in range(2):
        teams.resume(human(alpha))
        assert generations(alpha) == {"w1": 2, "w2": 2}


def test_a_machine_that_has_not_stopped_resumes_nobody(alpha: TeamStore, two: TeamStore) -> None:
    """Its lead only goes on: who has ended there was ended one by one, or has been by the stop that is taken back."""
    stop(alpha)
    stopped(alpha)
    set_state(two, "w2", State.SHUTDOWN)
    teams.resume(human(two))
    assert generations(alpha) == {"w1": 1, "w2": 1}
    teams.resume(human(alpha))
    assert generations(alpha) == {"w1": 2, "w2": 1}


def test_who_fell_with_its_lead_is_resumed_by_its_own_machine(alpha: TeamStore, two: TeamStore) -> None:
    """Its process is one of that machine, which alone can see that it is gone."""
    for team, name in ((alpha, "w1"), (two, "w2")):
        recorded(replace_states(team), state_of(name, State.WORKING, guard=GONE))
    teams.resume(human(two))
    assert generations(alpha) == {"w1": 1, "w2": 2}
    with led(alpha):
        teams.resume(human(alpha))
        assert generations(alpha) == {"w1": 1, "w2": 2}, "its lead sees to that"
    teams.resume(human(alpha))
    assert generations(alpha) == {"w1": 2, "w2": 2}


def replace_states(team: TeamStore) -> TeamStore:
    """Forget what a machine has recorded."""
    with team.record.change("a test") as change:
        change.value = replace(change.value, seats=())
    return team


def test_a_team_in_files_is_resumed_whole_and_once(home: Path) -> None:
    team = make_team(home, "w1", "w2", "w3")
    with team.wanted.change("ask one to end before") as change:
        asked = ShutdownWish(id="ask-1", by="human", at=NOW - timedelta(hours=1))
        seats = (replace(seat, shutdown=asked) if seat.agent_id == "w3" else seat for seat in change.value.seats)
        change.value = replace(change.value, seats=tuple(seats))
    stop(team)
    stopped(team)
    for _ in range(2):
        assert teams.resume(human(team)).wish is Wish.RUN
        assert generations(team) == {"w1": 2, "w2": 2, "w3": 1}


def test_a_record_tells_of_its_machine_alone_what_is_recorded_dead(alpha: TeamStore, two: TeamStore) -> None:
    """A session of another machine has no guard that this one could miss."""
    set_state(two, "w2", State.WORKING)
    with two.record.change("a test") as change:
        change.value = replace(
            change.value, seats=tuple(replace(s, guard=GUARD) for s in change.value.seats), lead=GONE
        )
    assert record_in(alpha.documents.team, "two").read().seats[0].guard == GUARD
    assert not needs.unled(alpha.runtime.read())
    assert needs.unled(two.runtime.read())
    assert machines.machine_name(alpha, "two") == "two"
