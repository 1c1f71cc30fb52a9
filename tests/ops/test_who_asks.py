"""Who another process is, as the lead's servers ask: below a real guard, with a mark alone, or called as a guard is."""

import fcntl
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pro0 import resources
from pro0.errors import Refused
from pro0.model.runtime import State
from pro0.ops import identity
from pro0.ops.context import new_id
from pro0.processes import mark, table
from pro0.processes.table import ProcessEntry
from pro0.store.lease import Lease
from pro0.store.paths import LEASE
from pro0.store.teams import TeamStore
from tests.ops.guarded import guard_of, refusal, session
from tests.teams import granted, make_team, set_state
from tests.waiting import STUCK, wait_until

AGENT = (sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)")
linux = pytest.mark.skipif(sys.platform != "linux", reason="the mark is Linux's")


@pytest.fixture
def team(home: Path) -> TeamStore:
    team = make_team(home, "w1", "w2")
    make_team(home, "x9", name="beta")
    for name in ("w1", "w2"):
        set_state(team, name, State.IDLE, incarnation=f"inc-{name}-{new_id()}")
    return team


@pytest.fixture
def started() -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Who is ended afterwards; a guard ends its agent."""
    found: list[subprocess.Popen[bytes]] = []
    yield found
    for process in found:
        process.terminate()
    for process in found:
        process.wait(STUCK)


Started = list["subprocess.Popen[bytes]"]


@pytest.fixture
def agent(team: TeamStore, started: Started) -> int:
    """The agent of w1, below its guard."""
    started.append(subprocess.Popen(guard_of(team, "w1", AGENT), stdin=subprocess.DEVNULL))
    guard = started[-1].pid
    [found] = wait_until(lambda: _children(guard), STUCK, "the agent runs")
    wait_until(lambda: b"time.sleep" in table.command_line(found), STUCK, "it is itself")
    return found


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _bystander(started: Started, *words: str, marked: str = "") -> int:
    """Start a program that has nothing to do with the team, but its mark and the last word of its command line."""
    started.append(subprocess.Popen([*AGENT, *words], stdin=subprocess.DEVNULL))
    pid = started[-1].pid
    wait_until(lambda: b"time.sleep" in table.command_line(pid), STUCK, "it has begun")
    if marked:
        resource.prlimit(pid, resource.RLIMIT_RTTIME, (mark.mark_of(marked), resource.RLIM_INFINITY))
    return pid


def _entry(pid: int) -> ProcessEntry:
    found = table.entry(pid)
    assert found
    return found


@linux
def test_who_is_below_a_guard_is_its_member(team: TeamStore, agent: int, home: Path) -> None:
    """With its mark and without, whatever the asker's own environment names; never in another home."""
    of_w1 = ("alpha", session(team, "w1"), "w1")
    assert identity.session_of({}, home, agent) == of_w1
    resource.prlimit(agent, resource.RLIMIT_RTTIME, (resource.RLIM_INFINITY,) * 2)
    assert identity.session_of({}, home, agent) == of_w1
    assert identity.session_of({"PRO0_GRANT": granted(team, "w1")["PRO0_GRANT"]}, home, agent) == of_w1
    assert identity.session_of({"PRO0_AGENT_ID": "w2", "PRO0_MEMBER_OF": "/elsewhere"}, home, agent) == of_w1
    assert identity.session_of({"PRO0_AGENT_ID": ""}, home, agent) == of_w1
    assert identity.session_of({}, home) is None, "whoever asks is somebody else"


@linux
@pytest.mark.parametrize(
    ("name", "value"),
    [("PRO0_TEAM", "beta"), ("PRO0_AGENT_ID", "w2"), ("PRO0_INCARNATION", "inc-w2"), ("PRO0_GRANT", "w2")],
)
def test_what_names_another_is_refused_by_name(team: TeamStore, agent: int, home: Path, name: str, value: str) -> None:
    environment = granted(team, value) | {"PRO0_AGENT_ID": "w2"} if name == "PRO0_GRANT" else {name: value}
    claims = {"PRO0_GRANT": environment["PRO0_GRANT"]} if name == "PRO0_GRANT" else environment
    with pytest.raises(Refused) as raised:
        identity.session_of(claims, home, agent)
    assert raised.value.message == f"the guard shows that this is w1 of alpha, but {name} names another"
    assert raised.value.code == "identity_mismatch"
    assert raised.value.hint == f"a process of a session acts as that session: unset {name}"


@linux
def test_a_mark_tells_what_no_guard_does(team: TeamStore, started: Started, home: Path) -> None:
    """Its guard was killed: the lead's record has its name, or nobody has."""
    incarnation = session(team, "w2")
    (team.paths.sessions / team.paths.launch(incarnation)).write_text("{}")
    (team.paths.sessions / team.paths.launch("inc-strange")).write_text("{}")
    assert identity.session_of({}, home, _bystander(started, marked=incarnation)) == ("alpha", incarnation, "w2")
    unknown = _bystander(started, marked="inc-strange")
    assert identity.session_of({}, home, unknown) == ("alpha", "inc-strange", identity.UNKNOWN)
    assert identity.session_of({"PRO0_AGENT_ID": "w2"}, home, unknown) == ("alpha", "inc-strange", identity.UNKNOWN)
    assert identity.session_of({}, home, _bystander(started, marked="inc-nobody's")) is None
    assert identity.session_of({}, home, _bystander(started)) is None


@linux
def test_a_look_alike_hides_no_guard_and_is_nobody(
    team: TeamStore, agent: int, started: Started, home: Path, tmp_path: Path
) -> None:
    """A program may be called as any guard is. Below one that nobody confirms there is no person, and no member."""
    launch = str(team.paths.sessions / team.paths.launch(session(team, "w2")))
    code = "import subprocess, sys; subprocess.run(sys.argv[1:-1])"
    argv = [sys.executable, "-I", "-S", "-c", code, *AGENT, launch]
    started.append(subprocess.Popen(argv, stdin=subprocess.DEVNULL))
    [below] = wait_until(lambda: _children(started[-1].pid), STUCK, "it runs")
    assert identity.session_of({}, home, below) == ("alpha", session(team, "w2"), identity.UNKNOWN)
    other = tmp_path / "other"
    make_team(other, "w1")
    assert identity.session_of({}, other, below) is None
    subprocess.run(["kill", str(below)], check=True)
    started.append(subprocess.Popen(guard_of(team, "w2", argv), stdin=subprocess.DEVNULL))
    [inner] = wait_until(lambda: _children(started[-1].pid), STUCK, "the look-alike runs below a guard")
    [below] = wait_until(lambda: _children(inner), STUCK, "so does its child")
    assert identity.session_of({}, home, below) == ("alpha", session(team, "w2"), "w2")
    assert str(resources.GUARD) in table.command_line(started[-1].pid).decode()


@linux
def test_a_server_asks_for_the_process_whose_work_it_does(
    team: TeamStore, agent: int, started: Started, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "_asking", [])
    stranger = _bystander(started)
    identity.ask_for(_entry(agent))
    assert identity.session_of({}, home) == ("alpha", session(team, "w1"), "w1")
    assert identity.session_of({}, home, stranger) is None, "who is named is meant"
    gone = _entry(stranger)
    started[-1].kill()
    started[-1].wait(STUCK)
    identity.ask_for(gone)
    with pytest.raises(Refused) as raised:
        identity.session_of({}, home)
    assert (raised.value.message, raised.value.code) == ("the process that asked is gone", "identity_unproven")


def test_what_is_claimed_is_named_in_the_refusal(team: TeamStore, home: Path) -> None:
    for claim, named in (
        ({"PRO0_AGENT_ID": "w1", "PRO0_INCARNATION": "i"}, "the member 'w1' that PRO0_AGENT_ID names"),
        ({"PRO0_INCARNATION": "i"}, "the session that PRO0_INCARNATION names"),
    ):
        with pytest.raises(Refused) as raised:
            identity.session_of(claim, home)
        assert raised.value.message == f"nothing proves that this is {named}"
    mine = granted(team, "w1")
    assert identity.session_of(mine | {"PRO0_AGENT_ID": ""}, home) == ("alpha", session(team, "w1"), "w1")
    with pytest.raises(Refused) as raised:
        identity.session_of(mine | {"PRO0_AGENT_ID": "w2"}, home)
    assert raised.value.message == "the grant in PRO0_GRANT is for w1, but PRO0_AGENT_ID names another"
    assert (raised.value.code, raised.value.hint) == ("identity_mismatch", identity.HINT)
    set_state(team, "w1", State.CRASHED)
    with pytest.raises(Refused, match="has expired") as raised:
        identity.session_of(mine, home)
    assert raised.value.code == "invalid_grant"
    for token, team_name, where in (("x", "alpha", "alpha"), ("x", "", "this home")):
        with pytest.raises(Refused) as raised:
            identity.session_of({"PRO0_GRANT": token, "PRO0_TEAM": team_name}, home)
        assert raised.value.message == f"{where} has no such grant, or it was revoked"
        assert (raised.value.code, raised.value.hint) == ("invalid_grant", identity.HINT)


@linux
def test_a_reader_of_a_dead_leads_lease_is_no_lead_that_is_not_seen(
    team: TeamStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader holds the lock for a moment: a person was refused just after the lead had died, in a container."""
    monkeypatch.setattr(identity, "_FIRST_NAMESPACE", 0)
    lease, path = Lease(team.paths.team), team.paths.team / LEASE
    assert lease.take("lead")
    held = lease.read()
    assert held
    lease.drop()
    path.write_text(path.read_text().replace(f'"start":"{held.start}"', '"start":"1"'))
    with path.open() as reader:
        fcntl.flock(reader, fcntl.LOCK_EX)
        monkeypatch.setattr("pro0.ops.identity.time.sleep", lambda _: fcntl.flock(reader, fcntl.LOCK_UN))
        assert not identity.hidden(home)


@linux
def test_who_cannot_see_the_lead_at_work_is_hidden(
    team: TeamStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the outermost name space all is seen; elsewhere a lease that is held by nobody who is there tells."""
    monkeypatch.setattr(identity, "_FIRST_NAMESPACE", 0)
    assert not identity.hidden(home), "nobody leads"
    lease = Lease(team.paths.team)
    assert lease.take("lead")
    try:
        assert not identity.hidden(home), "the lead is seen"
        path = team.paths.team / LEASE
        text = path.read_text()
        held = lease.read()
        assert held
        path.write_text(text.replace(f'"start":"{held.start}"', '"start":"1"'))
        assert lease.read() != held
        assert identity.hidden(home), "the lead is not seen"
        monkeypatch.setattr(identity, "_FIRST_NAMESPACE", Path("/proc/self/ns/pid").stat().st_ino)
        assert not identity.hidden(home), "here all is seen"
    finally:
        lease.drop()
    monkeypatch.setattr(identity, "_FIRST_NAMESPACE", 0)
    assert not identity.hidden(home), "its lead has ended"
    stat = os.stat

    def unreadable(path: str, **how: object) -> object:
        if path == "/proc/self/ns/pid":
            raise PermissionError(path)
        return stat(path, **how)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", unreadable)
        assert identity.hidden(home), "nobody says in which name space this is"


@linux
def test_a_process_in_a_name_space_of_its_own_is_found_in_the_table_of_the_outer_one() -> None:
    """There the two number it differently."""
    if why := refusal("unshare", "--pid", "--fork"):
        pytest.skip(f"the kernel refuses: {why}")
    code = "import os; from pro0.ops import identity; print(identity._me() != os.getpid())"
    words = ("unshare", "--pid", "--fork", "--kill-child", sys.executable, "-I", "-c", code)
    assert subprocess.run(words, check=True, capture_output=True, text=True).stdout == "True\n"


@linux
def test_a_guard_is_found_above_whatever_lies_between(team: TeamStore, started: Started, home: Path) -> None:
    """Also beside teams whose folders cannot be read."""
    for number in range(6):
        (home / "teams" / f"{'az'[number % 2]}{number}").mkdir()
    shell = ("sh", "-c", '"$@" & wait', "sh", *AGENT)
    started.append(subprocess.Popen(guard_of(team, "w1", shell), stdin=subprocess.DEVNULL))
    [between] = wait_until(lambda: _children(started[-1].pid), STUCK, "the shell runs")
    [below] = wait_until(lambda: _children(between), STUCK, "its child runs")
    of_w1 = ("alpha", session(team, "w1"), "w1")
    resource.prlimit(below, resource.RLIMIT_RTTIME, (resource.RLIM_INFINITY,) * 2)
    assert identity.session_of({}, home, below) == of_w1
    resource.prlimit(below, resource.RLIMIT_RTTIME, (mark.mark_of(session(team, "w1")), resource.RLIM_INFINITY))
    started[-1].kill()
    started[-1].wait(STUCK)
    try:
        assert identity.session_of({}, home, below) == of_w1, "its mark tells"
    finally:
        os.kill(between, signal.SIGKILL)
        os.kill(below, signal.SIGKILL)
