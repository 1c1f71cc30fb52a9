"""The start of an agent on a terminal where posix_spawn makes the session too late, as on macOS."""

import json
import os
import select
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pro0.guard import agent
from pro0.guard.pty import Pty
from tests.waiting import STUCK

TELL = """
import json, os, signal, sys
signal.signal(signal.SIGWINCH, lambda *_: open(sys.argv[2], "w").close())
told = {
    "terminals": [os.ttyname(n) for n in range(3)],
    "leads": os.getsid(0) == os.getpid(),
    "controls": os.tcgetpgrp(os.open("/dev/tty", os.O_RDWR)) == os.getpgrp(),
    "masked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
    "ignored": signal.getsignal(signal.SIGUSR2).name,
    "x": os.environ["X"],
}
open(sys.argv[1], "w").write(json.dumps(told))
os.write(1, b"told")
signal.pause()
"""


@pytest.fixture
def pty(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pty]:
    """A terminal, on a system other than Linux."""

    def too_early(*_: object, **__: object) -> int:
        raise AssertionError("this system opens the terminal before the session is made")

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(os, "posix_spawn", too_early)
    terminal = Pty(80, 24)
    yield terminal
    terminal.close()


def test_the_agent_leads_a_session_and_is_told_of_another_size(
    pty: Pty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So Ctrl+C, a hang-up and a change of size reach it."""
    monkeypatch.chdir(tmp_path)
    argv = [sys.executable, "-S", "-c", TELL, "told", "resized"]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    handled = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    try:
        with open(os.devnull) as inherited:
            pid = agent.start(argv, str(tmp_path), {"X": "ü"}, inherited.fileno(), pty.path)
    finally:
        signal.signal(signal.SIGUSR2, handled)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert select.select([pty.fileno], [], [], STUCK)[0]
    assert pty.read() == b"told"
    told = json.loads((tmp_path / "told").read_text())
    assert told == {
        "terminals": [pty.path] * 3,
        "leads": True,
        "controls": True,
        "masked": [],
        "ignored": "SIG_DFL",
        "x": "ü",
    }
    pty.resize(100, 30)
    assert os.waitpid(pid, 0)[1] == 0
    assert (tmp_path / "resized").exists()


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["/no/such/program"], "cannot start /no/such/program: No such file or directory"),
        (["./file"], "cannot start ./file: Permission denied"),
        (["/bin/sh", "-c", "\0"], "cannot start /bin/sh: Invalid argument"),
    ],
)
def test_a_program_that_cannot_start_is_named(
    pty: Pty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: list[str], reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("no program")
    with open(os.devnull) as inherited, pytest.raises(agent.CannotStart) as failure:
        agent.start(argv, str(tmp_path), {}, inherited.fileno(), pty.path)
    assert str(failure.value) == reason
