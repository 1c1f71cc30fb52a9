"""Sessions without a terminal."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import psutil
import pytest

from pro0.errors import EnvironmentMissing
from pro0.model.runtime import Handle
from pro0.rules.text import printed
from tests.contracts.stages import STAGES
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
