"""What a person who watches hears: the bell, once for each thing that begins to need them (issue 6, build 1)."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from pro0.model.task import Awaiting, Draft
from pro0.ops.context import Context
from pro0.ops.tasks import gates, tasks
from pro0.view.drawing import columns_of
from tests.waiting import STUCK

BELL = b"\a"
SECONDS = STUCK


class Watcher:
    """Somebody with `team status --watch` on a terminal."""

    def __init__(self) -> None:
        self._main, side = pty.openpty()
        argv = [sys.executable, "-m", "pro0", "team", "status", "--watch"]
        environment = os.environ | {"TERM": "xterm"}
        self.program = subprocess.Popen(argv, stdin=side, stdout=side, stderr=side, env=environment)
        os.close(side)
        self.data = b""

    def sees(self, text: bytes, times: int = 1) -> bytes:
        """Wait until it is shown so often; returns all that was."""
        deadline = time.monotonic() + SECONDS
        while self.data.count(text) < times:
            assert time.monotonic() < deadline, self.data
            if select.select([self._main], [], [], 0.2)[0]:
                self.data += os.read(self._main, 65536)
        return self.data

    def end(self) -> None:
        """Interrupt it."""
        self.program.send_signal(signal.SIGKILL)
        self.program.wait(SECONDS)
        os.close(self._main)


@pytest.fixture
def watcher(team: Context) -> Iterator[Watcher]:
    made = Watcher()
    yield made
    made.end()


def test_it_rings_when_a_task_begins_to_wait(team: Context, watcher: Watcher) -> None:
    """Not at the first look, nor when one waits no more."""
    watcher.sees(b"w2")
    assert BELL not in watcher.data
    tasks.create(team, [Draft(title="look at it", awaiting=Awaiting.REVIEW)])
    watcher.sees(BELL)
    assert watcher.data.count(BELL) == 1
    gates.approve(team, "1")
    tasks.create(team, [Draft(title="the last one", run="true")])
    watcher.sees(b"1 pending (1 ready), 1 completed")
    assert watcher.data.count(BELL) == 1


def test_it_rings_once_for_each_need(team: Context, watcher: Watcher) -> None:
    """Issue 14, must show 2; what arises while nothing is drawn rings together, so each is shown before the next."""
    watcher.sees(b"w2")
    kinds = (Awaiting.INPUT, Awaiting.CONTENT, Awaiting.REVIEW, Awaiting.ESCALATION)
    for number, kind in enumerate(kinds, 1):
        tasks.create(team, [Draft(title=f"the {kind} of it", run="true", awaiting=kind)])
        watcher.sees(f"task-{number} waits for you".encode())
        assert watcher.sees(BELL, number).count(BELL) == number
    for number in range(1, len(kinds) + 1):
        gates.approve(team, f"task-{number}", "yes")
    tasks.create(team, [Draft(title="the last one", run="true")])
    watcher.sees(b"3 pending (3 ready), 2 completed")
    assert watcher.data.count(BELL) == len(kinds)


def test_it_can_be_turned_off(team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRO0_BELL", "0")
    watcher = Watcher()
    try:
        watcher.sees(b"w2")
        for id in (b"task-1", b"task-2"):
            tasks.create(team, [Draft(title="look at it", awaiting=Awaiting.REVIEW)])
            watcher.sees(id + b" waits for you")
        assert BELL not in watcher.data
    finally:
        watcher.end()


def test_what_is_watched_never_scrolls_out_of_the_terminal(team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short terminal shows the beginning, and how much there is besides."""
    monkeypatch.setenv("LINES", "12")
    monkeypatch.setenv("COLUMNS", "60")
    tasks.create(team, [Draft(title="日本 and more " * 9, awaiting=Awaiting.REVIEW) for _ in range(20)])
    watcher = Watcher()
    try:
        _, _, shown = watcher.sees(b"pro0 team status\r\n").decode().rpartition("\x1b[H\x1b[2J")
        rows = shown.split("\r\n")
        assert len(rows) == 12
        assert rows[0].startswith("team     alpha")
        assert rows[-2:] == ["… 41 more lines: pro0 team status", ""]
        assert all(columns_of(row) <= 60 for row in rows)
    finally:
        watcher.end()
