"""Waiting for the ends of processes on a descriptor."""

import errno
import os
import select
import subprocess
import sys
from collections.abc import Iterator

import msgspec
import pytest

from pro0 import processes
from pro0.model.runtime import Process
from tests.waiting import wait_until


@pytest.fixture
def children() -> Iterator[list["subprocess.Popen[bytes]"]]:
    started = [subprocess.Popen(["sleep", "600"]) for _ in range(3)]
    yield started
    for child in started:
        child.kill()
        child.wait()


@pytest.fixture
def watch() -> Iterator[processes.ExitWatch]:
    with processes.ExitWatch() as one:
        yield one


def identity(child: "subprocess.Popen[bytes]") -> Process:
    found = processes.identify(child.pid)
    assert found
    return found


def readable(watch: processes.ExitWatch, seconds: float) -> bool:
    return bool(select.select([watch], [], [], seconds)[0])


def test_ends_are_told_once(children: list["subprocess.Popen[bytes]"], watch: processes.ExitWatch) -> None:
    known = [identity(child) for child in children]
    for process in known:
        watch.add(process)
        watch.add(process)
    assert not readable(watch, 0)
    assert watch.ended() == []

    children[0].kill()
    children[2].kill()
    assert readable(watch, 5)
    told: list[Process] = []
    while len(told) < 2 and readable(watch, 5):
        told += watch.ended()
    assert sorted(told, key=known.index) == [known[0], known[2]]
    assert not readable(watch, 0)
    assert watch.ended() == []


def test_who_is_gone_already_has_ended(children: list["subprocess.Popen[bytes]"], watch: processes.ExitWatch) -> None:
    zombie, gone, living = (identity(child) for child in children)
    children[0].kill()
    wait_until(lambda: not processes.alive(zombie), 30, "a zombie")
    children[1].kill()
    children[1].wait()
    stranger = msgspec.structs.replace(living, start="1")
    for process in (zombie, gone, stranger, zombie):
        watch.add(process)
    watch.add(living)
    assert readable(watch, 0)
    assert watch.ended() == [zombie, gone, stranger]
    assert not readable(watch, 0)


def test_the_discarded_are_not_told(children: list["subprocess.Popen[bytes]"], watch: processes.ExitWatch) -> None:
    known = [identity(child) for child in children]
    for process in known[:2]:
        watch.add(process)
    children[1].kill()
    assert readable(watch, 5)
    for process in known:
        watch.discard(process)
    children[0].kill()
    children[0].wait()
    assert watch.ended() == []
    assert not readable(watch, 0)


def test_no_descriptor_stays_open(children: list["subprocess.Popen[bytes]"]) -> None:
    before = len(os.listdir("/dev/fd"))
    with processes.ExitWatch() as watch:
        for child in children:
            watch.add(identity(child))
        children[0].kill()
        wait_until(watch.ended, 30, "told")
        watch.discard(identity(children[1]))
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no descriptor for each process")
def test_what_the_kernel_does_not_watch_leaves_no_descriptor_open(
    children: list["subprocess.Popen[bytes]"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has a limit of watches for each user: whoever has none left tries again and again."""
    before = len(os.listdir("/dev/fd"))
    with processes.ExitWatch() as watch:
        watch._queue._epoll.close()
        with pytest.raises(ValueError, match="closed"):
            watch.add(identity(children[0]))
    assert len(os.listdir("/dev/fd")) == before

    class Full:
        def register(self, _descriptor: int, _events: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(select, "epoll", Full)
    with pytest.raises(OSError, match="No space"):
        processes.ExitWatch()
    assert len(os.listdir("/dev/fd")) == before


def test_who_ended_before_it_was_watched_can_be_forgotten(
    children: list["subprocess.Popen[bytes]"], watch: processes.ExitWatch
) -> None:
    gone, other = identity(children[0]), identity(children[1])
    children[0].kill()
    children[0].wait()
    watch.add(gone)
    watch.discard(gone)
    watch.discard(other)
    assert watch.ended() == []


def test_ten_thousand_ends_do_not_block(children: list["subprocess.Popen[bytes]"], watch: processes.ExitWatch) -> None:
    """More than the pipe holds that wakes the waiter up; it is emptied whole."""
    living = identity(children[0])
    strangers = [msgspec.structs.replace(living, start=f"-{number}") for number in range(70_000)]
    for stranger in strangers:
        watch._gone.append(stranger)
        watch._queue.wake()
    assert readable(watch, 5)
    assert watch.ended() == strangers
    assert not readable(watch, 0)
