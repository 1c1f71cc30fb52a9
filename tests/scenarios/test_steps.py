"""`kill -9` at every step of start, spawn, stop and cleanup, of the command and of the lead (issue 3, must show 11).

A step is a call that others can see (tests.faults.STEPS). The next command finishes what was begun or undoes it, and
after the cleanup the world is what it was before.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest

from pro0.model.runtime import ENDED
from pro0.store.paths import HOSTED_OVER
from tests import elsewhere, world
from tests.bystanders import somebodys_tmux
from tests.conftest import Result
from tests.contracts.stand_in import terminal_for
from tests.crash.lanes import SOAK, TEST, counted, sample
from tests.programs import dying
from tests.scenarios.conftest import MODES, OTHER_MODES
from tests.sshd import Machine
from tests.teams import make_team
from tests.waiting import STUCK, wait_until

PATIENCE = STUCK
SAMPLE = 1
"""Steps of each act and victim in the short lane."""
SAMPLE_FAR = 8
"""Steps of each in the soak with members on another machine: each takes five seconds of a processor, and more time."""

START = ("team", "start", "alpha", "--detach", "--lead", "none", "-m", "w1=shell", "-m", "w2=shell")
STOP = ("team", "stop", "alpha", "--timeout", "20")
CLEANUP = ("team", "cleanup", "alpha")


class Act(NamedTuple):
    """What is killed, what comes before, and with which exit codes the same may be asked for again."""

    argv: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = (START,)
    again: tuple[int, ...] = (0,)


ACTS = {
    "start": Act(START, (), (0, 4)),
    "spawn": Act(("member", "spawn", "w3", "--agent", "shell"), again=(0, 4)),
    "stop": Act(STOP),
    "cleanup of a stopped team": Act(CLEANUP, (START, STOP)),
    "cleanup of a running team": Act((*CLEANUP, "--force")),
}
"""Asking again may also be told that it is there already (4)."""
VICTIMS = {name: ("cli",) if "stopped" in name else ("cli", "lead") for name in ACTS}


class Stage:
    """A home with a team that is no business of ours, a repository, and a plan of who dies where.

    Another machine remembers of each session that it is over, and that alone may stay there.
    """

    def __init__(self, folder: Path, cli: Callable[..., Result], mode: str, machine: Machine | None) -> None:
        self.cli, self.mode, self.machine = cli, mode, machine
        self.home, self.project, self.plan = folder / "pro0", folder / "project", folder / "plan"
        self.sockets = Path(os.environ["TMUX_TMPDIR"])
        for made in (self.project, self.plan):
            made.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        make_team(self.home, "w1", name="beta")
        self.env = {"PRO0_HOME": str(self.home)}
        self.before = self.world()

    def world(self) -> world.World:
        places = (self.home, self.project, Path(os.environ["HOME"]), self.sockets)
        if self.machine is None:
            return world.world(*places, repository=self.project)
        whole = world.world(*places, self.machine.home, repository=self.project)
        remembered = re.compile(rf"file {self.machine.home}/pro0(/hosted(/[^/]+(/{HOSTED_OVER})?)?)?")
        connects = f"{self.machine.at}/sshd -R"  # somebody, who has not said yet who they are: in a moment nobody does
        return {what: how for what, how in whole.items() if not (remembered.fullmatch(what) or how.endswith(connects))}

    def pro0(self, *argv: str) -> Result:
        done = self.cli(*argv, cwd=self.project, env=self.env)
        assert "Traceback" not in done.err, (argv, done)
        return done

    def told(self, *argv: str) -> Result:
        """Run a command under the plan."""
        program = [sys.executable, dying.__file__, str(self.plan), "pro0", *argv]
        done = subprocess.run(
            program, cwd=self.project, env=os.environ | self.env, capture_output=True, text=True, timeout=PATIENCE * 2
        )
        assert "Traceback" not in done.stderr, (argv, done.stderr)
        return Result(done.returncode, done.stdout, done.stderr)

    def act(self, name: str, victim: str, at: int) -> int:
        """Do what comes before, then the act, in which the victim dies at a step; return how many steps it took."""
        (self.plan / "victim").write_text(f"{victim} {at}" if victim == "lead" else "nobody 0")
        for argv in ACTS[name].before:
            assert self.told(*self.in_mode(argv)).code == 0
        (self.plan / "victim").write_text(f"{victim} {at}")
        (self.plan / "armed").touch()
        self.told(*self.in_mode(ACTS[name].argv))
        return int((self.plan / "steps").read_text().split()[0])

    def in_mode(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        if self.machine and argv[:2] == ("member", "spawn"):
            return (*argv, "--host", self.machine.name)
        if argv is not START:
            return argv
        placed = [f"{word}@{self.machine.name}" if self.machine and word.endswith("=shell") else word for word in argv]
        return (*placed, "--mode", elsewhere.mode_here(self.mode))

    def finish(self, name: str) -> None:
        """Ask for the same again, and see that whoever is listed is up."""
        done = self.pro0(*self.in_mode(ACTS[name].argv))
        assert done.code in ACTS[name].again, done
        if name in ("start", "spawn"):
            assert self.pro0("team", "resume", "alpha").code == 0
            wait_until(lambda: not (self.states() & {*ENDED, "starting"}), PATIENCE, "all are up")

    def states(self) -> set[str]:
        members = json.loads(self.pro0("team", "status", "alpha", "--json").out)["members"]
        return {one["state"] for one in members}

    def clean(self) -> None:
        """Remove the team, and see that the world is what it was."""
        done = self.pro0(*CLEANUP, "--force")
        assert done.code == 0, done
        with suppress(AssertionError):
            wait_until(lambda: not self.left(), PATIENCE, "the world is as it was")
        assert self.left() == []

    def left(self) -> list[str]:
        return world.changes(self.before, self.world())


@pytest.fixture
def stages(
    home: Path, tmp_path: Path, cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, mode: str
) -> Iterator[Callable[[], Stage]]:
    """Stages one after the other, beside a tmux server of somebody else with a session of the same name."""
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    numbers = count()
    with (
        somebodys_tmux("alpha"),
        terminal_for(elsewhere.mode_here(mode), tmp_path),
        elsewhere.machine_for(mode, tmp_path, monkeypatch) as machine,
    ):
        yield lambda: Stage(tmp_path / f"stage-{next(numbers)}", cli, mode, machine)


SHORT = [
    ("headless", "start", "lead"),
    ("headless", "stop", "lead"),
    ("iterm2", "start", "lead"),
    (elsewhere.MODES[0], "start", "lead"),
]
LONG = [
    (mode, name, victim)
    for mode in (*MODES, *OTHER_MODES, elsewhere.MODES[0])
    for name, victims in VICTIMS.items()
    for victim in victims
]
CASES = [pytest.param(TEST, *case, id="-".join(case)) for case in SHORT]
CASES += [pytest.param(SOAK, *case, id="-".join((SOAK, *case)), marks=pytest.mark.soak) for case in LONG]


@pytest.mark.parametrize(("lane", "mode", "name", "victim"), CASES)
def test_killed_at_every_step(stages: Callable[[], Stage], lane: str, mode: str, name: str, victim: str) -> None:
    first = stages()
    steps = first.act(name, victim, 0)
    first.clean()
    many = SAMPLE_FAR if elsewhere.is_elsewhere(mode) else steps
    chosen = sample(range(1, steps + 1), many if lane == SOAK else SAMPLE, f"{mode} {name} {victim}")
    for at in chosen:
        stage = stages()
        stage.act(name, victim, at)
        if at % 2:
            stage.finish(name)
        stage.clean()
    counted(lane, "steps", f"{mode} {name} {victim}", len(chosen))
