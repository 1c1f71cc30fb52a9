"""A team inside a person's own tmux, beside much that looks like it; none of that is touched (issue 3, must show 9).

The project's path, a window, a member and its title are written so that tmux would run a part of them.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pro0.sessions.backend import Place
from tests.bystanders import somebodys_tmux
from tests.conftest import Result
from tests.contracts.stages import RECORDER, InsideStage
from tests.crash.lanes import TEST, counted
from tests.engine.crew import Crew, crew
from tests.waiting import STUCK, wait_until
from tests.world import World, changes, world

SECONDS = STUCK
NAMES = ("alpha", "alpha-2", "al", "pro0", "pro0-alpha", "pro0-team-alpha")
STRANGER = """
import signal, sys
def note(number, _):
    with open(sys.argv[1], "a") as heard:
        heard.write(f"{number} ")
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, note)
print("here", flush=True)
while True:
    signal.pause()
"""
LOOK_ALIKES = (
    {"PRO0_TEAM": "alpha", "PRO0_AGENT_ID": "w1", "PRO0_HOME": "/nowhere"},
    {"PRO0_TEAM_UID": "00000000-0000-4000-8000-000000000000", "PRO0_INCARNATION": "inc"},
    {"PRO0_TEAM": "alpha", "PRO0_LEAD": "1", "PRO0_HOME": "/nowhere"},
)


class Neighbours:
    """Whatever is not the team's: a person's panes that record, another server, another home, and processes."""

    def __init__(self, folder: Path, other: Crew, stack: ExitStack) -> None:
        self.stage = InsideStage(folder)
        stack.callback(self.stage.leave)
        self.other = other
        self.folder = folder
        self.heard = folder / "heard"
        self.heard.touch()
        self.records = [self._recorder(number, name) for number, name in enumerate(NAMES)]
        self.strangers = [self._stranger(variables, stack) for variables in LOOK_ALIKES]
        self.folders = (other.store.home, other.project, Path(os.environ["HOME"]))

    def _recorder(self, number: int, name: str) -> Path:
        record = self.folder / f"record-{number}"
        record.touch()
        self.stage.tmux(
            "new-session", "-d", "-s", name, "-n", "pro0-alpha", sys.executable, "-c", RECORDER, str(record)
        )
        wait_until(lambda: "ready" in self.stage.tmux("capture-pane", "-p", "-t", f"={name}:"), SECONDS, "it records")
        return record

    def _stranger(self, variables: dict[str, str], stack: ExitStack) -> "subprocess.Popen[str]":
        argv = ["claude", "-c", STRANGER, str(self.heard)]
        environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **variables}
        stranger = subprocess.Popen(
            argv, executable=sys.executable, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
        )
        stack.enter_context(stranger)
        stack.callback(stranger.send_signal, signal.SIGKILL)
        assert stranger.stdout
        assert stranger.stdout.readline() == "here\n"
        return stranger

    def look(self) -> World:
        """Return how they are, but for what the other team, which is at work, writes itself."""
        files = world(*self.folders).items()
        found = {what: how for what, how in files if what.startswith("file") and "/alpha/" not in what}
        found["panes"] = self.stage.bystanders()
        found["other server"] = subprocess.run(
            ["tmux", "-L", "pro0-person", "list-panes", "-a"], capture_output=True, text=True, check=True
        ).stdout
        found["other team"] = str((self.other.pids(), self.other.left()))
        found["strangers"] = str([stranger.poll() for stranger in self.strangers]) + self.heard.read_text()
        return found | {str(record): str(record.read_bytes()) for record in self.records}


class Person:
    """Somebody in that tmux, who runs commands and looks around after each."""

    def __init__(self, cli: Callable[..., Result], project: Path, neighbours: Neighbours) -> None:
        self._cli = cli
        self._project = project
        self._neighbours = neighbours
        self._environment = {"TMUX": neighbours.stage.place.inside_tmux, "TMUX_PANE": "%0"}
        self._before = neighbours.look()
        self.commands = 0

    def start(self, home: Path) -> None:
        """Start the team, whose windows are its own from now on."""
        members = ("--lead", "none", "-m", "w1=shell", "-m", "w2=shell")
        self.run("team", "start", "alpha", "--detach", "--mode", "tmux", *members)
        uid = json.loads((home / "teams" / "alpha" / "config.json").read_bytes())["uid"]
        stage = self._neighbours.stage
        stage.place = Place("alpha", uid, self._project, stage.place.inside_tmux)

    def run(self, *argv: str) -> None:
        """Run a command."""
        done = self._cli(*argv, cwd=self._project, env=self._environment)
        assert done.code == 0, (argv, done)

    def __call__(self, *argv: str) -> None:
        """Run a command, and see that nobody else noticed."""
        self.run(*argv)
        assert changes(self._before, self._neighbours.look()) == [], argv
        self.commands += 1


@pytest.fixture
def neighbours(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Neighbours]:
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    monkeypatch.setenv("PRO0_HOME", str(tmp_path / "other"))
    (tmp_path / "theirs").mkdir()
    with ExitStack() as stack:
        stack.enter_context(somebodys_tmux("alpha", "pro0-alpha"))
        other = stack.enter_context(crew(tmp_path / "other", tmp_path / "theirs", "headless"))
        other.lead()
        other.spawn("w1", "w2")
        monkeypatch.setenv("PRO0_HOME", str(home))
        yield Neighbours(tmp_path, other, stack)


@pytest.fixture
def person(neighbours: Neighbours, cli: Callable[..., Result], home: Path, tmp_path: Path) -> Iterator[Person]:
    project = tmp_path / "#(touch ran)#{pid}"
    project.mkdir()
    person = Person(cli, project, neighbours)
    person.start(home)
    yield person
    cli("team", "cleanup", "alpha", "--force", cwd=project)


def test_nobody_else_is_touched(person: Person, tmp_path: Path) -> None:
    record = tmp_path / "ours"
    person("doctor")
    person("member", "spawn", "prog", "--nudge", "--", sys.executable, "-c", RECORDER, str(record))
    person("send", "prog", "#(touch ran)")
    wait_until(lambda: record.exists() and b"unread" in record.read_bytes(), SECONDS, "the line arrives")
    person("task", "create", "#(touch ran)", "--run", shlex.join(["echo", "#(touch ran)"]))
    person("team", "wait", "--timeout", "30")
    person("doctor", "--repair", "--yes")
    person("member", "shutdown", "w1", "--force", "--timeout", "5")
    person("team", "stop", "--force", "--timeout", "5")
    person("doctor", "--repair", "--yes")
    person("team", "cleanup", "alpha")
    person("doctor", "--repair", "--yes")
    assert list(tmp_path.rglob("ran")) == []
    counted(TEST, "bystanders", "commands", person.commands)
