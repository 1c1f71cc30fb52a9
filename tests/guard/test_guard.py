"""A guard's own judgement, in this process: what an end means, what its agent's terminal is, and what is said last."""

import io
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from pro0.guard import run
from pro0.guard.run import ASKED, BY_ITSELF, FAILED, HANG_UP, TEAM_GONE, Guard
from tests.guard.sessions import Session
from tests.guard.test_last_words import launched
from tests.waiting import STUCK

ENDS = {
    "well": (BY_ITSELF, 0, ("exited", 0, None, "", ""), 0),
    "with a code": (BY_ITSELF, 3 << 8, ("crashed", 3, None, "", "why"), 3),
    "by a signal of its own": (BY_ITSELF, signal.SIGABRT, ("crashed", None, 6, "", "why"), 134),
    **{
        f"by {number.name} from outside": (BY_ITSELF, number, ("crashed", None, int(number), "", ""), 128 + number)
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    },
    "asked to": (ASKED, 0, ("shutdown", 0, None, ASKED, ""), 0),
    "asked to, with a code": (ASKED, 3 << 8, ("shutdown", 3, None, ASKED, ""), 3),
    "asked to, by a signal": (ASKED, signal.SIGTERM, ("shutdown", None, 15, ASKED, ""), 143),
    "hung up": (HANG_UP, 0, ("crashed", 0, None, HANG_UP, ""), 0),
    "its team gone": (TEAM_GONE, 3 << 8, ("crashed", 3, None, TEAM_GONE, ""), 3),
    "its guard failed": (FAILED, signal.SIGABRT, ("crashed", None, 6, FAILED, ""), 134),
}


@pytest.mark.parametrize("how", ENDS)
def test_what_an_end_means(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one that ended badly and by itself has a reason that it printed."""
    cause, status, told, code = ENDS[how]
    said: list[object] = []
    monkeypatch.setattr(Guard, "_last_output", lambda _: "why")
    guard = Guard.__new__(Guard)
    guard.cause, guard._pid = cause, 7
    guard._pipe = SimpleNamespace(open=False)  # type: ignore[assignment]
    guard._report = SimpleNamespace(ended=lambda *words: said.append(words))  # type: ignore[assignment]
    guard._agent_ended(status)
    assert (said, guard._code, guard._pid) == ([told], code, 0)


@pytest.mark.parametrize("survivors", [0, 2])
def test_the_end_is_on_disk_for_good(tmp_path: Path, survivors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be ended is said, and the terminal goes when nobody prints any more."""
    order: list[object] = []
    synced: list[int] = []

    def end(belonging: object, grace: float) -> list[None]:
        order.append(grace)
        return [None] * survivors

    monkeypatch.setattr(run, "end", end)
    guard = Guard.__new__(Guard)
    guard._launch = SimpleNamespace(grace=2.5)  # type: ignore[assignment]
    guard._terminal = SimpleNamespace(end=lambda: order.append("terminal"))  # type: ignore[assignment]
    guard._report = launched(tmp_path)
    guard._report.ended("shutdown", 0, None, "ended: asked to")
    monkeypatch.setattr(os, "fsync", synced.append)
    guard.finish()
    assert order == [2.5, "terminal"]
    assert synced
    text = (tmp_path / "inc-w1.json").read_text()
    assert ("2 processes cannot be ended" in text) is bool(survivors)
    assert '"state":"shutdown"' in text


@pytest.mark.parametrize(("pane", "term", "told"), [("%9", "tmux-256color", "tmux-256color"), ("", "xterm", "mine")])
def test_in_a_pane_its_terminal_is_tmuxs(
    session: Session, pane: str, term: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever terminal the team was started in; elsewhere what the launch says counts."""
    monkeypatch.setenv("TMUX_PANE", pane)
    monkeypatch.setenv("TERM", term)
    file = session.cwd / "term"
    session.start(["sh", "-c", f'echo "$TERM" > {file}'], env={"TERM": "mine", "PATH": os.environ["PATH"]})
    session.reported(lambda report: report.exit, "the end", STUCK)
    assert file.read_text() == f"{told}\n"


def test_a_pane_without_a_kind_leaves_what_the_launch_says(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX_PANE", "%9")
    monkeypatch.delenv("TERM", raising=False)
    file = session.cwd / "term"
    session.start(["sh", "-c", f'echo "$TERM" > {file}'], env={"TERM": "mine", "PATH": os.environ["PATH"]})
    session.reported(lambda report: report.exit, "the end", STUCK)
    assert file.read_text() == "mine\n"


def test_a_complaint_is_one_line_and_fails_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)
    run._complain("it is late")
    assert said.getvalue() == "pro0 guard: it is late\n"
    for stderr in (None, SimpleNamespace(write=lambda _: os.close(-1))):
        monkeypatch.setattr(sys, "stderr", stderr)
        run._complain("nobody hears")
