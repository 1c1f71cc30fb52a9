"""The checks of `pro0 doctor` on this machine: Python, tmux, git, agents, settings."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

import msgspec

from pro0.agents import adapter_named, defined
from pro0.agents.adapter import Adapter
from pro0.cli.agent.programs import look, switched_off, unproved
from pro0.config import Settings
from pro0.errors import EnvironmentMissing, Pro0Error
from pro0.model.agent import AGENTS
from pro0.ops import proofs, trust, verdicts
from pro0.ops.tasks import hooks
from pro0.ops.team import project
from pro0.sessions.iterm2 import it2
from pro0.sessions.starting import surroundings
from pro0.store import paths
from pro0.store.mending import MENDABLE
from pro0.terminals.ghostty import Ghostty
from pro0.terminals.library import VERSION, how_to_mend, library

SHELL = "/bin/sh"
OLDEST_PYTHON = (3, 11)
OLDEST_TMUX = (3, 2)
OLDEST_GIT = (2, 38)
"""The first version that can predict a merge without doing it (merge-tree --write-tree)."""
PATIENCE = 10.0
"""Seconds that a program may take to answer."""


class Health(StrEnum):
    """How a check came out; only a fail makes the exit code 1."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Check(msgspec.Struct, frozen=True):
    """One finding, and the next step."""

    name: str
    verdict: Health
    found: str
    mend: str = ""
    team: str = ""


def machine() -> Iterator[Check]:
    """Check the programs on this machine that pro0 needs."""
    version = ".".join(map(str, sys.version_info[:3]))
    old = sys.version_info[:2] < OLDEST_PYTHON
    yield Check("python", Health.FAIL if old else Health.OK, version, "install Python 3.11 or newer" if old else "")
    tmux = _program("tmux", "-V", OLDEST_TMUX, "install tmux 3.2 or newer; without it the mode tmux does not work")
    yield _serves(tmux) if tmux.verdict is Health.OK else tmux
    yield _program(
        "git", "--version", OLDEST_GIT, "install git 2.38 or newer; without it members cannot have worktrees"
    )
    yield _draws()
    yield _iterm2()
    for name in AGENTS:
        yield _agent(name)


def settings(home: Path, folder: Path) -> Iterator[Check]:
    """Check the settings in force in a folder, and the agents that they define."""
    try:
        config = trust.settings(home, project.root(folder), os.environ)
        waiting = trust.withheld(home, project.root(folder))
    except Pro0Error as error:
        mend = _next_step(error) or "correct it; `pro0 config` shows them all"
        yield Check("settings", Health.FAIL, error.message, mend)
        return
    waiting_text = f"; waiting for `pro0 config trust`: {', '.join(waiting)}" if waiting else ""
    yield Check("settings", Health.OK, f"can be read{waiting_text}")
    with suppress(Pro0Error):  # the checks of the home report a damaged PIN
        yield _verdicts(home, config)
    yield from _hooks(home, project.root(folder))
    for name, definition in sorted(config.agents.items()):
        yield _installed(defined(name, definition))


def _next_step(error: Pro0Error) -> str:
    """Return what to do about an error; a hint to run the doctor is replaced, since this is the doctor."""
    return "see the check of that file below" if error.code in MENDABLE else error.hint or ""


def _hooks(home: Path, folder: Path) -> Iterator[Check]:
    """Check that the programs of the hooks in force are installed: a missing one keeps its gate closed."""
    for event, commands in hooks.in_force(home, folder).items():
        for command in commands:
            if missing := _missing(command, folder):
                mend = f"install it, or remove the hook from the settings (hooks, {event})"
                yield Check(f"hook {event}", Health.FAIL, f"{missing} is not found: {command}", mend)


def _missing(command: str, folder: Path) -> str:
    """Return the program of a command line if it is missing, as far as that is known without running it."""
    try:
        program = shlex.split(command)[:1]
    except ValueError:
        return ""
    plain = program and re.fullmatch(r"[\w./+@-]+", program[0])
    asks = ["/bin/sh", "-c", 'command -v -- "$1"', "sh", *program]
    if not plain or subprocess.run(asks, cwd=folder, check=False, capture_output=True).returncode == 0:
        return ""
    return program[0]


def _verdicts(home: Path, config: Settings) -> Check:
    """Report how a person's verdicts are proved, and suggest a PIN when none is set."""
    if verdicts.has_pin(home):
        return Check("verdicts", Health.OK, "ask for your PIN, on a terminal")
    givers = "any program of yours can give them" if config.verdicts == "scripts" else "need a terminal"
    return Check("verdicts", Health.OK, f"{givers}; `pro0 verdict pin` protects them with a PIN")


def _program(name: str, argument: str, oldest: tuple[int, int], mend: str) -> Check:
    path = shutil.which(name)
    if path is None:
        return Check(name, Health.WARN, "not installed", mend)
    try:
        version = subprocess.run(
            [path, argument], capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=True
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        return Check(name, Health.WARN, f"{path} does not answer: {error}", mend)
    numbers = re.search(r"(\d+)\.(\d+)", version)
    if numbers and (int(numbers[1]), int(numbers[2])) < oldest:
        return Check(name, Health.WARN, version, mend)
    return Check(name, Health.OK, version)


def _serves(check: Check) -> Check:
    """Check that a temporary tmux server on its own socket starts and ends."""
    try:
        folder = tempfile.mkdtemp(prefix="pro0-doctor-", dir="/tmp")
    except OSError as error:
        text = f"{check.found}, but no server was tried: no folder can be made in /tmp: {error.strerror}"
        return Check(check.name, Health.WARN, text, "free some space in /tmp, and make sure that you may write there")
    server = ["tmux", "-f", "/dev/null", "-S", f"{folder}/s"]
    try:
        _quietly([*server, "new-session", "-d", "sleep 60"])
        _quietly([*server, "kill-server"])
    except (OSError, subprocess.SubprocessError) as error:
        why = getattr(error, "stderr", None) or str(error)
        mend = "start tmux by hand and see what it says; without it the mode tmux does not work"
        return Check(check.name, Health.WARN, f"{check.found}, but a server does not start: {why.strip()}", mend)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Check(check.name, Health.OK, f"{check.found}, a server starts and ends")


def _draws() -> Check:
    """Check that the screen model of the mode in-process is installed and draws."""
    name = "in-process"
    try:
        path = library()
        screen = Ghostty(str(path), 20, 2, 0, lambda _answer: None)
        screen.feed(b"pro0")
        drawn = screen.rows()[0]
        screen.close()
    except (OSError, AttributeError, EnvironmentMissing) as error:
        mend = f"{how_to_mend()}; without it the mode in-process does not work"
        return Check(name, Health.WARN, error.message if isinstance(error, EnvironmentMissing) else str(error), mend)
    if drawn != "pro0":
        return Check(name, Health.WARN, f"{path} draws {drawn!r} for 'pro0'", how_to_mend())
    return Check(name, Health.OK, f"pyghostty {VERSION}, a terminal draws")


def _iterm2() -> Check:
    """Check the connection to iTerm2; outside iTerm2 none is needed."""
    try:
        it2.verify(os.environ)
    except EnvironmentMissing as error:
        inside = bool(it2.own_session(os.environ))
        return Check("iterm2", Health.WARN if inside else Health.OK, error.message, (inside and error.hint) or "")
    return Check("iterm2", Health.OK, "it2 reaches this terminal")


def _quietly(argv: list[str]) -> None:
    environment = surroundings() | {"TERM": "xterm"}
    subprocess.run(
        argv, env=environment, capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=True
    )


def _agent(name: str) -> Check:
    """Check an agent's requirements; an agent that is not installed counts as ok."""
    adapter = adapter_named(name)
    if adapter.program:
        return _installed(adapter)
    needed = [sys.executable, SHELL] if name == "shell" else [sys.executable]
    if missing := [path for path in needed if not os.access(path, os.X_OK)]:
        return Check(f"agent {name}", Health.FAIL, f"{missing[0]} cannot be run", "install pro0 again")
    return Check(f"agent {name}", Health.OK, f"{' and '.join(needed)} can be run")


def _installed(adapter: Adapter) -> Check:
    name = f"agent {adapter.name}"
    try:
        program = look(adapter, proofs.known(paths.home(os.environ)))
    except Pro0Error as error:
        return Check(name, Health.FAIL, error.message, _next_step(error))
    if not program.path:
        return Check(name, Health.OK, "not installed; only members that run it need it")
    if program.missing:
        return Check(name, Health.WARN, program.missing[0], f"see what `{adapter.program} --version` says")
    if unproved(program):
        return Check(name, Health.WARN, unproved(program), f"try it: pro0 agent prove {adapter.name}")
    if program.off:
        return Check(name, Health.WARN, switched_off(program), f"once it is fixed: pro0 agent prove {adapter.name}")
    return Check(name, Health.OK, f"{program.version}, {program.path}")
