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
from pro0.ops.mail import messages
from pro0.ops.tasks import tasks
from pro0.store import atomic, lock
from pro0.store.files import add_folder
from pro0.store.lease import Lease
from pro0.store.lock import locked
from pro0.store.mailbox import Box
from pro0.store.paths import LOCK, QUEUE
from pro0.store.teams import Store
from tests import crowd
from tests.faults import contents
from tests.teams import human, make_team
from tests.waiting import wait_until


def hold(folder: Path, ready: Path) -> None:
    with locked(folder, "hold it for a test"):
        ready.touch()
        time.sleep(600)


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
        time.sleep(0.0001)  # on a processor of its own it would leave nobody the time to look at the file just made


def test_a_lock_file_that_is_deleted_all_the_time(tmp_path: Path) -> None:
    """Reliability 19: still everybody in turn."""
    (tmp_path / "number").write_text("0")
    process = crowd.start(delete_the_lock, tmp_path, tmp_path / "ready")
    wait_until((tmp_path / "ready").exists, 20, "it deletes")
    try:
        crowd.run(count_up, [(tmp_path, 150)] * 4)
    finally:
        (tmp_path / "over").touch()
    crowd.all_end_well([process], 20)
    assert (tmp_path / "number").read_text() == "600"


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


def test_a_folder_alone_is_locked_without_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also against whoever takes the lock of that folder with its file."""
    monkeypatch.setattr(lock, "PATIENCE", 0.01)
    with lock.folder_locked(tmp_path) as folder:
        assert os.path.samestat(os.fstat(folder), tmp_path.stat())
        assert os.listdir(tmp_path) == []
        with pytest.raises(StoreError, match=r"another process is changing .*; gave up after 0\.01 s") as refused:
            lock.folder_locked(tmp_path).__enter__()
        assert (refused.value.code, refused.value.hint) == ("lock_timeout", lock.END_IT)
        with pytest.raises(StoreError), locked(tmp_path, "second", patience=0):
            pass
    with lock.folder_locked(tmp_path):
        pass


@pytest.mark.parametrize("number", [errno.EBADF, errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP])
def test_a_folder_of_the_persons_on_a_file_system_without_locks(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is kept out there: the folder of a project is no home of pro0."""

    def flock(_descriptor: int, _how: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", flock)
    with lock.folder_locked(tmp_path), lock.folder_locked(tmp_path):
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
    """AC-64: the limit counts for one holder; a lock that goes from hand to hand is waited for."""
    clock = iter(float(second) for second in range(1000))
    names = iter([b"pid 1", b"pid 2", b"pid 3"])
    monkeypatch.setattr("time.sleep", lambda _: None)
    with locked(tmp_path, "first") as folder:
        descriptor = lock.open_lock(folder, LOCK)
        monkeypatch.setattr("time.monotonic", lambda: next(clock))
        with pytest.raises(StoreError):
            lock._taken(tmp_path, folder, 3)
        assert next(clock) == 5.0, "it looks at 1, 2, 3 and 4"

        def sleep(_: float) -> None:
            os.pwrite(descriptor, next(names, b"pid 4"), 0)

        monkeypatch.setattr("time.sleep", sleep)
        with pytest.raises(StoreError, match="pid 4"):
            lock._taken(tmp_path, folder, 3)
        assert next(clock) == 16.0, "each new name is waited for"
        os.close(descriptor)


def take_in_turn(folder: Path, number: int, asleep: float = lock.ASLEEP) -> None:
    """Take the lock in a process of its own, which passes over the first in line after so many seconds."""
    lock.ASLEEP, lock.LEFT = asleep, max(asleep, lock.LEFT)
    with locked(folder, "take a turn", patience=60), (folder / "order").open("a") as order:
        order.write(f"{number}\n")


def stand_in_line(folder: Path, number: int) -> bool:
    return (folder / QUEUE).is_dir() and len(os.listdir(folder / QUEUE)) == number


def line_up(folder: Path, number: int, asleep: float = lock.ASLEEP) -> list[BaseProcess]:
    """Start processes that wait for a held lock, one after the other."""
    waiting = []
    for place in range(number):
        waiting.append(crowd.start(take_in_turn, folder, place, asleep))
        wait_until(partial(stand_in_line, folder, place + 1), 60, "it stands in line")
    return waiting


def test_waiters_are_served_in_the_order_in_which_they_came(tmp_path: Path, holding: Holding) -> None:
    """AC-64: a line, not a draw; afterwards nothing of it is left. Even on a busy machine."""
    process = holding()
    waiting = line_up(tmp_path, 12, asleep=60)
    process.kill()
    crowd.all_end_well(waiting, 120)
    assert (tmp_path / "order").read_text().split() == [str(place) for place in range(12)]
    assert not (tmp_path / QUEUE).exists()


def test_a_waiter_that_is_killed_keeps_nobody_waiting(tmp_path: Path, holding: Holding) -> None:
    """AC-64, reliability 17: its ticket is removed by whoever stands behind it."""
    process = holding()
    waiting = line_up(tmp_path, 6)
    for place in (0, 1, 3):
        waiting[place].kill()
        waiting[place].join()
    process.kill()
    crowd.all_end_well([waiting[place] for place in (2, 4, 5)], 120)
    assert (tmp_path / "order").read_text().split() == ["2", "4", "5"]
    assert not (tmp_path / QUEUE).exists()


def test_a_waiter_that_is_stopped_is_passed_over(tmp_path: Path, holding: Holding) -> None:
    """AC-64, reliability 18: once, and stands at the end of the line when it goes on."""
    process = holding()
    waiting = line_up(tmp_path, 4)
    os.kill(waiting[0].pid or 0, signal.SIGSTOP)
    process.kill()
    crowd.all_end_well(waiting[1:], 120)
    os.kill(waiting[0].pid or 0, signal.SIGCONT)
    crowd.all_end_well(waiting[:1], 120)
    order = (tmp_path / "order").read_text().split()
    assert sorted(order) == ["0", "1", "2", "3"]
    assert order[-1] == "0"


def test_who_comes_later_does_not_push_in(tmp_path: Path, holding: Holding) -> None:
    """AC-64: a lock that is free for a moment belongs to the first in line."""
    process = holding()
    waiting = line_up(tmp_path, 1)
    os.kill(waiting[0].pid or 0, signal.SIGSTOP)
    process.kill()
    process.join()
    with pytest.raises(StoreError), locked(tmp_path, "push in", patience=0):
        pass
    os.kill(waiting[0].pid or 0, signal.SIGCONT)
    crowd.all_end_well(waiting, 120)


def test_what_a_line_leaves_behind_keeps_nobody(tmp_path: Path) -> None:
    """AC-64: tickets of the killed, and what is no ticket, which stays."""
    (tmp_path / QUEUE).mkdir()
    for name in ("00000000000000000001-0123abcd", "99999999999999999999-0123abcd", "a letter"):
        (tmp_path / QUEUE / name).write_text("kept")
    with locked(tmp_path, "first", patience=0):
        pass
    assert os.listdir(tmp_path / QUEUE) == ["a letter"]


@pytest.mark.parametrize("there", ["a file", "a link", "no right to write"])
def test_where_no_line_can_stand_one_waits_without(tmp_path: Path, there: str, holding: Holding) -> None:
    """AC-64: the line gives the order, never the lock."""
    if there == "a file":
        (tmp_path / QUEUE).write_text("mine")
    elif there == "a link":
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / QUEUE).symlink_to("elsewhere")
    process = holding()
    if there == "no right to write":
        (tmp_path / QUEUE).mkdir(mode=0o500)
    waiting = [crowd.start(take_in_turn, tmp_path, number) for number in range(3)]
    wait_until(lambda: all(waits(one, tmp_path / ".lock") for one in waiting), 60, "they wait")
    process.kill()
    crowd.all_end_well(waiting, 120)
    assert len((tmp_path / "order").read_text().split()) == 3
    if there == "a file":
        assert (tmp_path / QUEUE).read_text() == "mine"
    elif there == "a link":
        assert os.listdir(tmp_path / "elsewhere") == []


def test_a_lock_file_with_a_second_name_is_a_persons_file_too(tmp_path: Path) -> None:
    """Reliability 19, 30: not a byte of it is touched, and the lock is made anew."""
    (tmp_path / "letter").write_text("dear all")
    os.link(tmp_path / "letter", tmp_path / LOCK)
    with locked(tmp_path, "first"), pytest.raises(StoreError, match="first"), locked(tmp_path, "x", patience=0):
        pass
    assert (tmp_path / "letter").read_text() == "dear all"
    assert (tmp_path / LOCK).read_bytes() == b""
    assert (tmp_path / "letter").stat().st_nlink == 1


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


def test_a_name_that_is_no_text_is_told_all_the_same(tmp_path: Path) -> None:
    """A shell hands over any bytes, as in the name of a role."""
    with locked(tmp_path, "remove role a\udcffb") as folder:
        told = os.open(LOCK, os.O_RDONLY, dir_fd=folder)
        assert "(remove role a?b, since " in lock.holder(told)
        os.close(told)


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
