"""How a machine begins and ends to take part in a team that another one has made (issue 19, build 5)."""

import errno
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

import psycopg
import pytest
from msgspec.structs import replace

from pro0 import processes
from pro0.config import USER_FILE, Settings
from pro0.engine import force, hosts, loop, machines
from pro0.engine.cleanup import cleanup
from pro0.engine.room import Room
from pro0.errors import (
    BadInput,
    EnvironmentMissing,
    ErrorCode,
    NotFound,
    Pro0Error,
    Refused,
    StoreError,
    Unwritable,
)
from pro0.model.caller import THE_HUMAN
from pro0.model.runtime import Hosted, Process, State
from pro0.model.task import Draft, Status
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.team import machines as giving_up
from pro0.ops.team import members
from pro0.ops.work import sessions
from pro0.store.database.server import server_of
from pro0.store.database.sharing import others_of
from pro0.store.files import File
from pro0.store.lease import Lease
from pro0.store.teams import Store, TeamStore
from tests.engine.crew import Crew
from tests.faults import fail_about, fault_at
from tests.postgres import Postgres
from tests.sharing import founded, joined, led, pointer_of, seated
from tests.store.test_database import plain_role
from tests.teams import files, human, make_team
from tests.waiting import STUCK, wait_until

HEADLESS = Settings(teammate_mode="headless")


def quietly(_text: str) -> None:
    pass


class JoinedCrew(Crew):
    """A machine that has joined a team, with a lead and members of its own."""

    def __init__(self, team: TeamStore) -> None:
        self.store = Store(team.paths.home)
        self.team = team
        self.context = Context(team, THE_HUMAN)
        self.config = team.config.read()
        self.project = Path(self.config.project)
        self.machine = None
        self.shown: list[str] = []
        self.leads: list[subprocess.Popen[bytes]] = []
        self.seen: set[Process] = set()

    def remember(self) -> None:
        """Note the guards as long as the machine takes part."""
        with suppress(NotFound):
            super().remember()

    def leave(self, *, force: bool = False) -> list[str]:
        """Take the machine out of the team."""
        return machines.leave(self.store, self.team, self.context, self.shown.append, force=force)


@pytest.fixture
def alpha(home: Path, database: str) -> TeamStore:
    """A team on the machine that made it, with the member w1."""
    return founded(home, database)


@pytest.fixture
def two(alpha: TeamStore, tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JoinedCrew]:
    """A machine that has joined, with a lead and the member w2 at work on a task."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    store = Store(tmp_path / "two")
    team = machines.join(store, pointer_of(alpha).url, alpha.name, "two", project, HEADLESS, terminal=False)
    crew = JoinedCrew(team)
    try:
        crew.lead()
        yield crew
    finally:
        crew.clean()


def at_work(crew: JoinedCrew, agent_id: str = "w2") -> list[Process]:
    """Start a member, and have it work on a task; return its guard and its agent."""
    crew.spawn(agent_id)
    [task] = crew.give(Draft(title="long", run="sleep 600", assignee=agent_id))
    crew.reaches(agent_id, State.WORKING)
    assert crew.task(task).status is Status.IN_PROGRESS
    state = crew.state(agent_id)
    assert state.guard
    assert state.agent
    return [state.guard, state.agent]


# Joining


def test_a_machine_that_joins_knows_its_own_terminals(
    alpha: TeamStore, tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMUX", "/tmp/socket,1,2")
    monkeypatch.setenv("KEPT", "yes")
    for settings, inside in ((HEADLESS, ""), (Settings(teammate_mode="tmux"), "/tmp/socket,1,2")):
        settings, mode = replace(settings, pass_environment=("KEPT",)), settings.teammate_mode
        store = Store(tmp_path / mode)
        team = machines.join(store, pointer_of(alpha).url, alpha.name, mode, project, settings, terminal=True)
        config = team.config.read()
        assert (team.machine, config.project, config.mode, config.mode_reason) == (
            mode,
            str(project),
            mode,
            "asked for",
        )
        assert (config.inside_tmux, config.sockets, config.iterm2_session) == (inside, os.environ["TMUX_TMPDIR"], "")
        assert team.environment.read().variables["KEPT"] == "yes"
    assert others_of(alpha.documents) == ["headless", "tmux"]
    assert alpha.config.read().project == str(alpha.paths.home)


def test_the_only_team_of_a_database_needs_no_name(home: Path, server: Postgres, tmp_path: Path, project: Path) -> None:
    url, store = server.url(), Store(tmp_path / "two")

    def join(machine: str, name: str = "") -> TeamStore:
        return machines.join(store, url, name, machine, project, HEADLESS, terminal=False)

    with pytest.raises(StoreError, match="the database has no team"):
        join("two")
    make_team(home, name="alpha", url=url)
    assert join("two").name == "alpha"
    make_team(home, name="beta", url=url)
    with pytest.raises(BadInput, match="which team") as refused:
        join("three")
    assert refused.value.hint == "pro0 host join URL TEAM; teams there: alpha, beta"
    assert join("three", "beta").name == "beta"
    for name in ("alpha", "beta"):
        store.discard(name, f"uid-{name}")
        Store(home).discard(name, f"uid-{name}")
    with pytest.raises(BadInput, match="which team") as none:
        join("four")
    assert none.value.hint == "pro0 host join URL TEAM; teams there: none"


@pytest.mark.parametrize("url", ["postgresql://me:secret@host/db", "https://host/db", "files"])
def test_only_a_database_is_joined(home: Path, project: Path, url: str) -> None:
    with pytest.raises(BadInput):
        machines.join(Store(home), url, "alpha", "two", project, HEADLESS, terminal=False)
    assert Store(home).names() == []


# Clocks

RIGHT = (0.0, 4.0, -4.0)
WRONG = {6.0: "6 s behind", -6.0: "6 s ahead of", 86400.0: "86400 s behind"}


def set_clock(monkeypatch: pytest.MonkeyPatch, behind: float) -> None:
    """Let this machine's clock be so many seconds behind."""
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - behind)


@pytest.mark.parametrize("behind", [*RIGHT, *WRONG])
def test_a_machine_whose_clock_is_wrong_neither_joins_nor_leads(
    alpha: TeamStore, tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch, behind: float
) -> None:
    """Its time-outs would count by it; a team that nobody shares needs no other clock."""
    there = joined(alpha, "three")
    alone = founded(alpha.paths.home, pointer_of(alpha).url)
    in_files = make_team(alpha.paths.home, name="in-files")
    set_clock(monkeypatch, behind)
    for team in (alone, in_files):
        machines.require_clock(team)
    store = Store(tmp_path / "two")

    def join() -> TeamStore:
        return machines.join(store, pointer_of(alpha).url, alpha.name, "two", project, HEADLESS, terminal=False)

    if behind in RIGHT:
        for team in (alpha, there, join()):
            machines.require_clock(team)
        return
    for act in (lambda: machines.require_clock(alpha), lambda: machines.require_clock(there), join):
        with pytest.raises(
            EnvironmentMissing, match=f"this machine's clock is {WRONG[behind]} the database's"
        ) as wrong:
            act()
        assert (wrong.value.code, wrong.value.exit_code) == (ErrorCode.CLOCK, 6)
        assert "NTP" in (wrong.value.hint or "")
    assert store.names() == []
    assert others_of(alpha.documents) == ["three"]
    with pytest.raises(EnvironmentMissing):
        loop.run(alpha)
    assert alpha.documents.lease().holder() is None


# Leaving


def test_the_machine_that_made_the_team_does_not_leave_it(alpha: TeamStore) -> None:
    with pytest.raises(BadInput, match=f"{alpha.name} was made on this machine") as refused:
        machines.leave(Store(alpha.paths.home), alpha, human(alpha), quietly, force=True)
    assert refused.value.hint == f"pro0 team cleanup {alpha.name} removes it"


def test_a_machine_with_a_living_member_leaves_only_by_force(alpha: TeamStore, two: JoinedCrew) -> None:
    """By force it ends them, their tasks are given back, and nothing of the team is left here."""
    alive = at_work(two)
    with pytest.raises(Refused, match="w2 still runs here") as refused:
        two.leave()
    assert refused.value.code == ErrorCode.LIVE_SESSIONS
    assert (
        refused.value.hint == f"pro0 member shutdown w2, or end all of them here: pro0 host leave {alpha.name} --force"
    )
    assert [process for process in alive if processes.alive(process)] == alive
    assert [one.present for one in giving_up.list_machines(human(alpha))] == [False, True]
    assert two.leave(force=True) == []
    assert [process for process in alive if processes.alive(process)] == []
    assert [lead.wait(STUCK) for lead in two.leads] == [0]
    assert two.store.names() == []
    assert files(two.store.home / "teams") == set()
    [task] = alpha.tasks.read().tasks
    assert (task.status, task.claim, task.assignee) == (Status.PENDING, None, None)
    assert [seat.agent_id for seat in alpha.wanted.read().seats] == ["w1"]
    assert others_of(alpha.documents) == []


def test_a_damaged_report_keeps_nobody_running_on_a_machine_that_leaves(alpha: TeamStore, two: JoinedCrew) -> None:
    """Without force it is named, since nobody can tell whether its session lives; by force all of them end."""
    alive = [*at_work(two), *at_work(two, "w3")]
    lead = two.leads[0]
    lead.kill()
    lead.wait()
    report = two.team.paths.sessions / two.team.paths.report(two.state("w2").incarnation)
    report.write_bytes(b"{")
    with pytest.raises(StoreError, match=report.name):
        two.leave()
    assert [process for process in alive if processes.alive(process)] == alive
    assert two.leave(force=True) == []
    assert [process for process in alive if processes.alive(process)] == []
    assert two.store.names() == []


def test_a_machine_whose_members_have_ended_leaves_in_peace(alpha: TeamStore, two: JoinedCrew) -> None:
    """Its lead ends for it; then its name is free for another time."""
    two.spawn("w2")
    two.shut_down("w2")
    two.leave()
    assert others_of(alpha.documents) == []
    assert two.store.names() == []
    assert two.left() == []
    again = machines.join(two.store, pointer_of(alpha).url, alpha.name, "two", two.project, HEADLESS, terminal=False)
    assert again.record.read().seats == ()


def test_a_lease_that_is_nobodys_to_end_is_named(alpha: TeamStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever holds it, and is no lead of the team: nothing is ended and nothing removed."""
    monkeypatch.setattr(machines, "PATIENCE", 0.2)
    there = joined(alpha, "two")
    lease = Lease(there.paths.team)
    assert lease.take("a test")
    with pytest.raises(StoreError, match=rf"is held by pid {os.getpid()} \(a test") as held:
        machines.leave(Store(there.paths.home), there, human(there), quietly, force=True)
    assert held.value.code == ErrorCode.LOCK_TIMEOUT
    lease.drop()
    assert others_of(alpha.documents) == ["two"]
    assert machines.leave(Store(there.paths.home), there, human(there), quietly, force=False) == []


def test_no_lead_begins_on_a_machine_that_leaves(alpha: TeamStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a command that somebody gives meanwhile: it would start members, and keep the machine from leaving."""
    there, begun = joined(alpha, "two"), list[bool]()
    put_away = machines._put_code_away

    def meanwhile(*arguments: object, **options: object) -> list[str]:
        begun.append(there.documents.lease().take("a test"))
        return put_away(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(machines, "_put_code_away", meanwhile)
    assert machines.leave(Store(there.paths.home), there, human(there), quietly, force=False) == []
    assert begun == [False]
    assert others_of(alpha.documents) == []


def test_whoever_leaves_again_after_an_interruption_has_left(alpha: TeamStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between giving itself up and removing its folder."""
    there = joined(alpha, "two")
    store = Store(there.paths.home)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Store, "discard", interrupted)
        with pytest.raises(KeyboardInterrupt):
            machines.leave(store, there, human(there), quietly, force=False)
    assert machines.is_gone(there)
    assert store.names() == [alpha.name]
    assert machines.leave(store, store.team(alpha.name), human(there), quietly, force=False) == []
    assert store.names() == []
    assert not machines.is_gone(alpha)


# Given up, or without a team


@pytest.mark.parametrize("how", ["given up", "given up, and its name another's", "removed"])
def test_what_runs_for_a_team_that_is_gone_ends(alpha: TeamStore, two: JoinedCrew, how: str) -> None:
    """A lead that begins there ends all of it, and nothing else; what its members hold they hold no more."""
    alive = at_work(two)
    lead = two.leads[0]
    lead.kill()
    lead.wait()
    wait_until(lambda: not giving_up.list_machines(human(alpha))[1].present, STUCK, "its lead is missed")
    if how != "removed":
        assert giving_up.give_up(human(alpha), "two") == ("w2",)
        assert tasks.show(human(alpha), "1").claim is None
    else:
        Store(alpha.paths.home).discard(alpha.name, f"uid-{alpha.name}")
    if "another" in how:
        store = Store(two.store.home.with_name("another"))
        machines.join(store, pointer_of(alpha).url, alpha.name, "two", two.project, HEADLESS, terminal=False)
    there = two.store.team(alpha.name)
    assert machines.is_gone(there)
    assert [process for process in alive if processes.alive(process)] == alive
    assert loop.run(there) == 0
    assert [process for process in alive if processes.alive(process)] == []
    assert two.store.names() == [alpha.name], "the person takes it out"
    assert machines.leave(two.store, there, human(there), quietly, force=False) == []
    assert two.store.names() == []
    assert others_of(alpha.documents) == ["two"] * ("another" in how)


def test_a_machine_that_was_given_up_gives_up_what_it_has_elsewhere(alpha: TeamStore) -> None:
    """A machine over ssh that never says that a session is over there keeps nobody from leaving for good."""
    there = joined(alpha, "two")
    store, file = Store(there.paths.home), there.paths.hosted("inc-1")
    hosted = Hosted(
        agent_id="w2", incarnation="inc-1", there="t-1", host="h", ssh="false", team="a", project="/", argv=("x",)
    )
    File(there.paths.sessions, file, Hosted).create(hosted)
    giving_up.give_up(human(alpha), "two")
    with pytest.raises(Refused, match="w2 may still run on h") as refused:
        machines.leave(store, there, human(there), quietly, force=True)
    assert (refused.value.hint or "").endswith("pro0 member forget w2")
    with pytest.raises(NotFound, match="runs anything for w3"):
        sessions.forget(human(there), "w3")
    assert [given_up.host for given_up in sessions.forget(human(there), "W2")] == ["h"]
    assert machines.leave(store, there, human(there), quietly, force=True) == []


def test_a_lead_that_hears_of_it_ends_its_members_and_itself(alpha: TeamStore, two: JoinedCrew) -> None:
    """A team that is removed by force, while another machine is at work on it."""
    alive = at_work(two)
    Store(alpha.paths.home).discard(alpha.name, f"uid-{alpha.name}")
    wait_until(lambda: two.leads[0].poll() is not None, STUCK, "the lead ends")
    assert [process for process in alive if processes.alive(process)] == []
    assert "team gone" in two.log()


_CUT = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = %s"


def test_a_lead_that_finds_another_one_in_its_place_ends_its_members(alpha: TeamStore, two: JoinedCrew) -> None:
    """Its machine slept, was given up, and another one with its name is at work by now."""
    alive, lead = at_work(two), two.leads[0]
    lead.send_signal(signal.SIGSTOP)
    server_of(pointer_of(alpha).url).ask("the lead", _CUT, (f"pro0 pid {lead.pid}",))
    wait_until(lambda: not giving_up.list_machines(human(alpha))[1].present, STUCK, "its lead is missed")
    giving_up.give_up(human(alpha), "two")
    store = Store(two.store.home.with_name("another"))
    another = machines.join(store, pointer_of(alpha).url, alpha.name, "two", two.project, HEADLESS, terminal=False)
    with led(another):
        lead.send_signal(signal.SIGCONT)
        assert lead.wait(STUCK) == 0
    assert [process for process in alive if processes.alive(process)] == []


def test_a_lead_to_which_a_server_does_not_answer_goes_on(alpha: TeamStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something of the team was not to be found, and whether the team is gone cannot be asked at that moment."""

    def fails(*_: object) -> None:
        raise Unwritable("the store's server cannot be reached")

    def misses(*_: object) -> None:
        raise NotFound("the mailbox is gone")

    lead = loop.Lead(alpha, HEADLESS, alpha.documents.lease())
    monkeypatch.setattr(machines, "is_gone", fails)
    monkeypatch.setattr(lead, "_keep_the_lease", misses)
    assert lead._round() == (None, False)
    assert "cannot be reached" in (alpha.paths.logs / "lead.jsonl").read_text()


def test_what_cannot_be_ended_is_named(alpha: TeamStore, two: JoinedCrew, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder stays, and says what there is."""
    guard, agent = at_work(two)
    monkeypatch.setattr(processes, "end", lambda _remaining, _grace: [agent])
    with pytest.raises(Refused, match=f"cannot end {agent.pid}") as refused:
        machines.end_all(two.team)
    assert refused.value.code == ErrorCode.LIVE_SESSIONS
    assert two.store.names() == [alpha.name]
    assert not processes.alive(guard)


LISTING = ("listdir", "scandir")


@pytest.mark.parametrize("what", ["folder", "report", "settings", "another machine's"])
def test_what_cannot_be_read_keeps_nobody_else_alive(
    alpha: TeamStore, two: JoinedCrew, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that can be ended is, and then the error is told."""
    alive = [*at_work(two, "w2"), *at_work(two, "w3")]
    two.leads[0].kill()
    two.leads[0].wait()
    reports = sorted(path.name for path in two.team.paths.sessions.glob("*.json"))
    fault: AbstractContextManager[object] = nullcontext()
    if what == "folder":
        fault = fault_at(None, fail_about(str(two.team.paths.sessions), errno.EIO), LISTING)
    elif what == "report":
        fault = fault_at(None, fail_about(reports[0], errno.EIO), ("open",))
    elif what == "settings":
        monkeypatch.delenv("PRO0_END_GRACE_SECONDS")
        (two.store.home / USER_FILE).write_text("{")
    else:
        (two.team.paths.sessions / two.team.paths.hosted("inc-1")).write_text("{")
    with fault, pytest.raises(Pro0Error, match=r"EIO|corrupt|not YAML"):
        machines.end_all(two.team)
    wait_until(lambda: not any(map(processes.alive, alive)), STUCK, "all are ended")


def test_a_machine_that_does_not_answer_keeps_no_session_of_another_alive(alpha: TeamStore, tmp_path: Path) -> None:
    there, ssh = joined(alpha, "two"), tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\necho asked >>{tmp_path / 'asked'}\necho '{{}}'\n")
    ssh.chmod(0o755)
    (there.paths.sessions / there.paths.hosted("inc-1")).write_text("{")
    for incarnation, program in (("inc-2", "false"), ("inc-3", str(ssh))):
        hosted = Hosted(
            agent_id="w2",
            incarnation=incarnation,
            there="t-1",
            host="h",
            ssh=program,
            team="a",
            project="/",
            argv=("x",),
        )
        File(there.paths.sessions, there.paths.hosted(incarnation), Hosted).create(hosted)
    with pytest.raises(StoreError, match="inc-1"):
        hosts.end_all(there)
    assert (tmp_path / "asked").read_text() == "asked\n"
    assert there.elsewhere() == ["inc-1", "inc-2"]
    (there.paths.sessions / there.paths.hosted("inc-1")).unlink()
    with pytest.raises(Refused, match="w2 may still run on h"):
        hosts.end_all(there)


@pytest.mark.parametrize("how", ["dropped", "made anew", "of another team"])
def test_a_team_whose_database_is_gone_is_taken_away_by_force_alone(
    home: Path, server: Postgres, tmp_path: Path, how: str
) -> None:
    """On the machine that joined as on the one that made it; what may be left there is named."""
    url = server.url()
    alpha = make_team(home, url=url)
    two = joined(alpha, "two")
    server.lose(server.latest, made_anew=how != "dropped")
    if how == "of another team":
        make_team(tmp_path / "other", name="beta", url=url)
    else:
        with pytest.raises(StoreError) as raised:
            machines.leave(Store(two.paths.home), two, human(two), quietly, force=False)
        assert str(raised.value.hint).endswith("if it is gone for good: pro0 host leave alpha --force")
    shown = list[str]()
    assert machines.leave(Store(two.paths.home), two, human(two), shown.append, force=True) == []
    with pytest.raises((StoreError, NotFound)) as raised_here:
        cleanup(Store(home), "alpha", force=True, show=quietly)
    assert str(raised_here.value.hint).endswith("if it is gone for good: pro0 team cleanup alpha --force")
    assert alpha.exists()
    shown = []
    assert machines.cleanup_without_database(Store(home), "alpha", shown.append, keep=True) == "alpha is removed"
    assert shown[0].endswith(": nothing of alpha is kept")
    left = [(line.startswith(f"rows of alpha may be left in {url}: "), "does not exist" in line) for line in shown[1:]]
    assert left == ([(True, True)] if how == "dropped" else [])
    for store in (Store(home), Store(two.paths.home)):
        assert (store.names(), store.sweep()) == ([], [])
    make_team(home)


def test_a_machine_leaves_by_force_where_its_role_may_only_read(home: Path, server: Postgres) -> None:
    """Its record stays, and who is to take it away is named."""
    url = server.url()
    alpha = make_team(home, url=url)
    two = joined(alpha, "two")
    role = plain_role(server, url)
    pointer = two.paths.team / "store.json"
    pointer.write_text(pointer.read_text().replace("pro0@", f"{role}@"))
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(f"revoke insert, update, delete on all tables in schema pro0 from {role}".encode())
    two, shown = Store(two.paths.home).team("alpha"), list[str]()
    with pytest.raises(StoreError, match="permission denied"):
        machines.leave(Store(two.paths.home), two, human(two), quietly, force=False)
    assert machines.leave(Store(two.paths.home), two, human(two), shown.append, force=True) == []
    assert shown[-1].endswith("; remove it from another one: pro0 host leave alpha --machine two")
    assert Store(two.paths.home).names() == []
    assert others_of(alpha.documents) == ["two"]


def test_whether_a_team_is_gone_is_not_guessed(
    home: Path, server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that cannot be reached says nothing of it."""
    alpha = make_team(home, url=server.url())
    there = joined(alpha, "two")
    assert not machines.is_gone(there)
    assert not machines.is_gone(alpha)
    pointer = there.paths.team / "store.json"
    pointer.write_text(pointer.read_text().replace(str(server.at), str(tmp_path)))
    monkeypatch.setattr("pro0.store.database.server.CONNECTING", 0.0)
    with pytest.raises(StoreError, match="cannot be reached"):
        machines.is_gone(Store(there.paths.home).team("alpha"))
    there.paths.team.rename(tmp_path / "elsewhere")
    assert machines.is_gone(there)


# What is said when nothing can be recorded


def test_nobody_says_of_a_member_elsewhere_that_it_has_ended(alpha: TeamStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """It lives, and only its own machine's lead knows its guard: a server without room changes nothing about that."""
    two = joined(alpha, "two")
    seated(two, "w2")
    full = Unwritable("the server has no room")

    def refuses(*_: object, **__: object) -> None:
        raise full

    monkeypatch.setattr(alpha.runtime, "try_room", refuses)
    monkeypatch.setattr(members, "shutdown", refuses)
    with led(two):
        states = {state.agent_id: state for state in alpha.runtime.read().seats}
        room = Room(alpha)
        monkeypatch.setattr(room, "_look_at", 0.0)
        room.look([states["w2"]], "w2")
        with pytest.raises(Unwritable) as refused:
            force.end_member(human(alpha), "w2", full, quietly)
    assert refused.value is full
    for name, ended in {"w1": states["w1"], "w2": replace(states["w2"], state=State.CRASHED)}.items():
        monkeypatch.setattr(room, "_look_at", 0.0)
        with pytest.raises(Unwritable, match=f"{name} has ended, but that is not recorded"):
            room.look([ended], name)
