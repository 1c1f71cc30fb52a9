"""The lease: one lead at a time, as long as it lives (rulings 3.3, 3.12)."""

import errno
import os
import time
from pathlib import Path

import pytest

from pro0.errors import NotFound, StoreError
from pro0.store.lease import Lease
from tests import crowd
from tests.faults import fail_with, fault_at
from tests.waiting import wait_until


def lead(team: Path, ready: Path) -> None:
    lease = Lease(team)
    assert lease.take("lead of a test")
    ready.touch()
    time.sleep(120)


def look(team: Path, ready: Path) -> None:
    lease = Lease(team)
    ready.touch()
    while team.exists():
        lease.holder()


def test_one_at_a_time(tmp_path: Path) -> None:
    first, second = Lease(tmp_path), Lease(tmp_path)
    assert first.holder() is None
    assert first.take("lead alpha")
    assert not second.take("another")
    assert f"pid {os.getpid()} (lead alpha, since" in (second.holder() or "")
    first.drop()
    first.drop()
    assert second.holder() is None
    assert second.take("another")
    second.drop()


def test_a_killed_lead_frees_it_at_once(tmp_path: Path) -> None:
    team, ready = tmp_path / "team", tmp_path / "ready"
    team.mkdir()
    process = crowd.start(lead, team, ready)
    wait_until(ready.exists, 20, "the lease is taken")
    lease = Lease(team)
    assert not lease.take("second")
    assert f"pid {process.pid} (lead of a test" in (lease.holder() or "")
    process.kill()
    process.join()
    assert lease.holder() is None
    assert lease.take("second")
    lease.drop()


def test_whoever_looks_does_not_keep_a_lead_out(tmp_path: Path) -> None:
    """Guards look whether the lease is free, all the time; taking a free one must succeed all the same."""
    team = tmp_path / "team"
    team.mkdir()
    processes = [crowd.start(look, team, tmp_path / f"ready-{number}") for number in range(2)]
    wait_until(lambda: all((tmp_path / f"ready-{number}").exists() for number in range(2)), 20, "they look")
    lease = Lease(team)
    taken = 0
    for _ in range(100):
        taken += lease.take("lead")
        lease.drop()
    team.rename(tmp_path / "away")
    crowd.all_end_well(processes)
    assert taken == 100


@pytest.mark.parametrize("call", ["ftruncate", "pwrite", "flock"])
def test_an_error_leaves_nothing_locked(tmp_path: Path, call: str) -> None:
    """A lead that could not sign for want of space can take it as soon as there is some."""
    lease = Lease(tmp_path)
    with pytest.raises(StoreError, match="ENOSPC"), fault_at(1, fail_with(errno.ENOSPC), (call,)):
        lease.take("lead")
    assert lease.take("lead")
    lease.drop()


def test_a_team_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        Lease(tmp_path / "gone").take("lead")
    assert Lease(tmp_path / "gone").holder() is None
    assert list(tmp_path.iterdir()) == []
