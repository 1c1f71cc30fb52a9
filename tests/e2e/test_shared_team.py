"""A team that two machines share: two homes, each with a lead, and one database (issue 19, build 5)."""

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.cli.test_outputs import fits
from tests.conftest import Result
from tests.e2e.conftest import Team
from tests.living import living
from tests.postgres import Postgres, postgres, require
from tests.scenarios.claudes import claudes
from tests.waiting import wait_until

Cli = Callable[..., Result]
__all__ = ["claudes"]


class OtherMachine(Team):
    """Another home on this machine, with a project of its own; it knows nothing of the first one but the database."""

    def __init__(self, cli: Cli, at: Path) -> None:
        project = at / "project"
        project.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        super().__init__(cli, project, at / "pro0")
        self._environment = {"PRO0_HOME": str(self.home), "HOME": str(at)}

    def __call__(self, *arguments: str, code: int = 0, **options: Any) -> Result:
        return super().__call__(*arguments, code=code, env=self._environment, **options)

    def end(self) -> None:
        self.cli("host", "leave", self.name, "--force", cwd=self.project, env=self._environment)


@pytest.fixture
def server() -> Iterator[Postgres]:
    require()
    with postgres() as running:
        yield running


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "2")


@pytest.fixture
def founded(server: Postgres, team: Team) -> Team:
    """A team on the machine that made it, with one member."""
    words = ("--detach", "--mode", "headless", "--lead", "none", "--store", server.url())
    team("team", "start", "alpha", *words, "-m", "w1=shell")
    return team


@pytest.fixture
def other(founded: Team, server: Postgres, cli: Cli, tmp_path: Path) -> Iterator[OtherMachine]:
    """A second machine that has joined, called two."""
    machine = OtherMachine(cli, tmp_path / "two")
    try:
        fits(["host", "join"], join(machine, server, "alpha", "--json").out)
        yield machine
    finally:
        machine.end()


def join(machine: OtherMachine, server: Postgres, *words: str, code: int = 0) -> Result:
    return machine("host", "join", server.url(server.latest), "--as", "two", "--mode", "headless", *words, code=code)


def processes_of(home: Path) -> list[psutil.Process]:
    """Return what runs for a home: its leads, guards and agents."""
    return living(
        lambda process: (
            process.pid != os.getpid()
            and (process.environ().get("PRO0_HOME") == str(home) or str(home) in " ".join(process.cmdline()))
        )
    )


def dies(home: Path) -> None:
    """Let a machine lose its power: all that runs there ends at one moment."""
    running = processes_of(home)
    for process in running:
        process.suspend()
    for process in running:
        process.kill()


def lead(machine: Team) -> int:
    return int(machine.json("team", "status")["lead"]["pid"])


def announced(server: Postgres, need: str) -> set[str]:
    """Return how a need was announced, by whichever lead."""
    rows = server.ask("select convert_from(data, 'UTF8') from pro0.documents where name like '%announced.json'")
    keys = [name.split() for (data,) in rows for name in json.loads(str(data))["keys"]]
    return {surface for surface, id in keys if id.startswith(need)}


def test_two_machines_work_on_one_list(founded: Team, other: OtherMachine, server: Postgres) -> None:
    """Each lead has its own members; tasks, mail and the end are the team's."""
    other("member", "spawn", "w2", "--agent", "shell")
    for number in range(1, 9):
        after = ("--blocked-by", str(number - 2)) if number > 2 else ()
        where = ("--assignee", "w1" if number % 2 else "w2")
        founded("task", "create", f"number {number}", "--run", "pwd", *where, *after)
    other("team", "wait", "--timeout", "100", seconds=300)
    tasks = founded.tasks()
    assert {task["status"] for task in tasks.values()} == {"completed"}
    homes = {"w1": str(founded.project), "w2": str(other.project)}
    assert all(task["result"].strip() == homes[task["assignee"]] for task in tasks.values())
    assert other.tasks() == tasks
    machines = founded.json("host", "list")
    fits(["host", "list"], json.dumps(machines))
    assert [(m["name"], m["here"], m["present"], m["members"]) for m in machines] == [
        ("", True, True, ["w1"]),
        ("two", False, True, ["w2"]),
    ]
    assert {member["agentId"]: member["host"] for member in founded.json("team", "status")["members"]} == {
        "w1": "",
        "w2": "two",
    }
    assert other.member("w1")["host"] == machines[0]["hostname"]
    assert "w2 runs on two, and is shown there" in founded("member", "peek", "w2", code=3).err
    assert "db_role=pro0" in founded("team", "logs").out
    founded("member", "restart", "w2", code=4)
    founded("member", "shutdown", "w2")
    assert other.state("w2") == "shutdown"
    founded("member", "restart", "w2")
    assert other.member("w2")["host"] == ""
    founded("task", "create", "what fails", "--run", "exit 3", "--assignee", "w1")
    wait_until(
        lambda: announced(server, "failed:task-9") == {"bell", "bell@two"}, 60, "the bell rings on both machines"
    )
    other("team", "stop")
    assert {founded.state("w1"), founded.state("w2")} == {"shutdown"}
    founded("team", "resume")
    assert (founded.state("w1"), founded.state("w2")) == ("idle", "shutdown")
    other("team", "resume")
    assert founded.state("w2") == "idle"
    assert "two still takes part in alpha" in _stopped(founded)("team", "cleanup", "alpha", code=4).err
    other("host", "leave", "alpha")
    assert other.json("team", "list") == []
    assert not processes_of(other.home)
    founded("team", "cleanup", "alpha")


def _stopped(team: Team) -> Team:
    team("team", "stop")
    return team


def test_a_machine_that_is_gone_ends_nobody_until_a_person_gives_it_up(founded: Team, other: OtherMachine) -> None:
    """Its claims stay; when it is back after that, what it ran ends and claims nothing."""
    other("member", "spawn", "w2", "--agent", "shell")
    founded("task", "create", "long", "--run", "sleep 600", "--assignee", "w2")
    founded.until(lambda: founded.state("w2") == "working", "it works")
    claim = founded.tasks()["task-1"]["claim"]
    dies(other.home)
    founded.until(lambda: founded.state("w2") == "unreachable", "its machine is missed")
    assert "two takes no part at present" in founded("needs").out
    assert founded.tasks()["task-1"]["claim"] == claim
    assert founded.json("host", "list")[1]["present"] is False
    shutdown = founded("member", "shutdown", "w2", "--force", "--timeout", "0", "--no-wait")
    assert shutdown.code == 0
    assert "gone: w2" in founded("host", "leave", "alpha", "--machine", "two").out
    founded.until(lambda: founded.tasks()["task-1"].get("assignee") == "w1", "the other one takes it")
    assert "two no longer takes part in this team" in other("team", "status", code=3).err
    other("team", "resume", code=3)
    other("host", "leave", "alpha")
    assert not processes_of(other.home)


def test_what_runs_on_a_machine_that_was_given_up_ends_there(
    founded: Team, other: OtherMachine, server: Postgres
) -> None:
    """A lead without its connection is no proof of an end: its sessions go on, until it hears that it was given up."""
    other("member", "spawn", "w2", "--agent", "shell")
    founded("task", "create", "long", "--run", "sleep 600", "--assignee", "w2")
    founded.until(lambda: founded.state("w2") == "working", "it works")
    stopped = psutil.Process(lead(other))
    stopped.suspend()
    refused = founded("host", "leave", "alpha", "--machine", "two", code=4)
    assert "two cannot be given up while its lead runs" in refused.err
    server.ask("select pg_terminate_backend(pid) from pg_stat_activity where application_name = "
               f"'pro0 pid {stopped.pid}'")  # fmt: skip
    wait_until(lambda: not founded.json("host", "list")[1]["present"], 20, "the server knows that it is away")
    founded("host", "leave", "alpha", "--machine", "two")
    agents = living(lambda process: "lead" not in process.cmdline(), processes_of(other.home))
    assert agents
    stopped.resume()
    wait_until(lambda: not processes_of(other.home), 30, "all of it ends")
    founded.until(lambda: founded.tasks()["task-1"]["assignee"] == "w1", "its task is another's")


def test_a_lead_that_is_killed_is_followed_on_its_own_machine(founded: Team, other: OtherMachine) -> None:
    """The duties for the whole team go to another lead meanwhile, and each task is done once."""
    other("member", "spawn", "w2", "--agent", "shell")
    done = founded.project.parent / "done"
    for number in range(1, 13):
        founded("task", "create", f"number {number}", "--run", f"echo {number} >> {done}; sleep 0.3")
    for machine in (founded, other, founded):
        os.kill(lead(machine), 9)
        machine.until(lambda machine=machine: machine.json("team", "status")["lead"]["state"] == "running", "one leads")  # type: ignore[misc]
    other("team", "wait", "--timeout", "100", seconds=300)
    assert sorted(map(int, done.read_text().split())) == list(range(1, 13))
    dies(founded.home)
    assert "task-13 is delegated" in other("delegate", "what is left", "--shared", "--run", "pwd").out
    other("team", "wait", "--timeout", "60", seconds=200)
    assert other.tasks()["task-13"]["result"].strip() == str(other.project)


@pytest.mark.usefixtures("scripts", "claudes")
def test_a_permission_is_answered_on_another_machine(request: pytest.FixtureRequest) -> None:
    """Nobody there mistakes the process that waits for a dead one: it is on the other machine."""
    founded, other = request.getfixturevalue("founded"), request.getfixturevalue("other")
    claudes = other.home.parent / "claudes"
    claudes.mkdir()
    other("member", "spawn", "w2", "--agent", "claude")
    founded.until(lambda: founded.state("w2") == "idle", "it is up", 40)
    event = {"tool_name": "Bash", "tool_input": {"command": "make build"}}
    (claudes / "w2.asks").write_text(json.dumps(event))
    id = founded.until(lambda: asked(founded), "the person is asked on both machines")
    assert "make build" in founded("member", "answer", id).out
    assert asked(other) == id
    assert "w2 has your answer: allow" in founded("member", "answer", id, "allow").out
    answer = claudes / "w2.answer"
    wait_until(answer.exists, 20, "the agent has it")
    assert json.loads(answer.read_text())["hookSpecificOutput"]["decision"] == {"behavior": "allow"}
    founded.until(lambda: not asked(other), "nobody is asked any more")
    other("member", "shutdown", "w2", "--force", "--timeout", "0")


def asked(team: Team) -> str:
    return next((str(need["request"]) for need in team.json("needs") if need.get("request")), "")


CUT = """select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid()"""


@pytest.mark.soak  # a minute: forty faults, each at a moment of its own
def test_at_drawn_moments_each_task_is_done_once(founded: Team, other: OtherMachine, server: Postgres) -> None:
    """Leads are killed, and all connections to the server cut: no task is lost, claimed twice or done twice."""
    moments, done = random.Random(19), founded.project.parent / "done"
    for name in ("w2", "w3"):
        other("member", "spawn", name, "--agent", "shell")
    for number in range(1, 121):
        after = ("--blocked-by", str(number - 3)) if number > 3 else ()
        founded("task", "create", f"number {number}", "--run", f"echo {number} >> {done}; sleep 0.2", *after)
    for _ in range(40):
        time.sleep(moments.uniform(0, 1.5))
        fault = moments.choice(("here", "there", "cut"))
        if fault == "cut":
            server.ask(CUT)
            continue
        machine = founded if fault == "here" else other
        pid = machine.json("team", "status")["lead"]["pid"]
        if pid:
            os.kill(pid, 9)
    for machine in (founded, other):
        machine("team", "resume")
    other("team", "wait", "--timeout", "300", seconds=400)
    assert {task["status"] for task in founded.tasks().values()} == {"completed"}
    assert sorted(map(int, done.read_text().split())) == list(range(1, 121))
    events = [json.loads(line) for line in founded("team", "logs", "--json", "-n", "5000").out.splitlines()]
    claims = Counter(event["task"] for event in events if event["event"] == "task.claim")
    assert set(claims.values()) == {1}


def test_a_removed_team_ends_on_every_machine(founded: Team, other: OtherMachine) -> None:
    """--force removes it although another machine takes part; what runs there ends by itself."""
    other("member", "spawn", "w2", "--agent", "shell")
    founded("team", "cleanup", "alpha", "--force")
    wait_until(lambda: not processes_of(other.home), 30, "nothing of it is left there")
    other("host", "leave", "alpha")
    assert not (other.home / "teams" / "alpha").exists()


REFUSED = [
    (("alpha", "--as", "two"), 4, "a machine called two takes part already"),
    (("beta",), 3, "there is no team beta"),
    (("alpha", "--as", "Two!"), 2, "cannot be a machine name"),
]


def test_a_database_that_is_gone_for_good_keeps_no_machine_in_a_team(
    founded: Team, other: OtherMachine, server: Postgres
) -> None:
    """By force its members end and the team is gone from it; should the database come back, it is away there."""
    other("member", "spawn", "w2", "--agent", "shell")
    assert processes_of(other.home)
    server.stop(signal.SIGQUIT)
    try:
        refused = other("host", "leave", "alpha", code=5)
        assert "cannot be reached" in refused.err
        assert "pro0 host leave alpha --force" in refused.err
        assert processes_of(other.home)
        left = other("host", "leave", "alpha", "--force")
        assert "pro0 host leave alpha --machine two" in left.err
        assert processes_of(other.home) == []
        assert other("team", "list", "--json").out == "[]\n"
    finally:
        server.start()
    assert [m["name"] for m in founded.json("host", "list") if not m["here"] and not m["present"]] == ["two"]
    assert "gone: w2" in founded("host", "leave", "alpha", "--machine", "two").out
    join(other, server, "alpha")


def test_who_cannot_join_changes_nothing(
    founded: Team, other: OtherMachine, server: Postgres, cli: Cli, tmp_path: Path
) -> None:
    third = OtherMachine(cli, tmp_path / "three")
    before = founded.json("host", "list")
    for words, code, reason in REFUSED:
        assert reason in third("host", "join", server.url(server.latest), *words, code=code).err
    assert third.json("team", "list") == []
    assert founded.json("host", "list") == before


def test_a_team_in_files_is_shared_by_nobody(team: Team) -> None:
    team.start("headless")
    said = team("host", "list", code=2).err
    assert "stored in files on this machine" in said
    assert "pro0 store copy alpha" in said


def test_a_member_may_neither_join_nor_leave(founded: Team, other: OtherMachine) -> None:
    """Its machine's part is a person's to end."""
    other("member", "spawn", "w2", "--agent", "shell")
    other("task", "create", "leave", "--run", "pro0 host leave alpha --force 2>&1; echo $?", "--assignee", "w2")
    other("team", "wait", "--timeout", "60", seconds=200)
    result = other.tasks()["task-1"]["result"]
    assert result.strip().endswith("4"), result
    assert "only a person may" in result
    assert json.loads(other("host", "list", "--json").out)[1]["present"]
