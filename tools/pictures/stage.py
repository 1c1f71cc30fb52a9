"""The team in the pictures: a scratch home and project, stand-ins for the agents, and a person's terminal."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from tools.pictures.agent import RECORDED

ROOT = Path(__file__).parents[2]
PRO0 = str(Path(sys.executable).with_name("pro0"))
PATIENCE = 300
"""Seconds after which a wait is given up."""
PROJECT = "parser"
GIT = ("git", "-c", "user.name=Ann", "-c", "user.email=ann@example.com")


class Stage:
    """A folder with the home, the project and the stand-ins, and the ways to act on them."""

    def __init__(self, folder: Path, jobs: Mapping[str, Mapping[str, str]]) -> None:
        self.home, self.project = folder, folder / PROJECT
        self.environment, self.begun = _environment(folder), datetime.now(UTC)
        programs = folder / "bin"
        for place in (self.project, programs, folder / ".pro0"):
            place.mkdir(mode=0o700)
        for agent in RECORDED:
            (programs / agent).write_text(
                f'#!/bin/sh\nexec {sys.executable} {Path(__file__).with_name("agent.py")} {agent} "$@"\n'
            )
            (programs / agent).chmod(0o755)
        (folder / ".pro0" / "config.yaml").write_text("verdicts: scripts\n")
        (folder / "jobs.json").write_text(json.dumps(jobs))
        for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "begin")):
            subprocess.run([*GIT, *words], check=True, cwd=self.project, env=self.environment)

    def pro0(self, *words: str) -> str:
        """Run a command of pro0 as the person, and return what it prints."""
        command = [PRO0, *words]
        return subprocess.run(
            command, check=True, cwd=self.project, env=self.environment, capture_output=True, text=True
        ).stdout

    def program(self, name: str, script: str) -> None:
        """Put a program into the project."""
        (self.project / name).write_text(script, encoding="utf-8")
        (self.project / name).chmod(0o755)

    def signal(self, name: str) -> None:
        """Make the file of this name, for which a stand-in waits."""
        (self.home / name).touch()

    def members(self, **states: str) -> None:
        """Wait until the members are in these states."""
        until(lambda: self._states() == states, f"the states {states}", self._states)

    def _states(self) -> dict[str, str]:
        status = json.loads(self.pro0("team", "status", "--json"))
        return {member["name"]: member["state"] for member in status["members"]}


class Terminal:
    """A terminal of this size in which a person types."""

    def __init__(self, stage: Stage, columns: int, lines: int, command: str) -> None:
        self.stage = stage
        self.server = ["tmux", "-S", f"{stage.home}/outer", "-f", "/dev/null"]
        size = ("-x", str(columns), "-y", str(lines))
        start = [*self.server, "new-session", "-d", *size, command, ";", "set-option", "-g", "status", "off"]
        subprocess.run(start, check=True, env=stage.environment, cwd=stage.project)

    def type(self, text: str) -> None:
        """Type a text."""
        subprocess.run([*self.server, "send-keys", "-l", "--", text], check=True)

    def press(self, *keys: str) -> None:
        """Press keys by their names."""
        for key in keys:
            subprocess.run([*self.server, "send-keys", key], check=True)

    def screen(self) -> str:
        """Return what the terminal shows, with its colours."""
        command = [*self.server, "capture-pane", "-ep"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def close(self) -> None:
        """End the terminal and what runs in it."""
        subprocess.run([*self.server, "kill-server"], check=False, capture_output=True)


@contextmanager
def staged(jobs: Mapping[str, Mapping[str, str]]) -> Iterator[Stage]:
    """Yield a stage; afterwards remove its team and its folder."""
    folder = Path(tempfile.mkdtemp(prefix="pro0-", dir="/tmp"))
    stage = Stage(folder, jobs)
    try:
        yield stage
    finally:
        command = [PRO0, "team", "cleanup", PROJECT, "--force"]
        subprocess.run(command, cwd=stage.project, env=stage.environment, capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def until(holds: Callable[[], bool], what: str, shown: Callable[[], object]) -> None:
    """Wait until `holds` is true; after PATIENCE, raises SystemExit with what is shown instead."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit(f"{what} did not come, but:\n{shown()}")
        time.sleep(0.1)


def _environment(folder: Path) -> dict[str, str]:
    own = {
        "PRO0_HOME": f"{folder}/.pro0",
        "HOME": str(folder),
        "PATH": os.pathsep.join((f"{folder}/bin", str(Path(PRO0).parent), os.environ["PATH"])),
        "PRO0_TEAM": PROJECT,
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "TMUX_TMPDIR": str(folder),
    }
    dropped = ("PRO0_", "TMUX", "NO_COLOR", "CI", "LC_")
    return {name: value for name, value in os.environ.items() if not name.startswith(dropped)} | own
