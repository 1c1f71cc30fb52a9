"""Sessions without a terminal."""

import errno
import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import msgspec
import psutil
import pytest

from pro0.errors import EnvironmentMissing, ErrorCode
from pro0.model.runtime import Handle
from pro0.rules.text import printed
from pro0.sessions import headless
from pro0.sessions.starting import started_for_others
from tests.contracts.stages import STAGES, Stage, guarded
from tests.waiting import STUCK, wait_until

SECONDS = STUCK
LINE = "pro0: 2 unread messages; run `pro0 inbox` #(touch X) $HOME -R"

pytestmark = pytest.mark.usefixtures("home")


def test_headless_sessions_survive_the_lead_and_leave_no_zombie(home: Path, tmp_path: Path) -> None:
    """A guard belongs to nobody: the lead may die, and while it lives it fetches the ends."""
    code = """
import sys
from pathlib import Path
from tests.contracts.stages import HeadlessStage
import msgspec
print(msgspec.json.encode(HeadlessStage(Path(sys.argv[1])).open(1)).decode())
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, cwd=Path.cwd())
    (handle,) = msgspec.json.decode(done.stdout, type=tuple[Handle, ...])
    stage = STAGES["headless"](tmp_path)
    assert stage.backend.alive([handle]) == {handle.incarnation}
    assert os.getsid(handle.pid) == handle.pid
    stage.backend.close(handle)
    stage.only_alive((handle,), set())

    (child,) = stage.open(1)
    stage.die(child)
    wait_until(lambda: not psutil.pid_exists(child.pid), SECONDS, "no zombie is left, though nobody asks")


def test_headless_logs_are_private_and_outlive_the_session(home: Path, tmp_path: Path) -> None:
    stage = STAGES["headless"](tmp_path)
    (handle,) = stage.open(1)
    stage.shows(handle, "here is 0")
    assert Path(handle.log).stat().st_mode & 0o777 == 0o600
    assert not stage.backend.nudge(handle, LINE)
    stage.leave()
    assert stage.backend.peek(handle, 3) == "here is 0"


def test_headless_undoes_what_started_before_a_failure(home: Path, tmp_path: Path) -> None:
    stage = STAGES["headless"](tmp_path)
    first, second = stage.sleepers(2)
    second.log.mkdir(parents=True)
    with pytest.raises(EnvironmentMissing, match="w-1"):
        stage.start([first, second])


def test_a_log_that_is_a_pipe_undoes_what_started_before_it(home: Path, tmp_path: Path) -> None:
    stage = STAGES["headless"](tmp_path)
    started = tmp_path / "started"
    first, second = (
        stage.opening("sh", "-c", f"echo $$ > {started}; exec sleep 600"),
        stage.opening("cat", "-", title="w-1"),
    )
    second.log.parent.mkdir()
    os.mkfifo(second.log)
    with pytest.raises(EnvironmentMissing, match=r"w-1.*not a regular file") as raised:
        stage.start([first, second])
    assert (raised.value.code, raised.value.hint) == (ErrorCode.UNSAFE_PATH, "move it away")
    wait_until(lambda: not _runs(started), SECONDS, "the first is gone")


def _runs(started: Path) -> bool:
    text = started.read_text() if started.exists() else ""
    return bool(text) and psutil.pid_exists(int(text))


@pytest.mark.parametrize("mode", ["headless", "in-process"])
def test_a_guard_of_a_failed_start_ends_its_agent_with_its_own_grace(
    mode: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent takes no heed of TERM and HUP, and its grace is longer than the patience with its guard."""
    stage = STAGES[mode](tmp_path)
    stubborn = f"trap '' TERM HUP; echo $$ > {tmp_path / 'started'}; while :; do sleep 0.1; done"
    plain = Stage.opening(stage, "sh", "-c", stubborn)
    first, second = guarded(stage, plain, plain.argv, grace=2.0), stage.opening("cat", "-", title="w-1")
    number = count(1)

    def no_process_is_left_for_the_second() -> dict[str, str]:
        if next(number) == 2:
            wait_until(lambda: _runs(tmp_path / "started"), SECONDS, "the first agent is there")
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return started_for_others()

    monkeypatch.setattr(headless, "started_for_others", no_process_is_left_for_the_second)
    monkeypatch.setattr(headless, "PATIENCE", 0.1)
    with pytest.raises(EnvironmentMissing, match=r"w-1.*unavailable"):
        stage.start([first, second])
    report = stage.sessions / f"{first.incarnation}.json"
    wait_until(lambda: b'"exit":{' in report.read_bytes(), SECONDS, "the guard reports its end")
    wait_until(lambda: not _runs(tmp_path / "started"), SECONDS, "the agent is gone")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("plain\n", "plain\n"),
        ("\x1b[1;31mred\x1b[0m\x1b[K\n", "red\n"),
        ("\x1b]0;title\x07text\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "textlink\n"),
        ("10 %\r50 %\r100 %\r\nnext\n", "100 %\nnext\n"),
        ("bell\a null\0 tab\t del\x7f csi\x9b\n", "bell null tab\t del csi\n"),
        ("\x1b(Bset \x1b7saved\x1b8 é\n", "set saved é\n"),
    ],
)
def test_a_log_is_shown_as_plain_text(written: str, shown: str) -> None:
    assert printed(written) == shown
