"""What a crashed agent printed last stands in its guard's report, and nothing keeps its end from being reported."""

import os
from pathlib import Path

import pytest

from pro0.guard.output import LENGTH
from pro0.model.runtime import Report, State
from tests.guard.sessions import Session
from tests.waiting import STUCK, wait_until


def ended(session: Session) -> Report:
    return session.reported(lambda report: report.exit, "the end", STUCK)


def output_of(session: Session, script: str) -> str:
    """Return what is told of an agent that runs this script, with its guard's output in a file."""
    log = session.cwd / "log"
    session.log = os.open(log, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    session.start(["sh", "-c", script])
    found = ended(session).exit
    assert found
    return found.output


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo why; exit 3", "why"),
        ("echo why; kill -ABRT $$", "why"),
        ("printf 'a\\nb\\n\\n'; exit 1", "a\nb"),
        ("exit 1", ""),
        ("echo well; exit 0", ""),
        ("echo well; kill -KILL $$", "well"),
        ("echo well; kill -HUP $$", "well"),
        (r"printf '\377\303'; exit 1", "\ufffd\ufffd"),
    ],
)
def test_a_log_is_told_of_a_crash_alone(session: Session, script: str, told: str) -> None:
    assert output_of(session, script) == told


def test_no_more_than_a_little_is_told(session: Session) -> None:
    assert output_of(session, "seq 1 100000; exit 1") == "".join(f"{n}\n" for n in range(1, 100001))[-LENGTH:].strip()


@pytest.mark.parametrize(
    "tmux", ["exec sleep 600", "exit 1", "kill -KILL $$", ""], ids=["hangs", "fails", "dies", "none"]
)
def test_a_tmux_that_does_not_tell_keeps_no_end(
    session: Session, tmux: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end is reported, what is left of the tree is ended, and no process of ours stays."""
    program = tmp_path / "bin" / "tmux"
    program.parent.mkdir()
    if tmux:
        program.write_text(f"#!/bin/sh\n{tmux}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}" if tmux else str(program.parent))
    monkeypatch.setenv("TMUX", f"{tmp_path}/none,1,0")
    monkeypatch.setenv("TMUX_PANE", "%0")
    guard = session.start(["/bin/sh", "-c", "/bin/sleep 600 & exit 3"])
    report = ended(session)
    assert report.exit
    assert (report.state, report.exit.code, report.exit.output) == (State.CRASHED, 3, "")
    assert guard.wait(STUCK) == 3
    wait_until(lambda: session.tagged() == [], STUCK, "nobody is left")


def test_a_pane_is_asked_for_at_its_own_server_whatever_its_socket_is_called(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "tmux"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$2"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("TMUX", "/s,1,2/default,7,0")
    monkeypatch.setenv("TMUX_PANE", "%0")
    assert output_of(session, "exit 3") == "/s,1,2/default"
