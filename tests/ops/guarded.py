"""A member's session with a real guard, in which a test does what an agent might do."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from pro0 import resources
from pro0.model.runtime import Launch
from pro0.ops.context import new_id
from pro0.store.teams import TeamStore
from tests.conftest import Result

PATIENCE = 540  # seconds: a table of many ways runs below one guard; a worker is given up after 600
"""Seconds: a bound on being stuck, the machine may be busy with something else."""
NAMESPACE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
MOUNTS = ("unshare", "--mount")


def refusal(*words: str) -> str:
    """Return why the kernel lets this process make no such namespace, empty when it does."""
    if sys.platform != "linux" or not shutil.which("unshare"):
        return "there is no unshare"
    done = subprocess.run([*words, "true"], capture_output=True, text=True, timeout=PATIENCE)
    return done.stderr.strip() or (f"unshare ends with {done.returncode}" if done.returncode else "")


def identity(team: TeamStore, name: str) -> dict[str, str]:
    """What a guard's agent finds in its environment, but for the guard's own tags."""
    home = str(team.paths.home)
    return {"PRO0_HOME": home, "PRO0_TEAM": team.name, "PRO0_AGENT_ID": name, "PRO0_MEMBER_OF": home}


def session(team: TeamStore, name: str) -> str:
    """The incarnation of a member's present session."""
    return next(seat.incarnation for seat in team.runtime.read().seats if seat.agent_id == name)


def below_its_guard(team: TeamStore, name: str, argv: Sequence[str], more: Mapping[str, str] | None = None) -> Result:
    """Run a program as the agent of a member's session, to its end; the guard leaves with its code."""
    report = team.paths.sessions / team.paths.report(session(team, name))
    done = subprocess.run(
        guard_of(team, name, argv, more), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
    )
    with contextlib.suppress(FileNotFoundError):
        report.unlink()
    return Result(done.returncode, done.stdout, done.stderr)


def guard_of(team: TeamStore, name: str, argv: Sequence[str], more: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return what starts the guard of a member's session, with this program as its agent."""
    paths, incarnation = team.paths, session(team, name)
    inherited = {variable: os.environ[variable] for variable in ("HOME", "PATH", "TMPDIR") if variable in os.environ}
    launch = Launch(
        agent_id=name,
        incarnation=incarnation,
        team=team.name,
        team_uid=new_id(),  # no other test's team has its uid: a session may say that it is of a home that is gone
        argv=tuple(argv),
        cwd=str(paths.home.parent),
        env=inherited | identity(team, name) | dict(more or {}),
        report=str(paths.sessions / paths.report(incarnation)),
        grace=0.3,
    )
    file = paths.sessions / paths.launch(incarnation)
    file.touch(0o600)
    file.write_bytes(msgspec.json.encode(launch))
    return resources.guard_argv(file)


def read(file: Path) -> dict[str, list[object]]:
    """Return what `passing.py` has written down."""
    found = json.loads(file.read_text())
    assert isinstance(found, dict)
    return found
