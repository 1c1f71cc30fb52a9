"""What belongs to somebody else, beside a team: it must be afterwards what it was before."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from tests.waiting import STUCK, wait_until

SECONDS = STUCK


@contextmanager
def somebodys_tmux(*sessions: str) -> Iterator[tuple[str, ...]]:
    """Run a tmux server whose name looks like one of pro0, with sessions of these names; yields how to call it."""
    server = ("tmux", "-L", "pro0-person", "-f", "/dev/null")
    strange = {name: value for name, value in os.environ.items() if not name.startswith("PRO0_")}
    for name in sessions:
        subprocess.run([*server, "new-session", "-d", "-s", name, "cat", "-"], check=True, timeout=SECONDS, env=strange)
    try:
        # A new pane is the server itself until it has become its program, and tmux may name the program before.
        wait_until(lambda: _programs(server, strange) == ["cat"] * len(sessions), SECONDS, "their programs run")
        yield server
    finally:
        subprocess.run([*server, "kill-server"], check=True, timeout=SECONDS)


def _programs(server: tuple[str, ...], environment: dict[str, str]) -> list[str]:
    called = [*server, "list-panes", "-a", "-F", "#{pane_pid}"]
    done = subprocess.run(called, check=True, capture_output=True, text=True, timeout=SECONDS, env=environment)
    return [psutil.Process(int(pid)).name() for pid in done.stdout.split()]
