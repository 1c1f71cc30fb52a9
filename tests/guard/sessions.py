"""Starting guards in tests as a lead would, and reading what they report."""

import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import msgspec

from pro0 import processes, resources
from pro0.model.runtime import Launch, Process, Report
from tests.processes.families import TAG
from tests.waiting import wait_until

PATH = "/usr/local/bin:/usr/bin:/bin"
STRICT = msgspec.json.Decoder(Report)


class Session:
    """One guard with its agent, in folders of its own."""

    def __init__(self, folder: Path) -> None:
        self.incarnation = str(uuid.uuid4())
        self.team_uid = str(uuid.uuid4())
        self.reports = folder / "sessions"
        self.reports.mkdir(mode=0o700)
        self.cwd = folder / "project"
        self.cwd.mkdir()
        self.file = self.reports / f"{self.incarnation}.json"
        self.launch_file = self.reports / f"{self.incarnation}.start.json"
        self.guard: subprocess.Popen[bytes] | None = None
        self.log: int | None = None

    def launch(self, argv: list[str], **changes: object) -> Launch:
        """Return what is to be started, with a short grace."""
        usual = Launch(
            agent_id="ann",
            incarnation=self.incarnation,
            team="band",
            team_uid=self.team_uid,
            argv=tuple(argv),
            cwd=str(self.cwd),
            env={"PATH": PATH},
            report=str(self.file),
            grace=0.3,
        )
        return msgspec.structs.replace(usual, **changes)

    def prepare(self, argv: list[str], **changes: object) -> tuple[str, ...]:
        """Write the launch file and return the guard's argv."""
        self.launch_file.touch(0o600)
        self.launch_file.write_bytes(msgspec.json.encode(self.launch(argv, **changes)))
        return resources.guard_argv(self.launch_file)

    def start(self, argv: list[str], **changes: object) -> "subprocess.Popen[bytes]":
        """Start the guard, in a session of its own as in a pane, but without a terminal."""
        command = self.prepare(argv, **changes)
        self.guard = subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL, stdout=self.log)
        return self.guard

    def report(self) -> Report:
        """Return the report as it is now."""
        return STRICT.decode(self.file.read_bytes())

    def reported(self, condition: Callable[[Report], object], what: str, seconds: float = 10) -> Report:
        """Wait until the report is as it should be, and return it."""
        wait_until(lambda: self.file.exists() and condition(self.report()), seconds, f"the report shows {what}")
        return self.report()

    def agent(self) -> Process:
        """Wait for the agent and return it."""
        found = self.reported(lambda report: report.agent, "the agent").agent
        assert found
        return found

    def tagged(self) -> list[Process]:
        """Return who carries this session's tag."""
        return processes.tagged(TAG, [self.incarnation])[self.incarnation]

    def clean(self) -> None:
        """End what is left of it."""
        below = processes.descendants(self.guard.pid) if self.guard else []
        known = {process.pid: process for process in below}
        if self.guard:
            self.guard.kill()
            self.guard.wait()
        processes.end(lambda: [*filter(processes.alive, known.values()), *self.tagged()], 0)


def python(program: str) -> list[str]:
    """Return the argv of a small Python program."""
    return [sys.executable, "-I", "-S", "-c", program]
