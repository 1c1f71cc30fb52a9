"""From Enter to a team at work: `team start` until every member's program runs, beside one bare tmux command list.

Similar programs run in the same rounds when BENCH_PEERS=VENV/bin names the folder of their programs, in an environment
of their own (`pip install hcom tmuxp`).
"""

import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from bench.figure import Figure
from bench.scratch import PEERS, PRO0, until

ROUNDS = 15
GOALS = {10: 6.0, 50: 5.0}
PER_WINDOW = 6
PATIENCE = 120.0
AGENT = "claude"
FLOOR = "one tmux command list"


class Stage(NamedTuple):
    """A fresh world in which the program `AGENT` makes a file to report its start, and sleeps."""

    folder: Path
    environment: dict[str, str]

    @property
    def up(self) -> Path:
        """Return the folder in which each running program has a file."""
        return self.folder / "up"

    def run(self, *argv: str | Path, check: bool = True) -> None:
        """Run a command in the project; what it prints is shown only when it fails."""
        words = [str(word) for word in argv]
        called = subprocess.run(
            words, env=self.environment, cwd=self.folder / "project", stdin=subprocess.DEVNULL, capture_output=True
        )
        if check and called.returncode:
            raise RuntimeError(f"{words[0]}: {called.stderr.decode(errors='replace')}")


Start = Callable[[Stage, int], None]


def figures() -> Iterator[Figure]:
    """Measure 10 and 50 members, all programs in turn: the median of each, and the minimum to explain it."""
    starts: dict[str, tuple[Start, Start]] = {"pro0 team start": (_pro0, _clean_up)}
    if PEERS:
        starts |= {"hcom": (_hcom, _kill_server), "tmuxp load": (_tmuxp, _kill_server)}
    for count, goal in GOALS.items():
        times = _measured({FLOOR: (_bare, _kill_server), **starts}, count)
        floor = times.pop(FLOOR)
        for name, found in times.items():
            judged = goal if name.startswith("pro0") else float("inf")
            what = f"{name}, {count} programs run"
            yield Figure(what, statistics.median(found), "ms", judged, "x", statistics.median(floor), FLOOR)
            yield Figure(f"{what}, the quickest", min(found), "ms", floor=min(floor), floor_is=FLOOR)


def _measured(starts: dict[str, tuple[Start, Start]], count: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in starts}
    for number in range(ROUNDS + 1):
        for name, (start, end) in starts.items():
            took = _once(start, end, count)
            if number:  # the first round warms the disk
                times[name].append(took)
    return times


def _once(start: Start, end: Start, count: int) -> float:
    folder = Path(tempfile.mkdtemp(prefix="p0u", dir="/tmp"))
    stage = _stage(folder)
    try:
        began = time.perf_counter()
        start(stage, count)
        until(lambda: len(os.listdir(stage.up)) >= count, PATIENCE)
        return _last_of(stage, began)
    finally:
        end(stage, count)
        shutil.rmtree(folder, ignore_errors=True)


def _last_of(stage: Stage, began: float) -> float:
    """Return the milliseconds until the last program ran, by the time of its file, since a start may return later."""
    last = max(path.stat().st_mtime for path in stage.up.iterdir())
    return (last - (time.time() - (time.perf_counter() - began))) * 1000


def _stage(folder: Path) -> Stage:
    for name in ("up", "bin", "project", "sockets"):
        (folder / name).mkdir()
    program = folder / "bin" / AGENT
    program.write_text(f"#!/bin/sh\n: > {folder}/up/$$\nexec sleep 1000\n")
    program.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if name in ("LANG", "TERM")}
    own = {"HOME": folder, "PRO0_HOME": folder / "home", "HCOM_DIR": folder / "hcom", "TMUX_TMPDIR": folder / "sockets"}
    path = os.pathsep.join(filter(None, (str(folder / "bin"), PEERS, os.environ["PATH"])))
    return Stage(folder, {"TERM": "xterm-256color", **kept, **{k: str(v) for k, v in own.items()}, "PATH": path})


def _bare(stage: Stage, count: int) -> None:
    command = ["tmux", "-f", "/dev/null"]
    for number in range(count):
        new = ["new-session", "-d", "-x", "220", "-y", "50"] if number == 0 else ["new-window", "-d"]
        opens = number % PER_WINDOW == 0
        program = str(stage.folder / "bin" / AGENT)
        command += [*(new if opens else ["split-window", "-d"]), program, ";", "select-layout", "tiled", ";"]
    stage.run(*command[:-1])


def _pro0(stage: Stage, count: int) -> None:
    members = [word for number in range(count) for word in ("-m", f"w{number}={AGENT}")]
    stage.environment["PRO0_MAX_TEAMMATES"] = str(count)
    stage.run(PRO0, "team", "start", "bench", "--lead", "none", "--mode", "tmux", "--detach", *members)


def _clean_up(stage: Stage, _count: int) -> None:
    stage.run(PRO0, "team", "cleanup", "bench", "--force")


def _hcom(stage: Stage, count: int) -> None:
    stage.environment["HCOM_TERMINAL"] = "tmux"
    stage.run("hcom", str(count), AGENT, "--go")


def _tmuxp(stage: Stage, count: int) -> None:
    panes = [
        {"shell_command": [str(stage.folder / "bin" / AGENT)]} for _ in range(count)
    ]  # its full path, since a login shell sets its own PATH
    windows = [{"panes": panes[at : at + PER_WINDOW], "layout": "tiled"} for at in range(0, count, PER_WINDOW)]
    layout = stage.folder / "layout.json"
    layout.write_text(json.dumps({"session_name": "bench", "windows": windows}))
    stage.run("tmuxp", "load", "--yes", "-d", layout)


def _kill_server(stage: Stage, _count: int) -> None:
    stage.run("tmux", "kill-server", check=False)
