"""A project, and the program driven as a person drives it."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest

from tests import sshd
from tests.conftest import Result
from tests.living import living
from tests.sshd import Machine
from tests.waiting import wait_until

Cli = Callable[..., Result]
Found = TypeVar("Found")


class Team:
    """One team, seen and touched through the program alone."""

    def __init__(self, cli: Cli, project: Path, home: Path, name: str = "alpha") -> None:
        self.cli = cli
        self.project = project
        self.home = home
        self.name = name

    def __call__(self, *arguments: str, code: int = 0, **options: Any) -> Result:
        """Run a command in the project and expect this exit code."""
        result = self.cli(*arguments, cwd=self.project, **options)
        assert result.code == code, (arguments, result)
        assert "Traceback" not in result.err
        return result

    def json(self, *arguments: str) -> Any:
        """Run a reading command and return what it printed."""
        return json.loads(self(*arguments, "--json").out)

    def start(self, mode: str, *members: str) -> None:
        """Start the team with shell members; a mode such as `tmux@build1` has them on that machine."""
        shown, at, host = mode.partition("@")
        words = [word for member in members for word in ("-m", f"{member}=shell{at}{host}")]
        self("team", "start", self.name, "--detach", "--mode", shown, "--lead", "none", *words)

    def member(self, name: str) -> dict[str, Any]:
        """Return one member as `team status --json` shows it."""
        members: list[dict[str, Any]] = self.json("team", "status")["members"]
        return next(member for member in members if member["agentId"] == name)

    def state(self, name: str) -> str:
        """Return the state of one member."""
        return str(self.member(name)["state"])

    def tasks(self) -> dict[str, dict[str, Any]]:
        """Return all tasks by id."""
        return {task["id"]: task for task in self.json("task", "list")}

    def mail(self, sender: str | None = None) -> list[str]:
        """Return the texts of all that the person ever got, or of all from one sender."""
        letters = [letter["message"] for letter in self.json("inbox", "--all")]
        return [message["content"] for message in letters if sender in (None, message["from"])]

    def until(self, condition: Callable[[], Found], what: str, seconds: float = 20) -> Found:
        """Wait for something to become true, and return it; most look by starting the program, so not all the time."""
        return wait_until(condition, seconds, what, every=0.2)

    def worker(self) -> str:
        """Wait until some member works on a task, and return it."""
        busy = wait_until(lambda: [m for m in self.json("team", "status")["members"] if m["task"]], 20, "one works")
        return str(busy[0]["agentId"])

    def end(self) -> None:
        """Remove the team, whatever state it is in."""
        self.cli("team", "cleanup", self.name, "--force", cwd=self.project)


@pytest.fixture
def team(cli: Cli, home: Path, tmp_path: Path) -> Iterator[Team]:
    """A team in a git repository of its own, removed afterwards."""
    project = tmp_path / "project"
    project.mkdir()
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    team = Team(cli, project, home)
    yield team
    team.end()


def kill(pid: int) -> None:
    """End one process at once."""
    os.kill(pid, signal.SIGKILL)


def tmux_server(home: Path) -> int:
    """Return the pid of the tmux server whose socket is below the test's TMUX_TMPDIR."""
    folder = os.environ["TMUX_TMPDIR"]
    found = living(lambda process: "tmux: server" in process.name() and _below(process, folder))
    assert len(found) == 1, found
    return int(found[0].pid)


def _below(process: psutil.Process, folder: str) -> bool:
    try:
        return any(str(connection.laddr).startswith(folder) for connection in process.net_connections("unix"))
    except psutil.Error:
        return False


@pytest.fixture
def build1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "2")
    with sshd.machine(tmp_path / "build1") as made:
        made.install()
        monkeypatch.setenv("PRO0_SSH", made.ssh)
        yield made


@pytest.fixture
def led(build1: Machine, team: Team) -> Team:
    """A team, which is removed before the machine's sshd ends."""
    team("team", "start", team.name, "--detach", "--mode", "in-process", "--lead", "none")
    return team
