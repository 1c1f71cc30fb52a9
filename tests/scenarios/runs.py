"""`pro0 run` as a person uses it: in one terminal the run, in a second one the answers."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pro0.model.caller import THE_HUMAN
from pro0.model.task import Draft, Task
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.store.teams import Store
from tests.conftest import Result
from tests.engine.crew import PATIENCE
from tests.leftovers import processes_under
from tests.waiting import wait_until

PROGRAM = Path(__file__).parents[1] / "programs" / "turn.py"
DONE = "It is done.\n<promise>COMPLETE</promise>"
FEEDBACK = "## Human Feedback"


def hands_off(kind: str, why: str = "please look") -> str:
    """A last message that hands a task to a person."""
    return f"I am through.\n<promise>{kind}: {why}</promise>"


def below(prompt: str, heading: str) -> str:
    """What stands below a heading of a prompt."""
    return prompt.partition(f"{heading}\n")[2].partition("\n## ")[0]


class Terminal:
    """The team alpha of a project, its person, and a scripted agent."""

    def __init__(self, cli: Callable[..., Result], home: Path, folder: Path) -> None:
        self._cli = cli
        self.home = home
        self.project = folder / "project"
        self.folder = folder / "agent"
        for made in (self.project, self.folder / "prompts"):
            made.mkdir(parents=True)
        self.runs: list[subprocess.Popen[str]] = []

    def pro0(self, *words: str, code: int = 0) -> Result:
        """Type one command."""
        done = self._cli(*words, cwd=self.project)
        assert done.code == code, (words, done)
        return done

    def create(self, title: str, *words: str) -> str:
        """Make a task; return its id."""
        return self.pro0("task", "create", title, "-o", "name", *words).out.strip()

    def give(self, *drafts: Draft) -> list[str]:
        """Make tasks without typing; return their ids."""
        return [task.id for task in tasks.create(self.context, drafts)]

    def script(self, **turns: list[object]) -> None:
        """Say what the agent does: by task id, _ in place of -, `others` for all others."""
        named = {("*" if name == "others" else name.replace("_", "-")): turns[name] for name in turns}
        part = self.folder / "script.part"
        part.write_text(json.dumps(named), encoding="utf-8")
        part.rename(self.folder / "script.json")

    def run(self, *words: str, program: bool = True) -> "subprocess.Popen[str]":
        """Start `pro0 run` with the scripted agent; what it says is in out.N."""
        agent = ("--", sys.executable, str(PROGRAM), str(self.folder)) if program else ()
        with self._output(len(self.runs)).open("w") as output:
            started = subprocess.Popen(
                [sys.executable, "-m", "pro0", "run", *words, *agent],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                text=True,
                cwd=self.project,
            )
        self.runs.append(started)
        return started

    def seen(self, *words: str) -> str:
        """Run the scripted agent on a terminal to its end; return all that was drawn there."""
        ours, theirs = pty.openpty()
        argv = [sys.executable, "-m", "pro0", *words, "--", sys.executable, str(PROGRAM), str(self.folder)]
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "120", "LINES": "30"}
        run = subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, cwd=self.project, env=environment)
        os.close(theirs)
        drawn = b""
        with suppress(OSError):  # EIO: the other side is closed
            while select.select([ours], [], [], PATIENCE)[0] and (part := os.read(ours, 65536)):
                drawn += part
        os.close(ours)
        assert run.wait(timeout=PATIENCE) == 0, drawn
        return drawn.decode()

    def over(self, run: "subprocess.Popen[str]", code: int = 0) -> str:
        """Wait until a run is over; return what it said."""
        ended = run.wait(timeout=PATIENCE)
        said = self.said(run)
        assert ended == code, said
        return said

    def said(self, run: "subprocess.Popen[str]") -> str:
        """What a run has said so far."""
        return self._output(self.runs.index(run)).read_text()

    def says(self, run: "subprocess.Popen[str]", words: str) -> None:
        """Wait until a run says this."""
        wait_until(lambda: words in self.said(run), PATIENCE, f"it says {words!r}")

    def task(self, id: str) -> Task:
        """A task as it is now."""
        return tasks.show(self.context, id)

    def status(self, id: str) -> str:
        """Its status, or what it waits for."""
        task = self.task(id)
        return f"awaiting {task.waits.kind}" if task.waits else str(task.status)

    def becomes(self, id: str, status: str) -> None:
        """Wait until a task is there."""
        wait_until(lambda: self.status(id) == status, PATIENCE, f"{id} is {status}")

    def prompts(self, id: str) -> list[str]:
        """What the agent was told about a task, turn by turn."""
        found = sorted((self.folder / "prompts").glob(f"{id}.*"), key=lambda path: int(path.suffix[1:]))
        return [path.read_text() for path in found]

    def log(self) -> list[list[str]]:
        """What the agent has noted: begin or end, task, pid."""
        path = self.folder / "log"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def ran(self) -> list[str]:
        """The tasks that were begun, in that order."""
        return [words[1] for words in self.log() if words[0] == "begin"]

    def agents(self) -> list[str]:
        """The agents and runners that live."""
        found = [" ".join(left.argv) for left in processes_under(self.home)]
        return [argv for argv in found if PROGRAM.name in argv or "pro0.runner" in argv]

    def nothing_runs(self) -> None:
        """Wait until neither a runner nor an agent of it is left."""
        wait_until(lambda: not self.agents(), PATIENCE, "no agent is left")

    def end(self) -> None:
        """End all that is left."""
        for run in self.runs:
            if run.poll() is None:
                run.send_signal(signal.SIGKILL)
                run.wait()
        if Store(self.home).names():
            self._cli("team", "stop", "--timeout", "0", "--force", cwd=self.project)
            self._cli("team", "cleanup", "--force", cwd=self.project)

    def _output(self, number: int) -> Path:
        return self.folder / f"out.{number}"

    @property
    def context(self) -> Context:
        """The person, at the team."""
        [name] = Store(self.home).names()
        return Context(Store(self.home).team(name), THE_HUMAN)
