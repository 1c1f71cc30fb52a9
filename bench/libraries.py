"""Our own code beside packages that could do the same, to show what it gains."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from bench.figure import Figure, interleaved
from bench.scratch import run, world
from pro0.processes import linux, table
from pro0.sessions.tmux.script import LOOK, TAG, line, rows
from pro0.sessions.tmux.server import TmuxServer

ROUNDS = 15
PANES = 10
LOOKS = 100


def figures() -> Iterator[Figure]:
    """Measure looks at processes beside psutil's, and a look at panes beside libtmux's."""
    if sys.platform == "linux":
        yield _beside("psutil", "import of processes", *_imports())
        yield _beside("psutil", f"{LOOKS} looks at one process", _identified, _identified_by_psutil)
        yield _beside("psutil", "all processes of this user with their variables", _environments, _psutil_environments)
        yield _beside("psutil", "all processes below the first", _below_first, _below_first_by_psutil)
    with world() as folder:
        yield from _panes(folder)


def _beside(package: str, what: str, ours: Callable[[], object], theirs: Callable[[], object]) -> Figure:
    theirs_took, ours_took = interleaved([theirs, ours], ROUNDS)
    return Figure(what, ours_took, "ms", floor=theirs_took, floor_is=package)


def _imports() -> tuple[Callable[[], object], Callable[[], object]]:
    bare = (sys.executable, "-I", "-c")
    return lambda: run(*bare, "import pro0.processes"), lambda: run(*bare, "import psutil")


def _identified() -> list[table.ProcessEntry | None]:
    return [table.entry(os.getpid()) for _ in range(LOOKS)]


def _identified_by_psutil() -> list[float]:
    return [psutil.Process(os.getpid()).create_time() for _ in range(LOOKS)]


def _environments() -> list[bytes]:
    return [linux.environment(pid) for pid in linux.own_pids() if table.entry(pid)]


def _psutil_environments() -> list[dict[str, str]]:
    user = os.geteuid()
    fields = ["uids", "environ", "create_time"]
    processes = [process.info for process in psutil.process_iter(fields)]
    return [process["environ"] for process in processes if process["uids"] and process["uids"].effective == user]


def _below_first() -> list[table.ProcessEntry]:
    return table.below(1)


def _below_first_by_psutil() -> list[psutil.Process]:
    return psutil.Process(1).children(recursive=True)


def _panes(folder: Path) -> Iterator[Figure]:
    """Look at ten panes with our tags: by one script, and by libtmux's listing with a call for each tag."""
    server = TmuxServer(str(folder / "socket"))
    new = ["new-session", "-d", "-x", "200", "-y", "200", "cat"]
    more = [word for _ in range(PANES - 1) for word in (";", "split-window", "cat", ";", "select-layout", "tiled")]
    subprocess.run(["tmux", "-f", "/dev/null", "-S", server.socket, *new, *more], check=True)
    try:
        by_objects = lambda: [pane.cmd("show-options", "-p", "-v", "-q", TAG).stdout for pane in server.panes]  # noqa: E731
        yield _beside("libtmux", f"{PANES} panes with their tags", lambda: rows(server.ask(line(LOOK))), by_objects)
    finally:
        server.kill()
