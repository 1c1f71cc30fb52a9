"""The lock: everybody in turn, nobody for ever, the holder named (AC-64, reliability 9, 17, 18, 19)."""

import errno
import fcntl
import os
import signal
import stat
import time
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path

import psutil
import pytest

from pro0.errors import NotFound, StoreError
from pro0.store.files import add_folder
from pro0.store.lock import locked
from pro0.store.mailbox import Box
from tests import crowd
from tests.waiting import wait_until


def hold(folder: Path, ready: Path) -> None:
    with locked(folder, "hold it for a test"):
        ready.touch()
        time.sleep(120)


def count_up(folder: Path, times: int) -> None:
    for _ in range(times):
        with locked(folder, "count", patience=60):
            number = int((folder / "number").read_text() or "0")
            (folder / "number").write_text(str(number + 1))
            with (folder / "who").open("a") as who:
                who.write(f"{os.getpid()}\n")


Holding = Callable[[], BaseProcess]


@pytest.fixture
def holding(tmp_path: Path) -> Iterator[Holding]:
    """Start a process that holds the lock of tmp_path."""
    started: list[BaseProcess] = []

    def start() -> BaseProcess:
        ready = tmp_path / f"ready-{len(started)}"
        process = crowd.start(hold, tmp_path, ready)
        started.append(process)
        wait_until(ready.exists, 20, "the lock is held")
        return process

    yield start
    for process in started:
        process.kill()
        process.join()


def test_fifty_contenders_all_progress(tmp_path: Path) -> None:
    """AC-64, reliability 9."""
    (tmp_path / "number").write_text("0")
    crowd.run(count_up, [(tmp_path, 4)] * 50)
    assert (tmp_path / "number").read_text() == "200"
    assert len(set((tmp_path / "who").read_text().split())) == 50


def test_a_killed_holder_frees_it_at_once(tmp_path: Path, holding: Holding) -> None:
    """AC-64, reliability 17: no time passes but that of the next try."""
    process = holding()
    process.kill()
    process.join()
    with locked(tmp_path, "next", patience=0):
        pass


def test_a_stopped_holder_is_named_and_never_robbed(tmp_path: Path, holding: Holding) -> None:
    """AC-64, reliability 18."""
    process = holding()
    os.kill(process.pid or 0, signal.SIGSTOP)
    with pytest.raises(StoreError) as raised, locked(tmp_path, "wait", patience=0.2):
        pass
    assert raised.value.code == "lock_timeout"
    assert raised.value.exit_code == 5
    assert f"pid {process.pid} (hold it for a test, since " in raised.value.message
    assert str(tmp_path / ".lock") in raised.value.message
    os.kill(process.pid or 0, signal.SIGCONT)
    with pytest.raises(StoreError), locked(tmp_path, "wait", patience=0):
        pass


@pytest.mark.parametrize("replaced", [False, True])
def test_a_lock_file_that_is_deleted_lets_nobody_in(tmp_path: Path, replaced: bool) -> None:
    """Reliability 19: the folder is locked too, and who comes next makes the file anew."""
    with locked(tmp_path, "first"):
        (tmp_path / ".lock").unlink()
        if replaced:
            (tmp_path / ".lock").touch()
        with pytest.raises(StoreError, match="gave up"), locked(tmp_path, "second", patience=0):
            pass
    with locked(tmp_path, "third", patience=0):
        assert (tmp_path / ".lock").exists()


def delete_the_lock(folder: Path, ready: Path) -> None:
    ready.touch()
    while not (folder / "over").exists():
        (folder / ".lock").unlink(missing_ok=True)


def test_a_lock_file_that_is_deleted_all_the_time(tmp_path: Path) -> None:
    """Reliability 19: still everybody in turn."""
    (tmp_path / "number").write_text("0")
    process = crowd.start(delete_the_lock, tmp_path, tmp_path / "ready")
    wait_until((tmp_path / "ready").exists, 20, "it deletes")
    try:
        crowd.run(count_up, [(tmp_path, 500)] * 4)
    finally:
        (tmp_path / "over").touch()
    crowd.all_end_well([process], 20)
    assert (tmp_path / "number").read_text() == "2000"


def test_a_file_system_that_locks_no_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NFS: the file alone has to do."""
    real = fcntl.flock

    def flock(descriptor: int, how: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EBADF, "Bad file descriptor")
        real(descriptor, how)

    monkeypatch.setattr("fcntl.flock", flock)
    with locked(tmp_path, "first"), pytest.raises(StoreError), locked(tmp_path, "second", patience=0):
        pass


def wait_for_lock(folder: Path, result: Path) -> None:
    try:
        with locked(folder, "wait", patience=60):
            outcome = "locked"
    except FileNotFoundError:
        outcome = "gone"
    result.with_suffix(".new").write_text(outcome)
    result.with_suffix(".new").rename(result)


def waits(process: BaseProcess, lock: Path) -> bool:
    """Whether that process has the lock file open."""
    return any(file.path == str(lock) for file in psutil.Process(process.pid).open_files())


def test_a_folder_that_is_taken_away_while_one_waits(tmp_path: Path) -> None:
    """Rulings 3.10: nothing is made again."""
    place, ready, result = tmp_path / "place", tmp_path / "ready", tmp_path / "result"
    place.mkdir()
    holder = crowd.start(hold, place, ready)
    wait_until(ready.exists, 20, "the lock is held")
    process = crowd.start(wait_for_lock, place, result)
    wait_until(lambda: waits(process, place / ".lock"), 20, "it waits")
    place.rename(tmp_path / "away")
    holder.kill()
    holder.join()
    crowd.all_end_well([process], 20)
    assert result.read_text() == "gone"
    assert not place.exists()


def test_a_missing_folder_is_not_made(tmp_path: Path) -> None:
    box = Box(tmp_path / "mailboxes" / "w1", "w1")
    for act in (box.make, lambda: add_folder(tmp_path / "tasks" / "task-1"), box.head.read):
        with pytest.raises(NotFound):
            act()
    with pytest.raises(FileNotFoundError), locked(tmp_path / "tasks", "x"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_an_error_inside_gives_the_lock_back(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(tmp_path, "first"):
        raise ZeroDivisionError
    with locked(tmp_path, "second", patience=0):
        pass


@pytest.mark.parametrize("kind", ["symlink", "fifo", "folder"])
def test_a_lock_file_that_is_none(tmp_path: Path, kind: str) -> None:
    """Reliability 30: a link is not followed, a FIFO does not hang."""
    lock = tmp_path / ".lock"
    if kind == "symlink":
        lock.symlink_to(tmp_path / "victim")
    elif kind == "fifo":
        os.mkfifo(lock)
    else:
        lock.mkdir()
    with pytest.raises(OSError), locked(tmp_path, "x", patience=0):
        pass
    assert not (tmp_path / "victim").exists()


def leave_a_file_and_die(folder: Path) -> None:
    with locked(folder, "be killed"):
        (folder / ".tmp-left").touch()
        os.kill(os.getpid(), signal.SIGKILL)


def test_what_a_killed_holder_left_is_removed_by_the_next(tmp_path: Path) -> None:
    """Reliability 11: no temporary file after the next operation; nobody else pays for looking."""
    crowd.start(leave_a_file_and_die, tmp_path).join()
    (tmp_path / "kept").touch()
    with locked(tmp_path, "next"):
        assert sorted(os.listdir(tmp_path)) == [".lock", "kept"]
    assert (tmp_path / ".lock").read_bytes() == b""
