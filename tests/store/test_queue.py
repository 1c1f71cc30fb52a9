"""The places in the queue for a lock: taken, lost, overtaken and given up."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from pro0.store import atomic
from pro0.store.paths import QUEUE
from pro0.store.queue import QueueTicket, waited_for
from tests.faults import fail_with, fault_at


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    with atomic.folder(tmp_path) as descriptor:
        yield descriptor


def standing(place: Path) -> list[str]:
    return sorted(os.listdir(place / QUEUE)) if (place / QUEUE).exists() else []


def test_each_waiter_has_all_before_it_that_came_before(folder: int, tmp_path: Path) -> None:
    assert not waited_for(folder)
    with QueueTicket(folder) as first, QueueTicket(folder) as second, QueueTicket(folder) as third:
        assert waited_for(folder)
        assert [one.before() for one in (first, second, third)] == [0, 1, 2]
    assert not waited_for(folder)
    assert not (tmp_path / QUEUE).exists()


def test_who_is_overtaken_goes_to_the_end_of_the_line(folder: int, tmp_path: Path) -> None:
    with QueueTicket(folder) as first, QueueTicket(folder) as second, QueueTicket(folder) as third:
        lost = standing(tmp_path)[0]
        second.overtake()
        assert lost not in standing(tmp_path)
        assert [one.before() for one in (second, third)] == [0, 1]
        assert first.before() == 1, "somebody is ahead, and how many the next look tells"
        assert [one.before() for one in (second, third, first)] == [0, 1, 2]
        assert len(standing(tmp_path)) == 3
    assert not (tmp_path / QUEUE).exists()


def test_nobody_overtakes_oneself_or_more_than_the_first(folder: int, tmp_path: Path) -> None:
    with QueueTicket(folder) as first, QueueTicket(folder), QueueTicket(folder) as third:
        before = standing(tmp_path)
        first.overtake()
        assert standing(tmp_path) == before
        third.overtake()
        assert standing(tmp_path) == before[1:]


def test_a_ticket_that_another_holds_is_given_up_for_a_new_one(folder: int, tmp_path: Path) -> None:
    """Whoever looks whether its owner lives may lock it before the owner does, and then removes it."""
    before = len(os.listdir("/dev/fd"))
    with fault_at(1, fail_with(errno.EWOULDBLOCK), ("flock",)) as shim, QueueTicket(folder) as ticket:
        assert [call.name for call in shim.seen] == ["flock", "flock"]
        assert ticket.before() == 0
        assert len(standing(tmp_path)) == 1
        assert len(os.listdir("/dev/fd")) == before + 1
    assert len(os.listdir("/dev/fd")) == before
    assert not (tmp_path / QUEUE).exists()


def test_a_ticket_is_its_owners_alone(folder: int, tmp_path: Path) -> None:
    with QueueTicket(folder):
        [ticket] = standing(tmp_path)
        assert stat.S_IMODE((tmp_path / QUEUE / ticket).stat().st_mode) == atomic.FILE_MODE


STALE = f"{1:020d}-{2:08x}"


@pytest.mark.parametrize(("call", "at"), [("open", 2), ("unlink", 1)])
def test_nobody_is_waited_for_whose_ticket_has_just_gone(call: str, at: int, folder: int, tmp_path: Path) -> None:
    (tmp_path / QUEUE).mkdir()
    (tmp_path / QUEUE / STALE).touch()
    with fault_at(at, fail_with(errno.ENOENT), (call,)) as shim:
        assert not waited_for(folder)
    assert len(shim.seen) >= at


def test_the_ticket_of_a_killed_waiter_keeps_nobody_behind_it(folder: int, tmp_path: Path) -> None:
    (tmp_path / QUEUE).mkdir()
    (tmp_path / QUEUE / STALE).touch()
    with QueueTicket(folder) as first, QueueTicket(folder) as second:
        assert [one.before() for one in (second, first)] == [1, 0]
        assert STALE not in standing(tmp_path)


def test_a_link_is_no_ticket(folder: int, tmp_path: Path) -> None:
    """Nobody waits behind what a link leads to, though that is locked."""
    (tmp_path / QUEUE).mkdir()
    (tmp_path / "held").touch()
    (tmp_path / QUEUE / STALE).symlink_to(tmp_path / "held")
    with (tmp_path / "held").open("r+") as held:
        assert atomic.lock(held.fileno())
        assert not waited_for(folder)


def test_without_a_ticket_one_waits_without(folder: int, tmp_path: Path) -> None:
    """A few tries, then nobody counts as ahead; no file and no descriptor is left."""
    before = len(os.listdir("/dev/fd"))
    with fault_at(None, fail_with(errno.EWOULDBLOCK), ("flock",)) as shim, QueueTicket(folder) as ticket:
        assert len(shim.seen) == 3
        assert ticket.before() == 0
        assert standing(tmp_path) == []
        assert len(os.listdir("/dev/fd")) == before
    assert not (tmp_path / QUEUE).exists()
