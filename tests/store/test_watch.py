"""Waking up when a folder changes: of the files that were asked for, soon, and never for anything else."""

import errno
import os
import select
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from pro0 import inotify
from pro0.store import watch
from pro0.store.watch import Watch
from tests.waiting import STUCK, wait_until

SECONDS = STUCK


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "watched"
    (place / "below").mkdir(parents=True)
    return place


@pytest.fixture
def watching(folder: Path) -> Iterator[Watch]:
    made = looking(folder)
    yield made
    made.close()


def looking(folder: Path) -> Watch:
    """Return a watch that is known to look: it has told of a change."""
    made = Watch([folder], r"tasks\.json|probe")
    for number in range(int(SECONDS * 10)):
        (folder / "probe").write_text(str(number))
        if select.select([made], [], [], 0.1)[0]:
            settle(made)
            return made
    raise AssertionError("it never looked")


def settle(made: Watch) -> None:
    """Wait until all that was changed before is told."""
    while select.select([made], [], [], 0.5)[0]:
        assert made.drain()


def told(made: Watch) -> bool:
    return bool(select.select([made], [], [], SECONDS)[0])


@pytest.mark.parametrize("name", ["tasks.json", "below/tasks.json"])
def test_a_change_is_told_and_forgotten(watching: Watch, folder: Path, name: str) -> None:
    (folder / name).write_text("x")
    assert told(watching)
    settle(watching)
    assert not watching.drain()
    os.replace(folder / "probe", folder / name)
    assert told(watching)


def test_which_names_fit() -> None:
    made = Watch([Path("/there/is/no/such/folder")], r"a\.json|b")
    fits = {}
    for name in ("a.json", "b", "axjson", "a.json.b", "ab", ""):
        made.tell([name])
        fits[name] = made.drain()
    made.close()
    assert fits == {"a.json": True, "b": True, "axjson": False, "a.json.b": False, "ab": False, "": False}


def test_a_folder_that_is_gone_is_no_error(folder: Path) -> None:
    made = Watch([folder / "gone"], ".*")
    assert not made._watching.thread.is_alive()
    assert not made.drain()
    made.close()


def test_a_full_pipe_blocks_nobody(folder: Path) -> None:
    """One byte of it is enough to wake up."""
    made = looking(folder)
    with suppress(BlockingIOError):
        while os.write(made._writable, b"x" * 4096):
            pass
    for number in range(20):
        (folder / "tasks.json").write_text(str(number))
    made.close()
    assert not made._watching.thread.is_alive()


def test_a_watch_that_nobody_closes_keeps_no_program_from_ending(watching: Watch) -> None:
    assert watching._watching.thread.daemon


def test_a_signal_wakes_whoever_waits(folder: Path) -> None:
    """As `signal.set_wakeup_fd` does it: a byte through the descriptor that rings."""
    made = Watch([folder], "x")
    os.write(made.ringing(), b"\x0f")
    assert told(made)
    assert made.drain()
    assert not made.drain()
    made.close()


def test_nothing_stays_open(folder: Path) -> None:
    def descriptors() -> int:
        return len(os.listdir("/dev/fd"))

    Watch([folder], "x").close()
    before = descriptors()
    for _ in range(20):
        Watch([folder], "x").close()
    wait_until(lambda: descriptors() <= before, SECONDS, "its descriptors are closed")


def test_other_files_wake_nobody(watching: Watch, folder: Path) -> None:
    """That their change was seen is known from another watch, which looks for all."""
    wide = Watch([folder], ".*")
    (folder / "other.json").write_text("x")
    for number in range(int(SECONDS * 10)):
        if select.select([wide], [], [], 0.1)[0]:
            break
        (folder / "other.json").write_text(str(number))
    settle(wide)
    assert not watching.drain()
    wide.close()


def test_its_descriptors_block_nobody_and_are_nobody_elses(folder: Path) -> None:
    made = Watch([folder], "x")
    for descriptor in (made.fileno(), made._writable):
        assert not os.get_blocking(descriptor)
        assert not os.get_inheritable(descriptor)
    assert not made.drain()
    made.close()


def test_watches_of_the_same_folders_share_a_thread(folder: Path) -> None:
    """Each is told of its own files; one that is closed ends no other; the last one ends the thread."""
    one, two = looking(folder), Watch([folder], r"other|probe")
    thread = one._watching.thread
    assert two._watching.thread is thread
    for name, whose, others in (("tasks.json", one, two), ("other", two, one)):
        (folder / name).write_text("x")
        assert told(whose)
        settle(whose)
        assert not others.drain()
    one.close()
    (folder / "other").write_text("y")
    assert told(two)
    two.close()
    assert not thread.is_alive()


def test_a_folder_of_the_same_name_is_another(folder: Path) -> None:
    """A team that was removed and made anew while somebody watched the old one."""
    old = looking(folder)
    folder.rename(folder.with_name("removed"))
    folder.mkdir()
    new = looking(folder)
    assert new._watching.thread is not old._watching.thread
    old.close()
    (folder / "tasks.json").write_text("x")
    assert told(new)
    new.close()


def test_many_watches_come_and_go_at_once(folder: Path) -> None:
    kept = looking(folder)

    def come_and_go(number: int) -> None:
        for _ in range(20):
            made = Watch([folder], "tasks")
            (folder / "other").write_text(str(number))
            made.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(come_and_go, range(4)))
    settle(kept)
    (folder / "tasks.json").write_text("x")
    assert told(kept)
    kept.close()
    assert not kept._watching.thread.is_alive()


@pytest.mark.parametrize("inside", ["tasks.json", "a/tasks.json", "a/b/c/tasks.json"])
@pytest.mark.parametrize("how", ["moved in", "made there"])
def test_a_folder_that_comes_is_looked_at(watching: Watch, folder: Path, inside: str, how: str) -> None:
    """What is in it when it comes is told, and every later change."""
    before = folder / "new" if how == "made there" else folder.with_name("made")
    file = before / inside
    file.parent.mkdir(parents=True)
    file.write_text("x")
    if how == "moved in":
        before.rename(folder / "new")
    assert told(watching)
    settle(watching)
    (folder / "new" / inside).write_text("y")
    assert told(watching)


def test_a_folder_that_goes_and_comes_back_is_looked_at(watching: Watch, folder: Path) -> None:
    for number in range(3):
        (folder / "below").rename(folder.with_name("away"))
        folder.with_name("away").rename(folder / "below")
        settle(watching)
        (folder / "below" / "tasks.json").write_text(str(number))
        assert told(watching)
        settle(watching)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a library looks")
def test_a_folder_that_is_gone_is_forgotten(folder: Path) -> None:
    """A lead works for weeks, and each session has a folder."""
    changes = inotify.Inotify([str(folder)])
    news, known = iter(changes), sorted(changes._folders.values())
    for number in range(3):
        (new := folder / f"new-{number}" / "below").mkdir(parents=True)
        while str(new) not in changes._folders.values():
            next(news)
        new.rmdir()
        new.parent.rmdir()
        while any(path.startswith(str(new.parent)) for path in changes._folders.values()):
            assert select.select([changes._descriptor], [], [], 1)[0], "it is told, and still known"
            next(news)
    assert sorted(changes._folders.values()) == known
    changes.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a library looks")
def test_an_idle_watch_never_wakes(watching: Watch) -> None:
    """Its thread sleeps in the kernel: what the kernel counts of its wake-ups stays the same while another's grows."""
    status = Path(f"/proc/self/task/{watching._watching.thread.native_id}/status")

    def wake_ups() -> int:
        return int(status.read_text().partition("\nvoluntary_ctxt_switches:")[2].split()[0])

    settle(watching)
    before = wake_ups()
    for _ in range(100):
        time.sleep(0.01)
    assert wake_ups() == before


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a library looks")
def test_lost_changes_may_be_changes_of_any_file(folder: Path) -> None:
    """The kernel drops what it has no room for, and says so: then everybody is told."""
    queue = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if queue > 100_000:
        pytest.skip("the queue of this machine is too long to fill")
    changes = inotify.Inotify([str(folder)])
    files = [os.open(folder / name, os.O_WRONLY | os.O_CREAT) for name in ("a", "b")]
    for _ in range(queue):  # the kernel takes equal changes in a row for one
        for file in files:
            os.write(file, b"x")
    assert None in iter(changes)
    for file in files:
        os.close(file)
    changes.close()


def test_without_a_thread_nobody_is_told_and_nothing_stays_open(folder: Path) -> None:
    """The system has no room for a stack of this size, as it has none for any at its limit of threads."""
    before, size = len(os.listdir("/dev/fd")), threading.stack_size(1 << 45)
    try:
        made = Watch([folder], ".*")
    finally:
        threading.stack_size(size)
    (folder / "tasks.json").write_text("x")
    assert not made.drain()
    made.close()
    assert len(os.listdir("/dev/fd")) == before
    again = looking(folder)  # with room for a thread, the next one looks
    again.close()


def test_without_a_watch_of_the_system_nobody_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever watches looks by itself from time to time; a limit of the system is no error."""

    def full(_folders: object) -> None:
        raise OSError(errno.ENOSPC, "no watch left")

    monkeypatch.setattr(watch, "_Changes", full)
    made = Watch([folder], ".*")
    (folder / "tasks.json").write_text("x")
    assert not made.drain()
    made.close()
