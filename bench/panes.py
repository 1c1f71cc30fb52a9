"""Bring-up of many panes until every guard has reported, beside one bare tmux command list."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from bench.scratch import world
from pro0 import resources
from pro0.model.runtime import Launch
from pro0.sessions import backend_named
from pro0.sessions.backend import Opening, Place
from pro0.store import atomic
from pro0.store.files import encode

ROUNDS = 5
GOALS = {10: 1.5, 50: 3.0}
PER_WINDOW = 6
INTERPRETER = (sys.executable, "-I", "-S", "-c", "import os, sys; os.mkdir(sys.argv[1]); os.read(0, 1)")
"""An interpreter started like a guard, which only reports its start."""


def figures() -> Iterator[Figure]:
    """Measure 10 and 50 panes: the best of several rounds for each, since tmux itself varies much.

    The lower bound of guards is shown too: as many idle interpreters, started by the same command list.
    """
    for count, goal in GOALS.items():
        bare, ours, least = [], [], []
        for number in range(ROUNDS):
            with world() as folder:
                bare.append(_bare(folder, count, "cat"))
                least.append(_bare(folder, count, *INTERPRETER))
                ours.append(_guards(folder, count, number))
        floor = "one tmux command list"
        yield Figure(f"{count} panes up", min(ours), "ms", goal, "x", min(bare), floor)
        yield Figure(f"{count} interpreters in panes", min(least), "ms", floor=min(bare), floor_is=floor)


def _bare(folder: Path, count: int, *argv: str) -> float:
    """Return the milliseconds until tmux has made the panes and every program with arguments has reported its start."""
    socket, up = str(folder / f"bare-{len(argv)}"), folder / "up"
    up.mkdir(exist_ok=True)
    command = ["tmux", "-S", socket, "-f", "/dev/null"]
    for number in range(count):
        new = ["new-session", "-d", "-x", "220", "-y", "50"] if number == 0 else ["new-window", "-d"]
        opens = number % PER_WINDOW == 0
        program = [*argv, str(up / str(number))] if argv[1:] else argv
        command += [*(new if opens else ["split-window", "-d"]), *program, ";", "select-layout", "tiled", ";"]
    start = time.perf_counter()
    subprocess.run(command[:-1], check=True)
    while argv[1:] and len(os.listdir(up)) < count:
        time.sleep(0.001)
    elapsed = (time.perf_counter() - start) * 1000
    subprocess.run(["tmux", "-S", socket, "kill-server"], check=True)
    return elapsed


def _guards(folder: Path, count: int, number: int) -> float:
    sessions = folder / "sessions"
    sessions.mkdir()
    openings = [_opening(sessions, index) for index in range(count)]
    place = Place(team="bench", uid=f"{number:08d}", project=folder)
    tmux = backend_named("tmux")
    tmux.attach_command(place, ())
    start = time.perf_counter()
    handles = tmux.open(place, openings)
    while sum(name.endswith(".report") for name in os.listdir(sessions)) < count:
        time.sleep(0.001)
    elapsed = (time.perf_counter() - start) * 1000
    for handle in handles:
        tmux.close(handle)
    tmux.dismantle(place)
    return elapsed


def _opening(sessions: Path, index: int) -> Opening:
    launch = Launch(
        agent_id=f"w{index}",
        incarnation=f"{index:04d}",
        team="bench",
        team_uid="bench",
        argv=("/bin/cat",),
        cwd=str(sessions),
        env={"PATH": os.defpath},
        report=str(sessions / f"{index:04d}.report"),
        grace=1.0,
    )
    with atomic.folder(sessions) as folder:
        atomic.replace(folder, f"{index:04d}.launch", encode(launch))
    argv = resources.guard_argv(sessions / f"{index:04d}.launch")
    return Opening(f"{index:04d}", f"w{index}", argv, sessions / f"{index:04d}.log")
