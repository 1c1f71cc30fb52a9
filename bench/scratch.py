"""A scratch world for measuring: its own home, project and tmux sockets, removed afterwards."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pro0.engine import cleanup
from pro0.model.caller import THE_HUMAN
from pro0.model.task import Draft
from pro0.model.team import Display
from pro0.ops.context import IDENTITY, Context
from pro0.ops.tasks import tasks
from pro0.ops.team import teams
from pro0.store.teams import Store

PRO0 = Path(sys.executable).with_name("pro0")
TEAM = "bench"
PEERS = os.environ.get("BENCH_PEERS", "")
"""The folder of other programs to measure for comparison; empty for none."""


@contextmanager
def world() -> Iterator[Path]:
    """Yield a fresh folder that is PRO0_HOME, HOME and TMUX_TMPDIR; every team in it is cleaned up afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="p0b", dir="/tmp"))  # short: a socket's path may have 108 bytes
    kept = dict(os.environ)
    for name in (*IDENTITY, "TMUX"):
        os.environ.pop(name, None)
    os.environ.update(PRO0_HOME=str(folder / "home"), HOME=str(folder), TMUX_TMPDIR=str(folder))
    (folder / "project").mkdir()
    try:
        yield folder
    finally:
        store = Store(folder / "home")
        for name in store.names():
            cleanup.cleanup(store, name, force=True, show=lambda _text: None)
        os.environ.clear()
        os.environ.update(kept)
        shutil.rmtree(folder, ignore_errors=True)


def make_team(folder: Path, mode: str = "headless", name: str = TEAM) -> Context:
    """Make a team without members and without a lead."""
    home = teams.Home(name, folder / "project", Display(mode=mode, mode_reason="bench"))
    return teams.create(Store(folder / "home"), THE_HUMAN, home)


def add_tasks(context: Context, count: int) -> None:
    """Add `count` tasks without a command."""
    tasks.create(context, [Draft(title=f"Task number {n}", description="What to do. " * 8) for n in range(count)])


def run(*argv: str | Path) -> None:
    """Run a command to its end without output; raises when it fails."""
    subprocess.run([str(word) for word in argv], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def until(condition: Callable[[], bool], seconds: float, pause: float = 0.0005) -> None:
    """Wait for a condition; raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(pause)
