"""The lock: everybody in turn, nobody for ever, the holder named (AC-64, reliability 9, 17, 18, 19)."""

import errno
import fcntl
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path

import psutil
import pytest

from pro0.errors import NotFound, StoreError
from pro0.model.task import Draft
from pro0.ops import messages, tasks
from pro0.store import atomic, lock
from pro0.store.files import add_folder
from pro0.store.lease import Lease
from pro0.store.lock import locked
from pro0.store.mailbox import Box
from pro0.store.paths import LOCK
from pro0.store.teams import Store
from tests import crowd
from tests.faults import contents
from tests.teams import human, make_team
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


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_refused(number: int, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reliability 79: never on without a lock, and what to do is said."""
    team = make_team(home, "w1")
    before = contents(home)

    def flock(_descriptor: int, _how: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", flock)
    acts: list[Callable[[], object]] = [
        lambda: tasks.create(human(team), [Draft(title="t")]),
        lambda: messages.send(human(team), "w1", "hello"),
        lambda: Lease(team.paths.team).take("lead"),
        lambda: Store(home).sweep(),
    ]
    for act in acts:
        with pytest.raises(StoreError) as refused:
            act()
        assert refused.value.hint == "this file system has no locks; choose another PRO0_HOME"
        assert contents(home) == before


OPEN_FILES = (
    "import os; print(*{os.fstat(int(n)).st_ino for n in os.listdir('/dev/fd') if os.path.exists('/dev/fd/' + n)})"
)


def test_a_program_that_is_started_meanwhile_keeps_no_lock(tmp_path: Path) -> None:
    """Reliability 20: not even one that is handed all that may be."""
    with locked(tmp_path, "start a program"):
        lock = (tmp_path / LOCK).stat().st_ino
        child = subprocess.run([sys.executable, "-c", OPEN_FILES], close_fds=False, capture_output=True, check=True)
        assert not {lock, tmp_path.stat().st_ino} & set(map(int, child.stdout.split()))


def test_whoever_waits_looks_often_and_not_in_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AC-64: pauses of one to five milliseconds, no two waiters' alike for long."""
    pauses: list[float] = []
    real = time.sleep

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        real(0.001)

    monkeypatch.setattr("time.sleep", sleep)
    with locked(tmp_path, "first"), pytest.raises(StoreError), locked(tmp_path, "second", patience=0.2):
        pass
    assert 10 < len(pauses) <= 200
    assert all(0.001 <= pause < 0.005 for pause in pauses)
    assert max(pauses) - min(pauses) > 0.001


def test_whoever_waits_stops_at_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(float(second) for second in range(1000))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    with locked(tmp_path, "first") as folder:
        descriptor = lock.open_lock(folder, LOCK)
        assert not lock._wait(folder, descriptor, next(clock) + 3)
        os.close(descriptor)
    assert next(clock) == 6.0, "it looks once more when the time is up, and gives up at the first look after"


def test_what_a_waiter_is_told(tmp_path: Path) -> None:
    since = r"\d\d:\d\d:\d\d"
    with locked(tmp_path, "first"), pytest.raises(StoreError) as raised, locked(tmp_path, "second", patience=0.05):
        pass
    by = rf"pid {os.getpid()} \(first, since {since}\)"
    said = rf"{re.escape(str(tmp_path))}/\.lock is held by {by}; gave up after 0\.05 s"
    assert re.fullmatch(said, raised.value.message)
    assert (raised.value.code, raised.value.hint) == (
        "lock_timeout",
        "if that process hangs, end it; nothing was changed",
    )


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (b"", "an unknown process"),
        (b"pid 1 (\xff)", "pid 1 (\ufffd)"),
        (b"x" * 400, "x" * 400),
        (b"x" * 401, "x" * 400),
    ],
)
def test_whatever_stands_in_a_lock_file_can_be_told(tmp_path: Path, written: bytes, told: str) -> None:
    (tmp_path / "lock").write_bytes(written)
    with (tmp_path / "lock").open("rb") as file:
        file.seek(0, os.SEEK_END)
        assert lock.holder(file.fileno()) == told


def test_a_name_is_written_over_a_longer_one(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("wb+") as file:
        for why in ("a much longer reason than the next", "short"):
            lock.sign(file.fileno(), why)
        assert re.fullmatch(rf"pid {os.getpid()} \(short, since \d\d:\d\d:\d\d\)", lock.holder(file.fileno()))


def test_a_lock_is_private(tmp_path: Path) -> None:
    """Reliability 32."""
    before = os.umask(0)
    try:
        with locked(tmp_path, "x"):
            assert (tmp_path / ".lock").stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_a_lock_that_leads_nowhere_guards_nothing(tmp_path: Path) -> None:
    """The folder, and the file in it, must still be those that are open."""
    place = tmp_path / "place"
    place.mkdir()
    with atomic.folder(place) as folder:
        descriptor = lock.open_lock(folder, "lock")
        there = partial(lock.still_there, place, folder, "lock", descriptor)
        assert there()
        (place / "lock").rename(place / "other")
        assert not there()
        (place / "lock").touch()
        assert not there()
        (place / "lock").unlink()
        (place / "lock").symlink_to("other")
        assert not there(), "a link to it is not it"
        os.rename(place / "other", place / "lock")
        assert there()
        place.rename(tmp_path / "away")
        assert not there()
        place.symlink_to(tmp_path / "away")
        assert not there(), "a link to it is not it"
        os.close(descriptor)


def test_only_what_writers_leave_is_tidied_away(tmp_path: Path) -> None:
    for name in (".tmp-x", ".tmp-", "x.tmp-", ".lock"):
        (tmp_path / name).touch()
    (tmp_path / ".tmp-folder").mkdir()
    with atomic.folder(tmp_path) as folder:
        lock.tidy(folder)
    assert sorted(os.listdir(tmp_path)) == [".lock", ".tmp-folder", "x.tmp-"]


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
    place = tmp_path / ".lock"
    if kind == "symlink":
        place.symlink_to(tmp_path / "victim")
    elif kind == "fifo":
        os.mkfifo(place)
    else:
        place.mkdir()
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
