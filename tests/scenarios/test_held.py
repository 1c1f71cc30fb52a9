"""A lock whose holder was stopped: others give up after ten seconds and name it (issue 3, must show 10; anchors 18)."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from pro0 import processes
from pro0.model.task import Draft
from pro0.ops.team.members import SeatDraft
from pro0.store.teams import TeamStore
from tests import elsewhere
from tests.conftest import Result
from tests.crash.lanes import TEST, counted
from tests.engine.crew import Crew
from tests.teams import make_team
from tests.waiting import STUCK, wait_until

HOLDER = """
import sys, time
from pathlib import Path
from pro0.store.lock import locked
with locked(Path(sys.argv[1]), "a test"):
    print("held", flush=True)
    time.sleep(600)
"""

COMMANDS: dict[str, tuple[Callable[[TeamStore], Path], tuple[str, ...]]] = {
    "the home": (lambda team: team.paths.home, ("team", "start", "gamma", "--detach", "--mode", "headless")),
    "the team": (lambda team: team.paths.team, ("team", "pause", "alpha")),
    "the tasks": (lambda team: team.paths.tasks, ("task", "create", "t", "-t", "alpha")),
    "a mailbox": (lambda team: team.paths.mailbox("w1"), ("send", "w1", "hello", "-t", "alpha")),
}
"""Whose lock is held, and what somebody else wants to do."""


@contextmanager
def stopped_holder(folder: Path) -> Iterator[int]:
    """Let a process take a folder's lock, and stop it; yields its pid."""
    argv = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout
            assert holder.stdout.readline() == "held\n"
            holder.send_signal(signal.SIGSTOP)
            wait_until(lambda: processes.stopped(holder.pid), 10, "it is stopped")
            yield holder.pid
        finally:
            holder.kill()


ASKED_THERE = {
    "tasks": "pro0 task claim task-1",
    "mailbox": "pro0 send w2 hello",
}
"""What a member on another machine wants to do with what is held."""
TRIES = """
until test -e "$HOME/held"; do sleep 0.1; done
for name in {names}; do sh "$HOME/$name" 2> "$HOME/$name.says"; echo $? > "$HOME/$name.code"; done
touch "$HOME/tried"; until test -e "$HOME/free"; do sleep 0.1; done
for name in {names}; do sh "$HOME/$name"; echo $? > "$HOME/$name.again"; done; touch "$HOME/done"; sleep 600
"""


@pytest.mark.parametrize("alpha", [elsewhere.MODES[0]], indirect=True)
def test_others_on_another_machine_give_up_and_name_it(alpha: Crew) -> None:
    """Issue 19, must show 3."""
    alpha.give(Draft(title="one"))
    for name, words in ASKED_THERE.items():
        (alpha.place / name).write_text(words)
    script = TRIES.format(names=" ".join(ASKED_THERE))
    alpha.spawn(SeatDraft(name="w1", agent="command", argv=("sh", "-c", script)), "w2")
    held = {"tasks": alpha.team.paths.tasks, "mailbox": alpha.team.paths.mailbox("w2")}
    with ExitStack() as stack:
        pids = {name: stack.enter_context(stopped_holder(folder)) for name, folder in held.items()}
        (alpha.place / "held").touch()
        wait_until((alpha.place / "tried").exists, STUCK, "both have given up")
    for name, pid in pids.items():
        said = (alpha.place / f"{name}.says").read_text()
        assert (alpha.place / f"{name}.code").read_text() == "5\n", said
        assert f"held by pid {pid} (a test" in said
        assert "gave up after 10 s" in said
    (alpha.place / "free").touch()
    wait_until((alpha.place / "done").exists, STUCK, "both are done")
    assert [(alpha.place / f"{name}.again").read_text() for name in ASKED_THERE] == ["0\n", "0\n"]
    assert alpha.task("task-1").assignee == "w1"


def test_others_give_up_and_name_it(cli: Callable[..., Result], home: Path, tmp_path: Path) -> None:
    team = make_team(home, "w1")
    before = team.tasks.path.read_bytes()
    with ExitStack() as stack, ThreadPoolExecutor(len(COMMANDS)) as pool:
        pids = {name: stack.enter_context(stopped_holder(folder(team))) for name, (folder, _) in COMMANDS.items()}
        calls = {name: pool.submit(cli, *argv, cwd=tmp_path) for name, (_, argv) in COMMANDS.items()}
        for name, call in calls.items():
            done = call.result()
            assert done.code == 5, done
            assert f"held by pid {pids[name]} (a test" in done.err
            assert "gave up after 10 s" in done.err
        doctor = cli("doctor", cwd=tmp_path).out
        assert all(f"held by pid {pid}, which is stopped" in doctor for pid in pids.values())
        assert team.tasks.path.read_bytes() == before
    for _, argv in COMMANDS.values():  # and when the holders are gone, all of it can be done at once
        assert cli(*argv, cwd=tmp_path).code == 0, os.fspath(home)
    assert cli("team", "cleanup", "gamma", "--force", cwd=tmp_path).code == 0
    counted(TEST, "stopped holders", "all", len(COMMANDS))
