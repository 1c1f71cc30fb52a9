"""The program under test as a person drives it, by its command line alone.

It is pro0 of this installation, or the one in the .venv of another checkout, which PRO0_BREAKS_PROGRAM names by its
absolute path; `python -m tools.before` runs them against both. These tests import nothing of pro0, so that they run
against any of its versions.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conftest import Result
from tests.forks import start_in_terminal
from tests.view.person import Person
from tests.waiting import STUCK

NAMED = os.environ.get("PRO0_BREAKS_PROGRAM", "")
PRO0 = Path(NAMED or Path(sys.executable).with_name("pro0"))
SOURCE = PRO0.parents[2] if NAMED else Path(__file__).parents[2]
"""The checkout that the program is of, with its pages."""
PATIENCE = 20.0 if NAMED else STUCK
"""Seconds for what a finding misses: of an older version it is known that it does not come."""


class Program:
    """The program in one project, in which it has at most the team alpha."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.home = Path(os.environ["PRO0_HOME"])

    def run(self, *words: str, stdin: str = "", **environment: str) -> Result:
        """Run a command without a terminal."""
        done = subprocess.run(
            [PRO0, *words],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=self.project,
            env=os.environ | environment,
            timeout=STUCK,
            start_new_session=True,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def __call__(self, *words: str, stdin: str = "", **environment: str) -> str:
        """Run a command that is to succeed, and return all that it said."""
        done = self.run(*words, stdin=stdin, **environment)
        assert done.code == 0, f"pro0 {' '.join(words)}: {done}"
        return done.out + done.err

    def json(self, *words: str) -> Any:
        """Run a reading command, and return what it printed."""
        done = self.run(*words, "--json")
        assert done.code == 0, f"pro0 {' '.join(words)}: {done}"
        return json.loads(done.out)

    def typed(self, *words: str) -> Result:
        """Run a command in a terminal, as a person who gives a verdict."""
        there = ("sh", "-c", 'cd "$0" && exec "$@"', str(self.project))
        child, terminal = start_in_terminal([*there, str(PRO0), *words], os.environ | {"TERM": "xterm-256color"})
        said = b""
        while part := _part(terminal):
            said += part
        _, status = os.waitpid(child, 0)
        os.close(terminal)
        return Result(os.waitstatus_to_exitcode(status), said.decode(errors="replace").replace("\r\n", "\n"), "")

    def start(self, *words: str, mode: str = "headless") -> str:
        """Start the team."""
        return self("team", "start", "alpha", "--detach", "--mode", mode, *words)

    def terminal(self, *words: str, columns: int = 100, lines: int = 24, before: str = "env -u TMUX") -> Person:
        """Return a terminal in which a command runs."""
        return Person(self.project, f"{before} {PRO0} {' '.join(words)}", columns, lines)

    def view(self, *members: str) -> Person:
        """Return a terminal in which the team is started, and shown."""
        words = [word for member in members for word in ("-m", member)]
        return self.terminal("team", "start", "alpha", "--mode", "in-process", "--lead", "none", *words)

    def member(self, name: str) -> dict[str, Any]:
        """Return one member as the status shows it."""
        members: list[dict[str, Any]] = self.json("team", "status")["members"]
        return next((member for member in members if member["agentId"] == name), {"state": ""})

    def task(self, id: str) -> dict[str, Any]:
        """Return one task."""
        shown: dict[str, Any] = self.json("task", "show", id)
        return shown

    def settings(self, text: str) -> None:
        """Write the person's settings."""
        self.home.mkdir(mode=0o700, exist_ok=True)
        (self.home / "config.yaml").write_text(text)

    def script(self, name: str, text: str) -> Path:
        """Write a program that is found by its name, in which $PRO0 is the program under test."""
        path = self.project.parent / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\nPRO0={PRO0}\n{text}")
        path.chmod(0o755)
        return path

    def pages(self) -> str:
        """Return all that the checkout's pages say."""
        found = [*SOURCE.glob("*.md"), *(SOURCE / "docs").rglob("*.md")]
        return "\n".join(path.read_text(encoding="utf-8") for path in found if path.name != "mutants.md")


def _part(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # Linux's word for the end
        return b""


def comes(condition: Callable[[], object], every: float = 0.1) -> bool:
    """Wait for what a finding misses, and return whether it came."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(every)
    return True


def needs_you(status: str) -> str:
    """Return what `team status` has under needs you, empty when nothing."""
    _, _, found = status.partition("needs you")
    return re.split(r"\n\s*\n", found)[0]
