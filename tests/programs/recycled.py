"""Pids that are given out again, as the first process of a pid namespace: `recycled.py FOLDER MODE`, as root of it.

A team is started and all of it killed; then strangers get the very pids of its lead, guards and agents, and everything
is tried that might signal one of those. Exit code 0 when no stranger heard anything; what went wrong is on stderr.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import pytest

from pro0 import processes
from pro0.model.runtime import Process
from tests import elsewhere
from tests.engine.crew import PATIENCE, Crew, crew, gone, kill
from tests.waiting import STUCK, wait_until

MEMBERS = ("w1", "w2")
STRANGER = """
import os, signal, sys
heard = open(sys.argv[1], "ab", buffering=0)
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
    signal.signal(number, lambda number, _: heard.write(f"signal {number}\\n".encode()))
heard.write(b"here\\n")
while True:
    signal.pause()
"""
COMMANDS = (
    ("doctor", "--repair", "--yes"),
    ("team", "status", "alpha"),
    ("team", "resume", "alpha"),
    ("member", "restart", "w1", "-t", "alpha"),
    ("member", "shutdown", "w2", "--force", "--timeout", "0", "-t", "alpha"),
    ("team", "stop", "alpha", "--force", "--timeout", "0"),
    ("team", "cleanup", "alpha", "--force"),
    ("doctor", "--repair", "--yes"),
)


class Stranger:
    """A process at a pid of one's choice, which writes down every signal that it gets."""

    def __init__(self, pid: int, folder: Path) -> None:
        self.heard = folder / f"stranger-{pid}"
        deadline = time.monotonic() + STUCK
        while True:  # another process may be faster, or keep the pid as that of its group until it ends
            Path("/proc/sys/kernel/ns_last_pid").write_text(str(pid - 1))
            self.process = subprocess.Popen([sys.executable, "-I", "-S", "-c", STRANGER, str(self.heard)])
            if self.process.pid == pid or time.monotonic() > deadline:
                break
            self.process.kill()
            self.process.wait()
            with suppress(ChildProcessError):  # this is the first process here: it reaps who has lost its parent
                os.waitpid(-pid, os.WNOHANG)
            time.sleep(0.1)
        assert self.process.pid == pid, f"pid {pid} was not to be had"
        wait_until(lambda: self.heard.exists() and self.heard.read_bytes(), PATIENCE, "the stranger is there")

    def left_alone(self) -> bool:
        """Say whether it lives and has heard nothing."""
        return self.process.poll() is None and self.heard.read_bytes() == b"here\n"


def killed(alpha: Crew) -> list[Process]:
    """Start a team, kill all of it, and return who it was."""
    alpha.lead()
    alpha.spawn(*MEMBERS)
    lead = processes.identify(alpha.leads[0].pid)
    places = (alpha.report, alpha.report_there) if alpha.machine else (alpha.report,)
    reports = [report(name) for report in places for name in MEMBERS]
    victims = [one for one in (lead, *(r.guard for r in reports), *(r.agent for r in reports)) if one]
    for victim in victims:
        with suppress(AssertionError):  # an agent ends with its guard
            kill(victim)
    wait_until(gone(*victims), PATIENCE, "all are dead")
    alpha.leads[0].wait()
    while any(os.path.exists(f"/proc/{victim.pid}") for victim in victims):
        with suppress(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)  # orphans come to the first process of a namespace
    return victims


def main(folder: Path, mode: str) -> None:
    """Play it once."""
    with (
        pytest.MonkeyPatch.context() as patch,
        elsewhere.machine_for(mode, folder, patch) as machine,
        crew(Path(os.environ["PRO0_HOME"]), folder, elsewhere.mode_here(mode), machine) as alpha,
    ):
        victims = killed(alpha)
        strangers = [Stranger(victim.pid, folder) for victim in victims]
        for argv in COMMANDS:
            done = subprocess.run([sys.executable, "-m", "pro0", *argv], capture_output=True, text=True)
            if "Traceback" in done.stderr or done.returncode not in (0, 4):
                sys.exit(f"{argv}: {done}")
            if disturbed := [one.heard.read_text() for one in strangers if not one.left_alone()]:
                sys.exit(f"{argv}: {disturbed}")
        assert not alpha.team.exists()
        for stranger in strangers:
            stranger.process.send_signal(signal.SIGKILL)
            stranger.process.wait()
    print(f"{len(strangers)} strangers")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
