"""The whole way, by the program as a person calls it, with a real lead and real members, without a terminal."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from pro0.model.runtime import Runtime
from pro0.store.teams import Store
from tests.conftest import Result
from tests.waiting import wait_until

Cli = Callable[..., Result]


@pytest.fixture
def alpha(cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A running team, removed at the end by force, whatever happened."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    begun = cli("team", "start", "alpha", "--mode", "headless", "-m", "w1=shell", "-m", "Test Runner=shell")
    assert begun.code == 0, begun
    assert "the members share one checkout" in begun.err
    for word in ("watch", "message", "stop"):
        assert word in begun.out
    yield "alpha"
    ended = cli("team", "cleanup", "alpha", "--force")
    assert ended.code == 0, ended


def test_a_team_works_and_goes(alpha: str, cli: Cli, home: Path, scripts: None) -> None:
    """S004-006 S004-117, must show 2, 3 and 6"""
    look = json.loads(cli("team", "status", "--json").out)
    assert look["lead"]["state"] == "running"
    assert [member["agentId"] for member in look["members"]] == ["w1", "test-runner"]
    cli("task", "create", "first", "--run", "echo one > out")
    cli("task", "create", "second", "--run", "cat out", "--blocked-by", "1")
    waited = cli("team", "wait", "--timeout", "60")
    assert waited.code == 0, waited
    assert json.loads(cli("task", "show", "2", "--json").out)["result"].strip() == "one"
    live = cli("team", "cleanup")
    assert live.code == 4
    assert "w1" in live.err
    stopped = cli("team", "stop", "--timeout", "30")
    assert stopped.code == 0, stopped
    assert cli("team", "stop").out == "alpha is already stopped\n"
    resumed = cli("team", "resume")
    assert "started w1, test-runner" in resumed.out, resumed
    assert "runs already" in cli("team", "resume").out
    assert json.loads(cli("team", "resume", "--json").out)["lead"]["state"] == "running"
    assert json.loads(cli("team", "stop", "--json").out)["phase"] == "stopped"
    assert cli("team", "cleanup").out == "alpha is removed\n"
    assert cli("team", "cleanup", "alpha").code == 0
    assert cli("team", "forget", "alpha", "--force").code == 0
    assert not list(home.rglob("*alpha*"))


def test_members_come_and_go(alpha: str, cli: Cli) -> None:
    """S004-044 S004-047 AC-74"""
    spawned = cli("member", "spawn", "sleeper", "--", "sleep", "1000")
    assert spawned.code == 0, spawned
    assert "sleeper is running" in spawned.out
    ended = json.loads(cli("member", "shutdown", "sleeper", "--json").out)
    assert (ended["agentId"], ended["state"], ended["exit"]["signal"]) == ("sleeper", "shutdown", 15)
    again = json.loads(cli("member", "restart", "sleeper", "--json").out)
    assert (again["state"], again["pid"] is None) == ("running", False)
    cli("task", "create", "long", "--run", "sleep 1000", "--assignee", "w1")
    look = wait_until(lambda: json.loads(cli("member", "show", "w1", "--json").out)["task"], 30, "w1 works")
    assert look == "task-1"
    stays = cli("member", "shutdown", "w1", "--timeout", "1")
    assert stays.code == 4, stays
    assert "w1" in stays.err
    gone = cli("member", "shutdown", "w1", "--timeout", "0", "--force")
    assert gone.code == 0, gone
    wait_until(lambda: holder(cli) != "w1", 30, "its task is free, and perhaps taken by the other one")
    assert cli("send", "w1", "hello").code == 3
    assert cli("member", "shutdown", "w1").code == 4
    assert cli("member", "restart", "w1").code == 0
    assert cli("send", "w1", "hello").code == 0
    late = cli("member", "spawn", "late", "--task", "for late")
    assert "task-2 is reserved for late" in late.out, late
    later = json.loads(cli("member", "spawn", "later", "--task", "for later", "--json").out)
    assert (later["agentId"], later["made"]) == ("later", ["task-3"])


def test_a_member_whose_task_is_refused_is_there_and_the_error_says_so(alpha: str, cli: Cli, home: Path) -> None:
    (home / "config.yaml").write_text("hooks: {TaskCreated: 'echo not today >&2; exit 2'}")
    refused = cli("member", "spawn", "w9", "--task", "run the tests")
    assert refused.code == 4, refused
    assert "w9 is in the team, but its task is not made: " in refused.err
    assert "not today" in refused.err
    assert "pro0 task create 'run the tests' --assignee w9 -t alpha" in refused.err
    assert json.loads(cli("member", "show", "w9", "--json").out)["state"] == "idle"


def test_the_last_lines_of_a_member_come_first(alpha: str, cli: Cli) -> None:
    """Issue 14, 3: also when it has ended, which is when they are wanted most."""
    cli("member", "spawn", "dies", "--", "sh", "-c", "echo some words; echo Traceback: boom; exit 9")
    wait_until(
        lambda: json.loads(cli("member", "show", "dies", "--json").out)["state"] in ("exited", "crashed"), 30, "it ends"
    )
    shown = cli("member", "show", "dies").out.splitlines()
    assert shown[0] == "the last lines of dies:"
    assert [row.strip() for row in shown[1:3]] == ["some words", "Traceback: boom"]
    assert "Traceback: boom" in json.loads(cli("member", "show", "dies", "--json").out)["lastLines"]


def test_a_killed_lead_is_replaced_by_resume(alpha: str, cli: Cli) -> None:
    """Must show 4: every live session is adopted."""
    look = json.loads(cli("team", "status", "--json").out)
    before = {member["agentId"]: member["pid"] for member in look["members"]}
    os.kill(look["lead"]["pid"], 9)
    resumed = cli("team", "resume")
    assert resumed.code == 0, resumed
    if "runs already" not in resumed.out:  # a guard may have been faster
        assert "adopted w1, test-runner" in resumed.out
    look = json.loads(cli("team", "status", "--json").out)
    assert look["lead"]["state"] == "running"
    assert {member["agentId"]: member["pid"] for member in look["members"]} == before


def holder(cli: Cli) -> str | None:
    """Return who works on task-1."""
    claim = json.loads(cli("task", "show", "1", "--json").out)["claim"]
    return claim["agentId"] if claim else None


def all_at_work(home: Path) -> Runtime | None:
    """Return what the lead has recorded, once it knows the agent of every session: t1's guard may still be starting."""
    runtime = Store(home).team("alpha").runtime.read()
    return runtime if {state.agent_id for state in runtime.seats if state.agent} == {"w1", "w2", "t1"} else None


@pytest.mark.parametrize("killed", ["guards and agents", "agents"])
def test_resume_says_only_what_it_saw_happen(
    killed: str, cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M3b, S000-055, S003-031: sessions that died with their lead have ended; nobody has started them."""
    (project := tmp_path / "project").mkdir()
    monkeypatch.chdir(project)
    assert cli("config", "set", "reviveLead", "false").code == 0
    assert cli("team", "start", "alpha", "--mode", "headless", "-m", "w1=shell", "-m", "w2=shell").code == 0
    try:
        cli("task", "create", "long", "--run", "sleep 1000", "--policy", "supervised")
        assert cli("task", "start", "1").code == 0
        runtime = wait_until(partial(all_at_work, home), 20, "every agent recorded")
        assert runtime
        assert runtime.lead
        before = {state.agent_id: state.incarnation for state in runtime.seats}
        os.kill(runtime.lead.pid, signal.SIGKILL)
        for state in runtime.seats:
            if state.agent_id != "w2":
                doomed = (state.guard, state.agent) if killed == "guards and agents" else (state.agent,)
                for process in doomed:
                    assert process
                    os.kill(process.pid, signal.SIGKILL)
        resumed = cli("team", "resume")
        assert resumed.code == 0, resumed
        assert resumed.out.endswith("): adopted w2; started w1; ended t1\n")
        now = {state.agent_id: state for state in Store(home).team("alpha").runtime.read().seats}
        same = {name: now[name].incarnation == before[name] for name in ("w1", "w2")}
        assert same == {"w1": False, "w2": True}
        assert json.loads(cli("task", "show", "1", "--json").out)["status"] == "failed"
    finally:
        assert cli("team", "cleanup", "alpha", "--force").code == 0
