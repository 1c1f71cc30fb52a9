"""The net under the tests: what a test leaves behind is found, named and ended."""

import os
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from pro0 import __version__
from pro0.installation import about
from tests import memory, waiting
from tests.conftest import Result
from tests.leftovers import end, processes_under
from tests.waiting import STUCK, wait_until

ROOT = Path(__file__).parents[2]
LEAVES_A_PROCESS = """
import os, subprocess
from tests import conftest
from tests.conftest import *

conftest.ENDING = 1

def test_that_forgets(home):
    process = subprocess.Popen(["sleep", "300"], start_new_session=True)
    print("PID", process.pid)
    del process
"""


def test_a_process_below_a_folder_is_found_and_ended(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "300"], env=os.environ | {"PRO0_HOME": str(tmp_path / "pro0")}) as process:
        left = wait_until(lambda: processes_under(tmp_path), 10, "the process is found")
        assert [one.process.pid for one in left] == [process.pid]
        assert not processes_under(tmp_path / "other")
        end(left)
    assert not processes_under(tmp_path)


def test_a_tmux_server_is_found_and_ended(home: Path) -> None:
    name = uuid.uuid4().hex[:8]
    subprocess.run(["tmux", "-L", name, "new-session", "-d", "sleep 300"], check=True, timeout=STUCK)
    left = wait_until(
        lambda: [one for one in processes_under(home.parent) if "tmux" in one.argv[0]], 10, "tmux is found"
    )
    end(left)
    subprocess.run(["tmux", "-L", name, "kill-server"], check=False, capture_output=True, timeout=STUCK)
    wait_until(lambda: not processes_under(home.parent), 10, "the server and its panes have ended")


def test_a_forgotten_process_fails_the_session(tmp_path: Path) -> None:
    (tmp_path / "test_forgets.py").write_text(LEAVES_A_PROCESS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "--basetemp", tmp_path / "t", tmp_path],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=STUCK,
    )
    assert done.returncode == 1, done.stdout
    assert "tests left processes alive" in done.stdout
    assert "sleep 300" in done.stdout
    assert not processes_under(tmp_path)


def test_wait_until_names_what_did_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """No number in a test makes it fail before STUCK, which is no measure of anything."""
    monkeypatch.setattr(waiting, "STUCK", 0.05)
    assert wait_until(lambda: 7, 1, "seven") == 7
    with pytest.raises(AssertionError, match=r"after 0\.05 s still not: the moon"):
        wait_until(lambda: None, 0.01, "the moon")


def test_a_home_is_fresh_and_alone(home: Path) -> None:
    assert not home.exists()
    assert os.environ["PRO0_HOME"] == str(home)
    assert Path(os.environ["HOME"]).is_relative_to(home.parent)
    assert [name for name in os.environ if name.startswith("PRO0_")] == ["PRO0_HOME"]
    assert len(os.environ["TMUX_TMPDIR"]) < 60
    assert "TMUX" not in os.environ


def test_the_program_is_called_as_a_person_does(cli: Callable[..., Result], home: Path) -> None:
    assert cli("--version") == (0, f"pro0 {__version__} ({about()})\n", "")
    assert not home.exists()


def test_a_run_that_was_killed_leaves_no_memory_taken(tmp_path: Path) -> None:
    """What it left goes with the next run; the folder of one that still runs stays."""
    left = tmp_path / f"{memory.NAME}left"
    (left / "run" / "deep").mkdir(parents=True)
    (tmp_path / "another's").mkdir()
    with memory.folder(tmp_path, room=0) as first:
        assert first
        assert not left.exists()
        (first / "file").touch()
        with memory.folder(tmp_path, room=0) as second:
            assert second
            assert (first / "file").exists()
    assert os.listdir(tmp_path) == ["another's"]


@pytest.mark.parametrize("place", ["nothing there", "no room"])
def test_without_memory_for_it_a_run_keeps_its_files_as_always(tmp_path: Path, place: str) -> None:
    there = tmp_path if place == "no room" else tmp_path / "shm"
    with memory.folder(there, room=1 << 60) as folder:
        assert folder is None
    assert not os.listdir(tmp_path)
