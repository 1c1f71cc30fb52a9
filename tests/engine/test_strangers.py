"""Nobody is signalled because a file names them: who is ended is proven to be ours (reliability 51)."""

import errno
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from pro0 import processes, resources
from pro0.engine.cleanup import cleanup
from pro0.model.caller import THE_HUMAN
from pro0.model.runtime import Process, Report, State
from pro0.model.task import Draft
from pro0.ops import ownership
from pro0.ops.context import INCARNATION, MEMBER_OF, TEAM, TEAM_UID
from pro0.ops.team import teams
from pro0.processes import mark
from pro0.processes.arguments import arguments
from pro0.processes.table import SPARED
from pro0.store.files import encode
from pro0.store.paths import HOME_VARIABLE
from pro0.store.teams import TeamStore
from tests.engine.crew import PATIENCE, Crew, gone
from tests.faults import fail_about, fault_at
from tests.waiting import wait_until

Bystander = Callable[..., Process]


@pytest.fixture
def bystander() -> Iterator[Bystander]:
    """Start a process that has nothing to do with pro0, called and surrounded as a test wants."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*argv: str, marked: str = "", **variables: str) -> Process:
        child = subprocess.Popen(["sh", "-c", "read _", *argv], stdin=subprocess.PIPE, env=variables)
        started.append(child)
        wait_until(lambda: arguments(child.pid)[:1] == ["sh"], 10, "it has begun")
        found = processes.identify(child.pid)
        assert found
        if marked and sys.platform == "linux":
            resource.prlimit(child.pid, resource.RLIMIT_RTTIME, (mark.mark_of(marked), resource.RLIM_INFINITY))
        return found

    yield start
    for child in started:
        child.kill()
        child.communicate()


def write_runtime(team: TeamStore, guard: Process) -> None:
    with team.runtime.change("a test") as change:
        seats = (replace(seat, guard=guard, agent=guard) for seat in change.value.seats)
        change.value = replace(change.value, seats=tuple(seats))


def write_report(team: TeamStore, report: Report, guard: Process) -> None:
    path = team.paths.sessions / team.paths.report(report.incarnation)
    path.write_bytes(encode(replace(report, guard=guard, agent=guard)))


def test_one_that_a_report_names_as_the_guard(alpha: Crew, bystander: Bystander) -> None:
    """The session counts as one without a guard, and is ended by its tag; its own guard ends with it."""
    alpha.lead()
    alpha.spawn("w1")
    task = alpha.give(Draft(title="t", run="sleep 300", assignee="w1"))[0]
    alpha.reaches("w1", State.WORKING)
    stranger, report = bystander(), alpha.report("w1")
    write_report(alpha.team, report, stranger)
    alpha.reaches("w1", State.CRASHED)
    assert report.agent
    wait_until(gone(report.guard, report.agent), PATIENCE, "the session is ended")
    wait_until(lambda: alpha.task(task).assignee != "w1", PATIENCE, "its task is free")
    alpha.stop(timeout=0, force=True)
    assert processes.alive(stranger)


def test_one_that_runtime_names_as_the_guard_is_not_ended_by_cleanup(alpha: Crew, bystander: Bystander) -> None:
    lead = alpha.lead()
    alpha.spawn("w1")
    report, stranger = alpha.report("w1"), bystander()
    lead.kill()
    lead.wait()
    write_runtime(alpha.team, stranger)
    (alpha.team.paths.sessions / alpha.team.paths.report(report.incarnation)).unlink()
    assert cleanup(alpha.store, "alpha", force=True, show=alpha.shown.append) == "alpha is removed"
    wait_until(gone(report.guard), PATIENCE, "its guard has ended")
    assert processes.alive(stranger)


def test_who_is_a_guard(alpha: Crew, bystander: Bystander, tmp_path: Path) -> None:
    team = alpha.team
    program, launch = str(resources.GUARD), str(team.paths.sessions / team.paths.launch("inc-1"))
    elsewhere = str(tmp_path / "copy" / Path(launch).relative_to(team.paths.home))
    (tmp_path / "copy").mkdir()
    (tmp_path / "same").symlink_to(team.paths.home)
    for argv, expected in {
        (program, launch): True,
        (program, str(tmp_path / "same" / Path(launch).relative_to(team.paths.home))): True,
        ("/opt/old/site-packages/pro0/guard/__main__.py", launch): True,
        (program, launch, "more"): False,
        (program, launch.replace("inc-1", "inc-2")): False,
        (program, launch.replace("alpha", "beta")): False,
        (program, elsewhere): False,
        ("/usr/bin/tail", launch): False,
        (launch,): False,
        (): False,
    }.items():
        assert ownership.is_guard(team, bystander(*argv), "inc-1") is expected, argv
    guard = bystander(program, launch)
    assert not ownership.is_guard(team, replace(guard, start="1"), "inc-1")
    (tmp_path / "copy").rmdir()
    assert ownership.is_guard(team, bystander(program, elsewhere), "inc-1")  # the home was moved


def test_whose_guard_a_program_is_called_as() -> None:
    """Only what is called as a guard is, by the launch file of a session in a home."""
    program, launch = str(resources.GUARD), "/a/home/teams/alpha/sessions/inc-1.start.json"
    for called, home in {
        (program, launch): Path("/a/home"),
        ("/opt/old/site-packages/pro0/guard/__main__.py", launch): Path("/a/home"),
        ("/usr/bin/tail", launch): None,
        ("/pro0/guard/main.py", launch): None,
        ("guard/__main__.py", launch): None,
        (program, launch.removeprefix("/")): None,
        (program, launch.removesuffix(".start.json")): None,
        (program, launch.replace("teams", "team")): None,
        (program, launch.replace("sessions", "session")): None,
        (program, launch.removeprefix("/a/home/teams")): None,
        (program, f"/teams{launch.removeprefix('/a/home/teams')}"): Path("/"),
    }.items():
        assert ownership.home_of_guard(called) == home, called


def test_whose_tags_count(alpha: Crew, bystander: Bystander, tmp_path: Path) -> None:
    """A copy of a team, or of a home, has the uid and the sessions of its original in its files."""
    uid, home = alpha.config.uid, str(alpha.store.home)
    whole = {INCARNATION: "inc-1", TEAM_UID: uid, TEAM: "alpha", MEMBER_OF: home}
    ours = [bystander(marked="inc-1", **whole), bystander(marked="inc-1", **{INCARNATION: "inc-1", TEAM_UID: uid})]
    for change in ({TEAM_UID: "another"}, {TEAM: "beta"}, {MEMBER_OF: str(tmp_path)}):
        bystander(marked="inc-1", **whole | change)
    assert ownership.of_sessions(alpha.team, uid, ["inc-1"]) == {"inc-1": ours}
    assert ownership.of_team(alpha.team, uid) == ours


def test_a_home_out_of_reach_is_no_home_that_moved(alpha: Crew, bystander: Bystander, tmp_path: Path) -> None:
    """What runs for a home that is gone is of the home that moved; while nobody can look, it stays as it is."""
    uid, away = alpha.config.uid, str(tmp_path / "away")
    theirs = bystander(marked="inc-1", **{INCARNATION: "inc-1", TEAM_UID: uid, TEAM: "alpha", MEMBER_OF: away})
    assert ownership.of_team(alpha.team, uid) == [theirs]
    with fault_at(None, fail_about(away, errno.EACCES), ("stat", "lstat")):
        assert ownership.of_team(alpha.team, uid) == []


@pytest.mark.skipif(sys.platform != "linux", reason="the mark is Linux's")
def test_variables_alone_prove_nothing(alpha: Crew, bystander: Bystander, tmp_path: Path) -> None:
    """A person's shell may have every variable of a member; a member's process may have none."""
    uid, launch = alpha.config.uid, alpha.team.paths.sessions / alpha.team.paths.launch("inc-1")
    bystander(**{INCARNATION: "inc-1", TEAM_UID: uid, TEAM: "alpha", MEMBER_OF: str(alpha.store.home)})
    bystander(marked="inc-2", **{INCARNATION: "inc-1", TEAM_UID: uid})
    bystander(marked="inc-1", **{SPARED: "1"})
    launch.with_name("inc-1.json").write_text("{}")
    bare = bystander(marked="inc-1")
    assert ownership.of_sessions(alpha.team, uid, ["inc-1"]) == {"inc-1": [bare]}
    assert ownership.of_team(alpha.team, uid) == [bare]
    bystander(str(resources.GUARD), str(tmp_path / "copy" / launch.name))
    assert ownership.of_team(alpha.team, uid) == []  # it is of the home whose guard lives


@pytest.mark.skipif(sys.platform != "linux", reason="the mark is Linux's")
def test_sessions_are_those_on_disk_and_those_of_this_uid(alpha: Crew, bystander: Bystander) -> None:
    """A guard that has not reported has a launch file alone; of one whose files are gone its processes tell."""
    uid, sessions = alpha.config.uid, alpha.team.paths.sessions
    (sessions / alpha.team.paths.launch("inc-4")).write_text("{}")
    (sessions / alpha.team.paths.report("inc-5")).write_text("{}")
    found = [bystander(marked="inc-4"), bystander(marked="inc-5")]
    found.append(bystander(marked="inc-6", **{INCARNATION: "inc-6", TEAM_UID: uid}))
    bystander(marked="inc-7", **{INCARNATION: "inc-7", TEAM_UID: "another"})
    bystander(marked="inc-7")
    assert {process.pid for process in ownership.of_team(alpha.team, uid)} == {process.pid for process in found}


def test_without_marks_the_uid_has_to_be_there(
    alpha: Crew, bystander: Bystander, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mark, "available", lambda: False)
    uid = alpha.config.uid
    ours = bystander(**{INCARNATION: "inc-8", TEAM_UID: uid})
    bystander(**{INCARNATION: "inc-8"})
    assert ownership.of_sessions(alpha.team, uid, ["inc-8"]) == {"inc-8": [ours]}


def test_the_lead_of_another_home_is_no_lead_of_this_one(alpha: Crew, bystander: Bystander, tmp_path: Path) -> None:
    """Its identity stands in the lease of a copied home; `cleanup --force` there must not end it."""
    called = ("pro0", "lead", "alpha")
    ours = bystander(*called, **{SPARED: "1", HOME_VARIABLE: str(alpha.store.home)})
    theirs = bystander(*called, **{SPARED: "1", HOME_VARIABLE: str(tmp_path)})
    assert ownership.is_lead(alpha.team, ours)
    for more, expected in ((("-m", *called), True), ((*called, "more"), False), (("pro0", "lead", "beta"), False)):
        variables = {SPARED: "1", HOME_VARIABLE: str(alpha.store.home)}
        assert ownership.is_lead(alpha.team, bystander(*more, **variables)) is expected, more
    assert not ownership.is_lead(alpha.team, theirs)
    assert not ownership.is_lead(alpha.team, bystander(*called, **{SPARED: "1"}))
    assert not ownership.is_lead(alpha.team, bystander(*called, **{HOME_VARIABLE: str(alpha.store.home)}))


def test_an_incarnation_of_another_team_is_not_ended(alpha: Crew) -> None:
    alpha.lead()
    alpha.spawn("w1")
    own = alpha.report("w1")
    beta = teams.create(alpha.store, THE_HUMAN, teams.Home("beta", alpha.project)).team
    with beta.runtime.change("a test") as change:
        change.value = replace(change.value, seats=alpha.team.runtime.read().seats)
    (beta.paths.sessions / beta.paths.report(own.incarnation)).write_bytes(encode(own))
    assert cleanup(alpha.store, "beta", force=True, show=alpha.shown.append) == "beta is removed"
    assert own.agent
    assert processes.alive(own.guard)
    assert processes.alive(own.agent)
