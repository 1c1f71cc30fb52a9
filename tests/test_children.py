"""A command whose processes nobody here may signal, such as those of sudo, holds nobody up."""

import os
import time
import uuid
from pathlib import Path

import pytest

from pro0 import processes
from pro0.children import Ending, Running
from pro0.errors import EnvironmentMissing
from pro0.model.runtime import Process
from pro0.processes import ending
from pro0.shell_agent.command import how
from tests.waiting import STUCK, wait_until

LONG = STUCK / 2
"""Seconds that a program goes on: whoever waits for its end takes so long."""


@pytest.fixture(autouse=True)
def _refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signals to a process of another user are refused."""

    def refused(_process: Process, _number: int) -> bool:
        return False

    monkeypatch.setattr(ending, "signal_process", refused)
    monkeypatch.setattr(ending, "FIRM", 0.1)


def followed(line: str, limit: float | None) -> Ending:
    running = Running(("/bin/sh", "-c", line), os.environ, uuid.uuid4().hex, 0.1)
    running.start()
    return running.follow(limit, None, lambda _: None, str, 0.05)


def let_go(pids: Path) -> None:
    """End what was left, as its owner would."""
    for pid in map(int, pids.read_text().split()):
        os.kill(pid, 9)
        wait_until(lambda pid=pid: processes.identify(pid) is None, STUCK, "nobody is left, not even as a zombie")  # type: ignore[misc]


def test_a_command_that_cannot_be_ended_is_not_waited_for(tmp_path: Path) -> None:
    began = time.monotonic()
    found = followed(f"echo $$ > {tmp_path / 'pids'}; exec sleep {LONG}", limit=1.0)
    assert time.monotonic() - began < LONG
    assert (found.why, found.left, found.kept) == ("over its limit of 1 s", 0, 1)
    assert how(found).startswith("over its limit of 1 s, and 1 of its processes cannot be ended")
    let_go(tmp_path / "pids")


def test_what_goes_on_after_a_command_is_not_said_to_be_ended(tmp_path: Path) -> None:
    """The command itself was done, and stays so."""
    found = followed(f"sleep {LONG} > /dev/null 2>&1 & echo $! > {tmp_path / 'pids'}", limit=None)
    assert (found.code, found.why, found.left, found.kept) == (0, "", 0, 1)
    let_go(tmp_path / "pids")


def test_a_command_is_over_though_nobody_can_look_at_what_it_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def unseen(_variable: str, _values: list[str]) -> None:
        raise EnvironmentMissing("the system's table of processes cannot be read")

    monkeypatch.setattr(processes, "tagged", unseen)
    found = followed("echo said; exit 3", limit=None)
    assert (found.code, found.tail, found.why, found.left, found.kept) == (3, "said", "", 0, 0)
