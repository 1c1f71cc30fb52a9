"""`pro0 doctor --repair`: what it mends, what it leaves alone, and that being killed in it does no harm."""

import errno
import json
import os
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from msgspec.structs import replace

from pro0 import resources
from pro0.cli.doctor import repairs
from pro0.cli.doctor.checks import Health, machine
from pro0.errors import NotFound, StoreError
from pro0.model.caller import THE_HUMAN
from pro0.model.runtime import Hosted, Phase, Process
from pro0.model.task import Claim
from pro0.model.team import PermissionMode, Wish
from pro0.ops.context import Context, clock, in_process, new_id
from pro0.ops.repair import evidence, repair, repair_home
from pro0.ops.repair.document import Repairs
from pro0.ops.team import costs, teams
from pro0.processes import mark
from pro0.store import atomic, queue
from pro0.store.files import File
from pro0.store.lease import Lease
from pro0.store.paths import LEASE
from pro0.store.teams import Store
from tests.cli.broken import files, world
from tests.cli.conftest import Pro0, become, make, seat, tree
from tests.faults import KILLS, Call, Fault, Shim, count, fail_about, fail_with, fault_at, in_child
from tests.waiting import STUCK, wait_until

CHANGING = ("write", "fsync", "rename", "link", "unlink", "mkdir", "ftruncate", "pwrite")
"""The calls that change something: being killed at any other is being killed before the next of these."""
LISTING = ("listdir", "scandir")
ASKING = (*LISTING, "lstat", "stat", "open")


@pytest.fixture(autouse=True)
def no_machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine is looked at in one test only: a tmux server takes its time."""
    if "machine" not in request.keywords:
        monkeypatch.setattr("pro0.cli.doctor.command.machine", lambda: iter(()))


Starting = Callable[[dict[str, str]], subprocess.Popen[bytes]]


@pytest.fixture
def start() -> Iterator[Starting]:
    """Start a program that does nothing, with these variables; it is ended at the end."""
    started: list[subprocess.Popen[bytes]] = []

    def one(variables: dict[str, str]) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-c", "import time; time.sleep(600)"]
        started.append(subprocess.Popen(argv, env={"HOME": os.environ["HOME"], **variables}))
        return started[-1]

    yield one
    for process in started:
        process.kill()
        process.wait()


def rows(pro0: Pro0, *arguments: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(pro0("doctor", "--json", *arguments).out)["checks"]
    return found


def repaired(pro0: Pro0, *arguments: str) -> list[str]:
    done: list[str] = json.loads(pro0("doctor", "--repair", "--json", *arguments).out)["repaired"]
    return done


def stop(team: Context) -> None:
    """Let the team be stopped, as far as the store knows."""
    with team.team.wanted.change("test") as wanted:
        wanted.value = replace(wanted.value, wish=Wish.STOP)
    with team.team.runtime.change("test") as runtime:
        runtime.value = replace(runtime.value, phase=Phase.STOPPED)


def test_a_machine_is_looked_at(cli: Callable[..., object], home: Path) -> None:
    """Issue 3, build 3: tmux serves, git and the agents are there."""
    checks = {row["name"]: row for row in json.loads(cli("doctor", "--json").out)["checks"]}  # type: ignore[attr-defined]
    assert "a server starts and ends" in checks["tmux"]["what"]
    assert "a terminal draws" in checks["in-process"]["what"]
    assert {"python", "git", "iterm2", "agent shell", "agent command", "settings"} <= set(checks)


@pytest.mark.parametrize(("version", "found"), [("2.37.7", (Health.WARN, True)), ("2.38.0", (Health.OK, False))])
def test_a_git_that_knows_too_little_is_named(
    version: str, found: tuple[Health, bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\necho git version {version}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    check = next(one for one in machine() if one.name == "git")
    assert (check.verdict, "2.38" in check.mend) == found


@pytest.mark.parametrize(
    ("name", "script", "found"),
    [
        ("git", r"printf 'git version 2.40.0 (caf\351)\n'", "git version 2.40.0 (caf\ufffd)"),
        ("git", r"printf 'd\351fectueux\n' >&2; exit 1", "does not answer"),
        ("tmux", r'[ "$1" = -V ] && echo tmux 3.4 || { printf "d\351fectueux\n" >&2; exit 1; }', ": d\ufffdfectueux"),
    ],
    ids=["a version", "an error", "an error of the server"],
)
def test_a_program_that_speaks_no_utf_8_is_shown_all_the_same(
    name: str, script: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert found in next(check for check in machine() if check.name == name).found


def test_a_tmp_that_takes_no_folder_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Just the machine that needs a doctor: all checks but that of the server are there."""

    def full(**_how: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    check = next(one for one in machine() if one.name == "tmux")
    assert (check.verdict, "No space left" in check.found, "/tmp" in check.mend) == (Health.WARN, True, True)


def test_a_command_that_mends_a_home_is_right_for_any_name_of_it(
    pro0: Pro0, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell would take the rest of the name for another folder."""
    home = tmp_path / "a b"
    home.mkdir()
    home.chmod(0o755)
    monkeypatch.setenv("PRO0_HOME", str(home))
    checks = {row["name"]: row for row in json.loads(pro0("doctor", "--json").out)["checks"]}
    assert checks["home"]["mend"].startswith(f"chmod 700 '{home}', or: ")


def test_a_home_that_takes_no_writes_is_named(
    pro0: Pro0, home: Path, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an error of the disk, when the system mounts it anew: root may write, as far as modes tell."""
    found = os.statvfs(home)
    fields = {name: getattr(found, name) for name in dir(found) if name.startswith("f_")}
    as_it_is = SimpleNamespace(**fields | {"f_flag": found.f_flag | os.ST_RDONLY})
    monkeypatch.setattr(os, "statvfs", lambda _path: as_it_is)
    checked = pro0("doctor")
    assert checked.code == 1
    assert "is mounted read-only" in checked.out
    assert "let it be written again" in checked.out


def test_a_healthy_home_is_left_as_it_is(pro0: Pro0, home: Path, team: Context) -> None:
    before = tree(home)
    assert repaired(pro0) == []
    assert tree(home) == before


def test_a_project_that_was_moved_is_named(pro0: Pro0, team: Context, project: Path) -> None:
    project.rename(project.with_name("moved"))
    checked = pro0("doctor", "-t", "alpha")
    assert f"the project folder {project} does not exist" in checked.out, checked
    assert "fix: move it back, or end the team: pro0 team stop alpha, then: pro0 team cleanup alpha" in checked.out


def test_modes_are_tightened(pro0: Pro0, home: Path, team: Context) -> None:
    """Reliability 32; a file that is not of pro0 stays as it is."""
    foreign = home / "teams" / "alpha" / "notes.txt"
    foreign.write_text("mine")
    foreign.chmod(0o644)
    for path, mode in ((home, 0o755), (team.team.tasks.path, 0o644), (team.team.paths.mailboxes, 0o777)):
        path.chmod(mode)
    assert pro0("doctor").code == 0, "a warning is no failure"
    assert len(repaired(pro0)) == 3
    loose = [path for path in (home, *home.rglob("*")) if path != foreign and path.stat().st_mode & 0o077]
    assert not loose
    assert foreign.stat().st_mode & 0o777 == 0o644


def test_what_was_left_over_is_removed(pro0: Pro0, home: Path, team: Context) -> None:
    """Reliability 59: half-made and half-removed teams, temporary and launch files; folders without a team move."""
    (home / "teams" / ".trash-old.1").mkdir()
    (home / "tasks" / "old").mkdir()
    (home / "teams" / ".new-young").mkdir()
    (home / "tasks" / "ghost").mkdir()
    (home / "tasks" / "ghost" / "tasks.json").write_text("work")
    stale = team.team.paths.tasks / f".tmp-{'0' * 32}"
    fresh = team.team.paths.tasks / f".tmp-{'1' * 32}"
    other = team.team.paths.tasks / ".tmp-mine"
    launch = team.team.paths.sessions / "11111111-aaaa.start.json"
    for path in (stale, fresh, other, launch):
        path.write_text("x")
    for path in (stale, other, launch):
        os.utime(path, (time.time() - 3600, time.time() - 3600))
    assert len([row for row in rows(pro0) if row["state"] == "warn"]) >= 5
    repaired(pro0)
    assert sorted(path.name for path in (home / "teams").iterdir()) == ["alpha"]
    moved = [path for path in (home / "tasks").iterdir() if path.name.startswith("ghost.corrupt-")]
    assert (moved[0] / "tasks.json").read_text() == "work"
    assert not (home / "tasks" / "old").exists()
    assert [path.exists() for path in (stale, fresh, other, launch)] == [False, True, True, False]
    assert repaired(pro0) == []


def test_references_to_nobody_are_taken_out(pro0: Pro0, team: Context) -> None:
    """A parent and a reservation, with a word in the history; a dependency stays, since the task would run."""
    for title in ("one", "two", "three"):
        pro0("task", "create", title)
    with team.team.tasks.change("test") as change:
        one, two, three = change.value.tasks
        change.value = replace(
            change.value,
            next_id=2,
            tasks=(
                replace(one, parent="task-9", dependencies=("task-8",)),
                replace(two, assignee="nobody"),
                replace(three, dependencies=("task-2",)),
            ),
        )
    assert len(repaired(pro0)) == 3
    one, two, three = team.team.tasks.read().tasks
    assert (one.parent, one.dependencies, two.assignee) == (None, ("task-8",), None)
    assert "its parent task-9 is gone" in one.history[-1].text
    assert team.team.tasks.read().next_id == 4
    assert repaired(pro0) == []


def test_cycles_are_named_with_a_way_out(pro0: Pro0, team: Context) -> None:
    for title in ("one", "two"):
        pro0("task", "create", title)
    with team.team.tasks.change("test") as change:
        one, two = change.value.tasks
        tasks = (replace(one, dependencies=("task-2",)), replace(two, dependencies=("task-1",)))
        change.value = replace(change.value, tasks=tasks)
    [row] = [row for row in rows(pro0) if "wait for each other" in row["what"]]
    pro0(*row["mend"].split()[1:])
    assert not [row for row in rows(pro0) if "wait for each other" in row["what"]]


def claimed(team: Context, incarnation: str) -> None:
    """Let a session of w1 have claimed the only task."""
    with team.team.tasks.change("test") as change:
        claim = Claim(agent_id="w1", incarnation=incarnation, epoch=1, claimed_at=clock())
        task = replace(change.value.tasks[0], status="in_progress", claim=claim, assignee="w1")
        change.value = replace(change.value, tasks=(task,))


def test_claims_of_dead_sessions_are_given_back(pro0: Pro0, team: Context) -> None:
    """Rulings 2.11: only of a session that is proved dead, and where no lead is there to do it."""
    pro0("task", "create", "one")
    claimed(team, "long-gone")
    assert any("claimed by a session of w1" in row["what"] for row in rows(pro0))
    assert any("pending again" in text for text in repaired(pro0))
    assert team.team.tasks.read().tasks[0].claim is None


def test_beside_a_living_lead_its_files_stay(pro0: Pro0, team: Context) -> None:
    """What operations write is mended all the same; exit 4 says to stop first."""
    team.team.runtime.path.write_bytes(b"{")
    team.team.tasks.path.write_bytes(b"{")
    lease = Lease(team.team.paths.team)
    assert lease.take("lead")
    try:
        called = pro0("doctor", "--repair")
        assert called.code == 4
        assert f"pid {os.getpid()}" in called.err
        assert team.team.runtime.path.read_bytes() == b"{"
        assert team.team.tasks.read().tasks == ()
    finally:
        lease.drop()
    assert pro0("doctor", "--repair").code == 0
    assert team.team.runtime.read().seats == ()


def test_only_a_human_repairs(pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    become(monkeypatch, team, "w1")
    assert pro0("doctor").code == 0
    assert pro0("doctor", "--repair").code == 4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("pro0: alpha has a lead\n", ""),
        ("Fatal Python error: Segmentation fault\n\nThread 0x1:\n  File x\n", "Fatal Python error: Segmentation fault"),
        ("Traceback (most recent call last):\n  File x\nValueError: odd\x1b[0m\n", "ValueError: odd"),
    ],
)
def test_a_lead_that_crashed_is_named(words: str, told: str, pro0: Pro0, team: Context) -> None:
    team.team.paths.lead_errors.write_text(words)
    out = pro0("doctor").out
    assert ("a lead of it crashed" in out) is bool(told)
    assert told in out
    assert "\x1b" not in out
    team.team.paths.lead_errors.write_text("")  # no test may leave that


def test_one_team_only(pro0: Pro0, home: Path, team: Context, tmp_path: Path) -> None:
    make(home, "beta", tmp_path / "elsewhere").team.tasks.path.write_bytes(b"{")
    team.team.tasks.path.write_bytes(b"{")
    assert {row["team"] for row in rows(pro0, "-t", "beta") if "team" in row} == {"beta"}
    assert len(repaired(pro0, "-t", "beta")) == 1
    assert team.team.tasks.path.read_bytes() == b"{"
    assert pro0("doctor", "-t", "nobody").code == 3
    assert pro0("doctor", "-t", "../x").code == 2


def test_a_team_that_is_removed_before_its_turn_is_not_brought_back(
    pro0: Pro0, home: Path, team: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behaviour 3.10: the teams are listed once, and a repair takes its time."""
    beta = make(home, "beta", tmp_path / "elsewhere")
    mend = repair.repair

    def removing(context: Context, project: str) -> Repairs:
        if beta.team.exists():
            Store(home).discard("beta", beta.team.config.read().uid)
        return mend(context, project)

    monkeypatch.setattr(repair, "repair", removing)
    assert "cannot repair: there is no team beta" in pro0("doctor", "--repair").err
    assert Store(home).names() == ["alpha"]
    assert not [path for path in home.rglob("*") if path.name == "beta"]


def test_a_team_that_is_removed_while_its_folders_are_made_is_not_brought_back(home: Path, team: Context) -> None:
    """Behaviour 3.10."""
    shutil.rmtree(team.team.paths.tasks)
    with ThreadPoolExecutor() as pool:
        with Store(home).changing("test"), atomic.folder(home) as folder:
            repairing = pool.submit(repair.repair, team, "/project")
            wait_until(lambda: queue.waited_for(folder), 10, "the repair waits for the home's lock")
            shutil.rmtree(team.team.paths.mailboxes)
            shutil.rmtree(team.team.paths.team)
        with pytest.raises(NotFound, match="there is no team alpha"):
            repairing.result()
    assert not [path for path in home.rglob("*") if path.name == "alpha"]


@pytest.mark.parametrize("repair", [(), ("--repair",)], ids=["look", "repair"])
@pytest.mark.parametrize("only", [(), ("-t", "beta")], ids=["all", "that team"])
def test_a_team_whose_place_cannot_be_read_hides_nothing_else(
    only: tuple[str, ...],
    repair: tuple[str, ...],
    pro0: Pro0,
    home: Path,
    team: Context,
    tmp_path: Path,
    start: Starting,
) -> None:
    """behaviour 4.3: store.json says where its documents are; nobody guesses, so no repair makes it anew."""
    beta = make(home, "beta", tmp_path / "elsewhere").team
    stop(team)
    left = start(
        {"PRO0_HOME": str(home), "PRO0_TEAM": "beta", "PRO0_TEAM_UID": beta.config.read().uid, "PRO0_AGENT_ID": "w1"}
    )
    pointer = beta.paths.team / "store.json"
    pointer.write_bytes(b"{")
    called = pro0("doctor", "--json", "--yes", *only, *repair)
    assert called.code == 1, called
    checks = json.loads(called.out)["checks"]
    [row] = [row for row in checks if row.get("team") == "beta"]
    assert (row["name"], row["state"], row["mend"]) == ("team beta", "fail", "put a good copy in its place")
    assert f"{pointer} is corrupt" in row["what"]
    assert [row["name"] for row in checks if row.get("team") == "alpha"] == ([] if only else ["team alpha"])
    assert (pointer.read_bytes(), left.poll()) == (b"{", None), "whether that team is stopped is not known"


def test_a_stopped_holder_of_a_lock_is_named(pro0: Pro0, team: Context) -> None:
    """Issue 3, must show 10: SIGSTOP."""
    code = "import sys, time; from pathlib import Path; from pro0.store.lock import locked\n"
    code += "with locked(Path(sys.argv[1]), 'a test'): print('held', flush=True); time.sleep(600)"
    argv = [sys.executable, "-c", code, str(team.team.paths.tasks)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            assert any(f"pid {holder.pid}" in row["what"] and row["state"] == "ok" for row in rows(pro0))
            holder.send_signal(signal.SIGSTOP)
            stopped = f"held by pid {holder.pid}, which is stopped"
            wait_until(lambda: any(stopped in row["what"] for row in rows(pro0)), 5, "the holder is said to be stopped")
        finally:
            holder.kill()


def test_guards_of_a_home_that_is_gone(pro0: Pro0, home: Path, team: Context, tmp_path: Path) -> None:
    """They are named with their agents, by what they were called with; a variable alone makes nobody one of them."""
    guard = str(resources.GUARD)
    place = tmp_path / "gone"
    launch = place / "teams" / "beta" / "sessions" / f"{new_id()}.start.json"
    script = "import subprocess, sys; p = subprocess.Popen(['sleep', '600']); print(p.pid, flush=True); p.wait()"
    argv = [sys.executable, "-c", script, guard]
    living = home / "teams" / "alpha" / "sessions" / launch.name
    variables = os.environ | {"PRO0_HOME": str(place), "PRO0_INCARNATION": new_id()}
    calls = [[*argv, str(launch)], [*argv, str(living)], [*argv[:3], "other", str(launch)], [*argv, str(tmp_path)]]
    started = [subprocess.Popen(call, stdout=subprocess.PIPE, env=variables, text=True) for call in calls]
    try:
        below = [int(one.stdout.readline()) for one in started if one.stdout]
        said = [row for row in rows(pro0) if f"of {place}, which is gone" in row["what"]]
        [row] = said
        guards = f"pid {started[0].pid} guards a session of {place}, which is gone"
        assert row["what"] == f"{guards}, with pids {below[0]} below it"
        assert row["mend"] == f"end it and all processes below it: kill {started[0].pid}"
    finally:
        for one, child in zip(started, below, strict=True):
            os.kill(child, signal.SIGKILL)
            one.kill()
            one.communicate()


def test_the_name_of_a_team_whose_folder_was_deleted_can_be_freed(pro0: Pro0, home: Path, project: Path) -> None:
    """Start and cleanup name the command that frees it, and nothing is deleted."""
    make(home, "alpha", project)
    shutil.rmtree(home / "teams" / "alpha")
    refused = pro0("team", "start", "alpha", "--detach", "--mode", "headless")
    assert refused.code == 5
    assert "hint: it may hold work; `pro0 doctor --repair` moves it aside and frees the name" in refused.err
    cleaned = pro0("team", "cleanup", "alpha", "--force")
    assert (cleaned.code, "pro0 doctor --repair" in cleaned.err) == (0, True)
    pro0("doctor", "--repair")
    assert make(home, "alpha", project).team.exists()
    assert len(list((home / "tasks").glob("alpha.corrupt-*"))) == 1


def start_tagged(start: Starting, team: Context) -> None:
    """Start a process of a session of the team, and wait until it is seen."""
    home = team.team.paths.home
    tag = {"PRO0_HOME": str(home), "PRO0_TEAM": "alpha", "PRO0_TEAM_UID": team.team.config.read().uid}
    mark.put_on("inc-1")
    try:
        start(tag | {"PRO0_INCARNATION": "inc-1"})
    finally:
        mark.take_off()
    wait_until(lambda: bool(evidence.carriers(home)), 5, "the process is seen")


def test_a_question_to_the_disk_that_fails_makes_no_team_seem_gone(
    pro0: Pro0, home: Path, team: Context, start: Starting
) -> None:
    """Whichever it is: what is a team's stays in its place, and no process of a team that runs is a left-over one."""
    start_tagged(start, team)
    stray = home / "tasks" / "old"
    stray.mkdir(mode=0o700)
    before, store = tree(home), Store(home)
    for look in (lambda: repair_home.tidy(store, print), lambda: repair_home.left_over(store)):
        calls = count(look, ASKING)
        for number in (number for number, call in enumerate(calls, 1) if call.about.startswith(str(home / "teams"))):
            stray.mkdir(mode=0o700, exist_ok=True)
            # in words for a person, and not an OSError
            with suppress(StoreError), fault_at(number, fail_below(home / "teams"), ASKING):
                assert not look()
            stray.mkdir(mode=0o700, exist_ok=True)
            assert tree(home) == before, calls[number - 1]


def test_a_member_that_died_with_the_lead_needs_a_resume_alone(pro0: Pro0, team: Context) -> None:
    """A resume starts it again, so that a restart after it would be refused."""
    with team.team.runtime.change("test") as change:
        first, *rest = change.value.seats
        dead = replace(first, guard=Process(pid=1 << 22, start="1", boot_id="b"))
        change.value = replace(change.value, seats=(dead, *rest))
    [row] = [row for row in rows(pro0) if f"the session of {first.agent_id} is" in row["what"]]
    assert row["mend"] == "pro0 team resume -t alpha"


def test_a_lease_that_cannot_be_looked_at_makes_no_lead_seem_gone(
    pro0: Pro0, home: Path, team: Context, start: Starting
) -> None:
    """The doctor says what it cannot see, and nothing that is wrong; no process of that team is a left-over one."""
    start_tagged(start, team)
    path, lease = team.team.paths.team / LEASE, Lease(team.team.paths.team)
    assert lease.take("lead")
    try:
        for is_stopped in (False, True):
            if is_stopped:
                stop(team)
            with fault_at(None, fail_about(str(path), errno.EACCES), ("open",)):
                found = rows(pro0)
                with suppress(StoreError):
                    assert not repair_home.left_over(Store(home))
            told = [row["name"] for row in found if row["what"] == f"cannot use {path}: Permission denied (EACCES)"]
            assert {"locks", "team alpha"} <= {*told} <= {"locks", "team alpha", "processes"}
            assert not [row for row in found if "nobody holds" in row["what"] or "lead is gone" in row["what"]]
    finally:
        lease.drop()


def fail_below(top: Path) -> Fault:
    """Let the first question about anything in a folder fail, and all after it."""

    def fault(shim: Shim, name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        shim.at = len(shim.seen) + 1
        if not str(args[0] if args else "").startswith(str(top)):
            return real(*args, **kwargs)
        return fail_with(errno.EIO)(shim, name, real, args, kwargs)

    return fault


def test_a_look_goes_on_where_a_folder_cannot_be_listed(pro0: Pro0, home: Path, team: Context) -> None:
    """What cannot be known is one check that fails; all others are told."""
    whole = {row["name"] for row in rows(pro0)}
    calls = count(lambda: pro0("doctor", "--json"), LISTING)
    numbers = [number for number, call in enumerate(calls, 1) if call.about.startswith(str(home))]
    for number in numbers:
        with fault_at(number, fail_with(errno.EIO), LISTING):
            told = pro0("doctor", "--json")
        assert told.code in (0, 1), (told, calls[number - 1])
        found = json.loads(told.out)["checks"]
        assert whole - {row["name"] for row in found} <= {"team alpha"}, calls[number - 1]
        assert all("EIO" in row["what"] for row in found if row["state"] == "fail"), found


def test_left_over_processes(
    pro0: Pro0, home: Path, team: Context, start: Callable[[dict[str, str]], subprocess.Popen[bytes]]
) -> None:
    """Reliability 43: of teams that are stopped or gone, by mark and tag; never another, never unasked."""
    uid = team.team.config.read().uid
    tag = {"PRO0_HOME": str(home), "PRO0_TEAM": "alpha", "PRO0_TEAM_UID": uid, "PRO0_INCARNATION": "inc-1"}
    ours = start(tag)
    gone = start(tag | {"PRO0_TEAM": "gone", "PRO0_TEAM_UID": "another"})
    bystanders = [
        start({"PRO0_HOME": str(home), "PRO0_TEAM": "gone"}),
        start(tag | {"PRO0_HOME": str(home.parent / "other"), "PRO0_TEAM_UID": "another"}),
        start({"PRO0_TEAM": "gone", "PRO0_TEAM_UID": "another"}),
    ]
    if sys.platform == "linux":
        for process in (ours, gone, *bystanders):
            resource.prlimit(process.pid, resource.RLIMIT_RTTIME, (mark.mark_of("inc-1"), resource.RLIM_INFINITY))
        bystanders += [start(tag), start(tag | {"PRO0_TEAM": "gone", "PRO0_TEAM_UID": "another"})]
    pids = {str(process.pid) for process in (ours, gone)}

    def named() -> set[str]:
        said = [row["what"].split() for row in rows(pro0) if row["name"] == "processes"]
        return {word for words in said for word in words if word.isdigit()}

    wait_until(lambda: named() == {str(gone.pid)}, 5, "alpha runs: only the process of the team that is gone is named")
    stop(team)
    wait_until(lambda: named() == pids, 5, "both are named")
    pro0("doctor", "--repair")
    assert (ours.poll(), gone.poll()) == (None, None), "nobody said yes"
    assert len(repaired(pro0, "--yes")) == 2
    assert (ours.wait(STUCK), gone.wait(STUCK)) == (-signal.SIGTERM, -signal.SIGTERM)
    assert all(process.poll() is None for process in bystanders)


def pids_left(store: Store) -> set[int]:
    return {process.pid for group in repair_home.left_over(store).values() for process in group}


def test_a_yes_ends_the_processes_that_were_counted(
    pro0: Pro0, home: Path, team: Context, start: Starting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what their sessions have started since, but no session that came while the question waited."""
    uid = team.team.config.read().uid
    tag = {"PRO0_HOME": str(home), "PRO0_TEAM": "alpha", "PRO0_TEAM_UID": uid}
    gone = {"PRO0_HOME": str(home), "PRO0_TEAM": "gone", "PRO0_TEAM_UID": "another"}

    def left(of: dict[str, str], session: str) -> subprocess.Popen[bytes]:
        process = start(of | {"PRO0_INCARNATION": session})
        if sys.platform == "linux":
            resource.prlimit(process.pid, resource.RLIMIT_RTTIME, (mark.mark_of(session), resource.RLIM_INFINITY))
        return process

    def confirm(question: str, **_how: object) -> bool:
        asked.append(question)
        ended.append(left(tag, "inc-1"))
        living.extend([left(tag, "inc-2"), left(gone, "inc-3")])
        new = {process.pid for process in (*ended, *living)}
        wait_until(lambda: new <= pids_left(store), 5, "all of them are left over")
        return True

    asked, living, store = list[str](), list[subprocess.Popen[bytes]](), Store(home)
    stop(team)
    ended = [left(tag, "inc-1")]
    wait_until(lambda: bool(repair_home.left_over(store)), 5, "the first one is named")
    monkeypatch.setattr(repairs, "terminal", lambda: True)
    monkeypatch.setattr(click, "confirm", confirm)
    done = pro0("doctor", "--repair")
    assert asked == ["end 1 processes of alpha, which is stopped or gone?"]
    assert [process.poll() for process in living] == [None, None], done
    assert [process.wait(STUCK) for process in ended] == [-signal.SIGTERM, -signal.SIGTERM]
    assert "ended 2 processes" in done.out


def test_sockets_of_dead_servers(pro0: Pro0, home: Path, team: Context) -> None:
    """Reliability 43: names that only look alike, living servers, files and young sockets stay."""
    folder = Path(os.environ["TMUX_TMPDIR"]) / f"tmux-{os.getuid()}"
    folder.mkdir(mode=0o700)
    own = f"pro0-{team.team.config.read().uid[:8]}"
    living = socket.socket(socket.AF_UNIX)
    living.bind(str(folder / "pro0-11111111"))
    living.listen()
    for name in ("pro0-00000000", "pro0-x", "pro0-0000000g", "default", own, "pro0-22222222"):
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(folder / name))
    (folder / "pro0-33333333").write_text("a file")
    for path in folder.iterdir():
        if path.name != "pro0-22222222":
            os.utime(path, (time.time() - 3600, time.time() - 3600))
    before = {path.name for path in folder.iterdir()}
    repaired(pro0)
    assert before - {path.name for path in folder.iterdir()} == {"pro0-00000000"}
    living.close()


def test_locks_that_are_no_files(pro0: Pro0, team: Context, tmp_path: Path) -> None:
    """Reliability 30"""
    lock = team.team.paths.tasks / ".lock"
    lock.unlink(missing_ok=True)
    lock.symlink_to(tmp_path / "outside")
    assert pro0("task", "create", "x").code == 6
    assert pro0("doctor").code == 1
    assert pro0("doctor", "--repair").code == 0
    assert pro0("task", "create", "x").code == 0
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize("fault", KILLS)
@pytest.mark.parametrize("file", ["tasks", "runtime", "config", "mailbox", "segment"])
def test_wherever_it_is_killed_it_can_be_finished(
    file: str, fault: object, pro0: Pro0, home: Path, project: Path
) -> None:
    """Issue 3, must show 11: what was there is there still, and the next repair finishes."""
    world(home, project)
    path = files(home)[file]
    whole = path.read_bytes()
    bad = whole.replace(b'"revision": ', b'"revision": "x", "surprise": ', 1)

    def act() -> None:
        from pro0.cli.doctor.repairs import mend
        from pro0.model.caller import THE_HUMAN
        from pro0.store.teams import Store

        mend(Store(home), THE_HUMAN, "alpha", yes=False)

    path.write_bytes(bad)
    calls = len(count(act, CHANGING))
    for at in range(1, calls + 1):
        for aside in path.parent.glob("*.corrupt-*"):
            aside.unlink()
        path.write_bytes(bad)
        in_child(act, at, fault, CHANGING)  # type: ignore[arg-type]
        assert bad in [one.read_bytes() for one in path.parent.iterdir() if one.is_file()], f"at call {at}"
        act()
        assert len(list(path.parent.glob(f"{path.name}.corrupt-*"))) == 1
        assert pro0("team", "status", "-t", "alpha").code == 0
        assert "text 1" in pro0("inbox", "--all", "-t", "alpha").out
        assert "number 5" in pro0("task", "list", "-t", "alpha").out


def test_a_team_that_has_lost_everything_works_again(pro0: Pro0, home: Path, project: Path) -> None:
    """Every file at once; members come from what is left: here, from nothing but their reports and mailboxes."""
    team = world(home, project)
    uid, known = team.team.config.read().uid, team.team.runtime.read().seats[0]
    for path in files(home).values():
        if path.parent.name != "sessions":
            path.write_bytes(b"")
    called = pro0("doctor", "--repair")
    assert called.code == 0, called
    assert not team.team.tasks.read().tasks
    assert pro0("task", "create", "again", "-t", "alpha").out.startswith("task-8 "), "no number is given twice"
    config = team.team.config.read()
    assert (config.name, config.uid, config.project) == ("alpha", uid, str(project)), "as the event of its making says"
    assert team.team.report(known.incarnation) is not None


@pytest.mark.parametrize("name", ["roles.json", "trusted.json", "proofs.json", "pin.json", "web/devices.json"])
def test_a_damaged_document_of_the_home_is_named_with_a_next_step(
    name: str, pro0: Pro0, home: Path, team: Context
) -> None:
    """Nothing else can tell what was in it, so it is not repaired; all else is looked at."""
    path = home / name
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_text("{broken")
    for words in ((), ("--repair",)):
        called = pro0("doctor", "--json", *words)
        assert called.code == 1, called
        found = {row["name"]: row for row in json.loads(called.out)["checks"]}
        assert found[path.name]["what"].startswith(f"{path} is corrupt")
        assert not [row for row in found.values() if "see: pro0 doctor" in row["mend"]]
        assert {"home", "locks", "team alpha"} <= found.keys()
        assert path.read_text() == "{broken"
    away = found[path.name]["mend"].partition("move it away: ")[2]
    subprocess.run(shlex.split(away), check=True)
    assert pro0("doctor").code == 0


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("/no/such/program --fast", "/no/such/program"),
        ("no-such-program", "no-such-program"),
        ("echo 3 tests fail >&2; exit 2", ""),
        ("test -e x || exit 2", ""),
        ("'unclosed", ""),
        ("$HOME/x", ""),
    ],
)
def test_a_hook_whose_program_is_missing_is_named(command: str, missing: str, pro0: Pro0, home: Path) -> None:
    """A gate whose hook is missing is closed: better known before the first task is complete."""
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(json.dumps({"hooks": {"TaskCompleted": command}}))
    found = [row for row in rows(pro0) if row["name"] == "hook TaskCompleted"]
    assert [row["what"] for row in found] == ([f"{missing} is not found: {command}"] if missing else [])


ELSEWHERE = "0f8b5f0e-5c2b-4d0e-9a43-1f2f4f3b7a10"


def run_elsewhere(team: Context) -> None:
    """Let another machine run a session of w1, as far as the store knows."""
    hosted = Hosted(
        agent_id="w1", incarnation=ELSEWHERE, there="t-1", host="h", ssh="ssh", team="alpha", project="/", argv=("x",)
    )
    File(team.team.paths.sessions, team.team.paths.hosted(ELSEWHERE), Hosted).create(hosted)


def test_what_another_machine_runs_is_no_damaged_report(pro0: Pro0, team: Context) -> None:
    """Its record keeps the session's claims until that machine has said that it is over."""
    run_elsewhere(team)
    before = [row for row in rows(pro0) if row["state"] == "fail"]
    assert repaired(pro0) == []
    assert (before, team.team.elsewhere()) == ([], [ELSEWHERE])


@pytest.mark.parametrize("is_stopped", [False, True], ids=["running", "stopped"])
def test_what_another_machine_may_run_keeps_its_claims(is_stopped: bool, pro0: Pro0, team: Context) -> None:
    """Behaviour 3.32: only that machine's own word ends the session, or the person's."""
    pro0("task", "create", "one")
    claimed(team, ELSEWHERE)
    run_elsewhere(team)
    if is_stopped:
        stop(team)
    assert not [row for row in rows(pro0) if "claimed by a session" in row["what"]]
    assert not [text for text in repaired(pro0) if "pending again" in text]
    assert [task.claim and task.claim.incarnation for task in team.team.tasks.read().tasks] == [ELSEWHERE]
    team.team.drop_hosted(ELSEWHERE)
    assert any("pending again" in text for text in repaired(pro0))


@pytest.mark.parametrize("name", ["task-²", "task-1٣", "task-x", "task-0", "task-1\udcff"], ids=ascii)
def test_a_folder_that_is_no_tasks_is_left_alone(name: str, pro0: Pro0, team: Context) -> None:
    """A folder of the person's beside those of tasks, of any name that the system takes."""
    (team.team.paths.tasks / name).mkdir(0o700)
    assert not [row for row in rows(pro0) if row["state"] == "fail"]
    team.team.tasks.path.write_bytes(b"{")
    [told] = repaired(pro0)
    assert told.endswith("kept: 0 tasks")
    assert (team.team.paths.tasks / name).is_dir()


def test_a_document_that_is_gone_is_not_made_of_what_an_earlier_repair_replaced(pro0: Pro0, team: Context) -> None:
    """A deleted task stays deleted, and what was done is not done again: what is gone is named."""
    for name in ("one", "two", "three"):
        pro0("task", "create", name)
    path = team.team.tasks.path
    path.write_bytes(path.read_bytes() + b"x")
    assert "kept: 3 tasks" in pro0("doctor", "--repair").out
    pro0("task", "delete", "1")
    pro0("task", "complete", "2")
    path.unlink()
    assert "kept: 0 tasks; lost: task-2, task-3" in pro0("doctor", "--repair").out
    assert json.loads(pro0("task", "list", "--all", "--json").out) == []
    assert pro0("task", "create", "four").out.startswith("task-4 ")


def losses(pro0: Pro0) -> dict[str, str]:
    """What the person is told of losses, by document."""
    needs = json.loads(pro0("needs", "-t", "alpha", "--json").out)
    return {need["subject"]: need["why"] for need in needs if need["kind"] == "losses"}


def test_limits_outlive_the_documents_that_set_them(pro0: Pro0, home: Path, project: Path) -> None:
    """The log tells them; what nobody tells is named, and taken for the least."""
    home_of = teams.Home(name="alpha", project=project, permission_mode=PermissionMode.EDITS, worktrees=True)
    team = teams.create(Store(home), THE_HUMAN, home_of)
    seat(team, "w1")
    costs.limit(replace(team, vouch=in_process), 5)
    with team.team.environment.change("test") as change:
        change.value = replace(change.value, variables={"A": "b"})
    for document in (team.team.wanted, team.team.environment, team.team.troubles):
        document.path.write_bytes(b"")
    config = team.team.config.path
    config.write_bytes(config.read_bytes()[:40])
    assert pro0("doctor", "--repair").code == 0
    desired = team.team.wanted.read()
    assert (desired.max_cost, [seat.permission_mode for seat in desired.seats]) == (5.0, [PermissionMode.PLAN])
    assert team.team.config.read().permission_mode is PermissionMode.EDITS
    told = losses(pro0)
    assert (
        told["wanted.json"] == "everything of w1 but its name, agent and role, "
        "its outside, its stop, its remove, its outbox"
    )
    assert "its worktrees" in told["config.json"]
    assert "permissionMode" not in told["config.json"]
    assert told["environment.json"] == "its variables, its reserved"
    assert told["troubles.json"] == "its troubles", "it keeps what is told of the others, so it is mended first"


def test_tasks_that_a_repair_could_not_keep_are_named_until_they_are_seen(
    pro0: Pro0, home: Path, project: Path
) -> None:
    """Docs A1: the list is cut, and events and folders still know its tasks; a deleted task was not lost."""
    team = make(home, "alpha", project)
    for number in range(1, 9):
        assert pro0("task", "create", f"part {number}").code == 0
    pro0("task", "comment", "5", "it is half done")
    pro0("task", "delete", "8")
    path = team.team.tasks.path

    def lost(keeps: int) -> list[str]:
        text = path.read_text()
        path.write_text(text[: text.index(f'"task-{keeps + 1}"') - 10])
        repaired = pro0("doctor", "--repair").out
        assert f"kept: {keeps} task{'s' * (keeps > 1)}; lost: " in repaired
        return [need["why"] for need in json.loads(pro0("needs", "--json").out) if need["kind"] == "losses"]

    first = lost(3)
    assert [why.split(",")[0] for why in first] == ["task-4 to task-7"]
    assert lost(1)[1:] == ["task-2, task-3"], "what was told before is no new loss"
    assert {line.split()[-1] for line in pro0("team", "logs").out.splitlines() if "task.lost" in line} == {
        f"task=task-{number}" for number in range(2, 8)
    }
    for need in json.loads(pro0("needs", "--json").out):
        if need["kind"] == "losses":
            assert pro0("needs", "--seen", need["id"].split(":")[-1]).code == 0
    assert "losses" not in pro0("needs", "--json").out
    assert pro0("task", "create", "on").out.startswith("task-9 ")
