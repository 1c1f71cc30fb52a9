"""The life of a team, through the program alone, as the README tells it (S004-117).

In the soak in every mode; test_every_mode.py tells the story in each of them every time.
"""

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pro0.errors import EnvironmentMissing
from tests.conftest import let_scripts
from tests.contracts.stages import InsideStage
from tests.contracts.stand_in import terminal_for
from tests.e2e.conftest import Team, kill, tmux_server

SOAKED = (pytest.param(mode, marks=pytest.mark.soak) for mode in ("in-process", "iterm2"))


@pytest.fixture(params=["tmux", "headless", *SOAKED])
def mode(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A mode, in the terminal that it asks for."""
    with terminal_for(request.param, tmp_path):
        yield request.param


def graph(count: int, log: Path) -> str:
    """A graph of tasks that write their name into a log when they begin and when they are done."""
    tasks = [
        {
            "title": f"number {n}",
            "key": f"k{n}",
            "run": f"echo begin {n} >> {log}; echo result {n}; echo end {n} >> {log}",
            "blockedBy": [f"k{m}" for m in {n // 2, n - 7} if 0 < m < n],
        }
        for n in range(1, count + 1)
    ]
    return json.dumps(tasks)


def test_a_hundred_dependent_tasks(mode: str, team: Team) -> None:
    """AC-81, S004-003, S004-038, S004-039, S004-066: each ran once, after its dependencies; the work was shared."""
    team.start(mode, "w1", "w2", "w3")
    log = team.project / "log"
    team("task", "create", "-f", "-", stdin=graph(100, log))
    team("team", "wait", "--timeout", "100", seconds=120)
    lines = log.read_text().split("\n")[:-1]
    begun, ended = ([line.split()[1] for line in lines if line.startswith(word)] for word in ("begin", "end"))
    assert sorted(begun, key=int) == sorted(ended, key=int) == [str(n) for n in range(1, 101)]
    for n in range(1, 101):
        for m in {n // 2, n - 7}:
            if 0 < m < n:
                assert lines.index(f"end {m}") < lines.index(f"begin {n}")
    tasks = team.tasks().values()
    assert all(t["status"] == "completed" and t["result"].startswith("result") for t in tasks)
    assert all(t["claimedAt"] < t["completedAt"] for t in tasks)
    assert {task["assignee"] for task in tasks} == {"w1", "w2", "w3"}


def test_a_killed_teammate(mode: str, team: Team) -> None:
    """AC-76, S004-072: crashed is seen, its task is finished by another, the lead address is told once."""
    team.start(mode, "w1", "w2")
    team("task", "create", "slow", "--run", "test -e went || { touch went; sleep 30; }; echo done")
    victim = team.worker()
    kill(team.member(victim)["pid"])
    team.until(lambda: team.state(victim) == "crashed", "crashed is seen", 5)
    team("team", "wait", "--timeout", "30")
    task = team.tasks()["task-1"]
    assert task["status"] == "completed"
    assert task["assignee"] != victim
    told = [text for text in team.mail() if "crashed" in text]
    assert len(told) == 1
    assert victim in told[0]
    assert "task-1" in told[0]
    team("member", "restart", victim)
    assert team.state(victim) == "idle"


def test_a_killed_tmux_server(team: Team) -> None:
    """Reliability check 45: all crashed, tasks pending, one notice per member; restart brings them back."""
    team.start("tmux", "w1", "w2")
    team("task", "create", "slow", "--run", "test -e went && echo done || { touch went; sleep 30; }")
    team.worker()
    kill(tmux_server(team.home))
    team.until(lambda: [team.state("w1"), team.state("w2")] == ["crashed"] * 2, "both are seen to have crashed", 5)
    team.until(lambda: team.tasks()["task-1"]["status"] == "pending", "the task is pending again")

    def told() -> list[str]:
        return sorted(text.split()[0] for text in team.mail() if "crashed" in text)

    team.until(lambda: len(told()) >= 2, "each is told")
    assert told() == ["w1", "w2"]
    for name in ("w1", "w2"):
        team("member", "restart", name)
    team("team", "wait", "--timeout", "30")


@pytest.mark.parametrize("shown", ["inside another", "outside"])
def test_a_tmux_of_the_person_that_is_gone(shown: str, team: Team, tmp_path: Path) -> None:
    """3.13: what the error says helps: the team goes on where it is resumed."""
    person = InsideStage(tmp_path)
    try:
        inside = {"TMUX": person.place.inside_tmux}
        team("team", "start", team.name, "--detach", "--lead", "none", "-m", "w1=shell", env=inside)
        assert team.json("team", "status")["mode"] == "tmux"
        person.leave()
        team.until(lambda: team.state("w1") == "crashed", "it has crashed", 5)
        refused = team("member", "restart", "w1", code=EnvironmentMissing.exit_code)
        assert "pro0 team resume -t alpha" in refused.err
        person.restart_server()
        team("team", "stop")
        resumed_in = {"TMUX": person.place.inside_tmux} if shown == "inside another" else {}
        team("team", "resume", env=resumed_in)
        assert team.state("w1") == "idle"
        panes = person.tmux("list-panes", "-a", "-F", "#{@pro0_team}").split()
        assert len(panes) == (shown == "inside another")
    finally:
        team.end()
        person.leave()


def test_a_killed_lead(mode: str, team: Team) -> None:
    """Rulings 3.12, AC: teammates go on, resume adopts them all, a second lead cannot start."""
    team.start(mode, "w1", "w2", "w3")
    before = {m["agentId"]: m["pid"] for m in team.json("team", "status")["members"]}
    kill(team.json("team", "status")["lead"]["pid"])
    team.until(lambda: team.json("team", "status")["lead"]["state"] == "gone", "the lead is gone")
    team("task", "create", "goes on", "--run", "echo still here")
    team.until(lambda: team.tasks()["task-1"]["status"] == "completed", "members work without a lead")
    team("team", "resume")
    status = team.json("team", "status")
    assert status["lead"]["state"] == "running"
    assert {m["agentId"]: m["pid"] for m in status["members"]} == before
    team("lead", "alpha", code=4)
    team("team", "resume")
    assert team.json("team", "status")["lead"] == status["lead"]


def test_messages_from_a_shell_and_from_inside_a_session(team: Team) -> None:
    """AC-68, AC-71, S004-029: to a name, an id, in other case; unknown or ended is exit 3 and writes nothing."""
    team.start("headless", "w1", "w2")
    team("member", "spawn", "Front End", "--agent", "shell")
    team("send", "FRONT END", "by name")
    team("send", "Front-End", "by id, other case")
    inside = "pro0 send W2 'from inside' && pro0 broadcast 'to all' && pro0 send lead 'to the lead'"
    team("task", "create", "talk", "--run", inside, "--assignee", "w1", env={})
    team("team", "wait", "--timeout", "30")
    assert team.mail("w1") == ["to the lead"]
    team("member", "shutdown", "w2")
    before = _mail_on_disk(team.home)
    team("send", "nobody", "x", code=3)
    team("send", "w2", "x", code=3)
    assert _mail_on_disk(team.home) == before


def _mail_on_disk(home: Path) -> dict[str, bytes]:
    """All mail but the lead's, which is told of idle members meanwhile."""
    files = (home / "mailboxes").rglob("*.json")
    return {str(path): path.read_bytes() for path in files if path.parent.name != "lead"}


def test_stop_and_cleanup(mode: str, team: Team) -> None:
    """AC-74, AC-75, S004-015, S004-016, S004-063: not yet, then leaves; cleanup refuses, then removes all of it."""
    team.start(mode, "w1", "w2")
    team("task", "create", "slow", "--run", "while ! test -e go; do sleep 0.05; done; echo done")
    busy = team.worker()
    refused = team("team", "stop", "--timeout", "1", code=4)
    assert f"{busy}: not yet: working on task-1" in refused.err
    assert busy in team("team", "cleanup", "alpha", code=4).err
    (team.project / "go").touch()
    team("team", "stop", "--timeout", "30")
    assert team.tasks()["task-1"]["status"] == "completed"
    assert "pro0 team show alpha --archived" in team("team", "cleanup", "alpha").err
    assert team.json("team", "show", "alpha", "--archived")["tasks"][0]["result"].strip() == "done"
    let_scripts(team.home)
    team("team", "forget", "alpha", "--force")
    (team.home / "config.yaml").unlink()
    assert [p for p in team.home.rglob("*") if p.is_file() and p.name != ".lock"] == []
    assert [p.name for part in ("teams", "tasks", "mailboxes") for p in (team.home / part).iterdir()] == []
    team("team", "cleanup", "alpha")
    team("send", "w1", "too late", "-t", "alpha", code=3)
    assert [p.name for part in ("teams", "tasks", "mailboxes") for p in (team.home / part).iterdir()] == []


def test_a_member_that_never_answers(mode: str, team: Team) -> None:
    """S004-073, S004-081: a stopped process is unresponsive after the time-out; force ends it."""
    team.start(mode, "w1")
    os.kill(team.member("w1")["pid"], signal.SIGSTOP)
    team("member", "shutdown", "w1", "--timeout", "1", code=4)
    assert team.state("w1") == "unresponsive"
    team("team", "stop", "--timeout", "1", "--force", env={"PRO0_END_GRACE_SECONDS": "1"})
    assert team.state("w1") == "shutdown"


def test_ten_processes_race_for_each_of_three_tasks(team: Team) -> None:
    """AC-61, S004-064, S004-113: one winner each; losers exit 4 and are told who holds it."""
    team.start("headless", "w1")
    made = [{"title": f"t{n}"} for n in range(3)]
    team("task", "create", "-f", "-", stdin=json.dumps(made))
    with ThreadPoolExecutor(10) as pool:
        for n in range(1, 4):
            calls = [pool.submit(team.cli, "task", "claim", str(n), "-t", "alpha", cwd=team.project) for _ in range(10)]
            results = [call.result() for call in calls]
            assert sorted(result.code for result in results) == [0] + [4] * 9
            assert all("claimed by human" in result.err for result in results if result.code == 4)
