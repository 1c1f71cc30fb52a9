"""The lease: one lead at a time, as long as it lives (rulings 3.3, 3.12)."""

import errno
import json
import os
import time
from pathlib import Path

import pytest
from filelock import lock_descriptor

from pro0 import __version__, processes
from pro0.errors import NotFound, StoreError
from pro0.installation import commit
from pro0.model.runtime import Process
from pro0.processes import table
from pro0.store.lease import Holder, Lease
from pro0.store.paths import LEASE, LOGS
from tests import crowd
from tests.faults import count, fail_with, fault_at
from tests.waiting import wait_until


def lead(team: Path, ready: Path) -> None:
    lease = Lease(team)
    assert lease.take("lead of a test")
    ready.touch()
    time.sleep(600)


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
    assert second.holder() == f"pid {os.getpid()} (lead alpha, pro0 {__version__})"
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
    assert f"pid {process.pid} (lead of a test, pro0" in (lease.holder() or "")
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


@pytest.mark.parametrize("replaced", [False, True])
def test_a_lease_that_is_deleted_makes_no_second_lead(tmp_path: Path, replaced: bool) -> None:
    """Reliability 19: and the lead puts it back, so that guards see again who leads."""
    (tmp_path / LOGS).mkdir()
    first, second = Lease(tmp_path), Lease(tmp_path)
    assert first.take("lead")
    (tmp_path / LEASE).unlink()
    if replaced:
        (tmp_path / LEASE).touch()
    assert not second.take("second")
    assert second.holder() == "an unknown process"
    first.keep()
    (tmp_path / LEASE).unlink()
    assert not second.take("second"), "deleted once more, the folder still holds it"
    first.keep()
    assert first.read() == Holder(os.getpid(), *_start(), __version__, "lead", commit=commit())
    assert "(lead," in (second.holder() or "")
    (tmp_path / LOGS).rmdir()
    assert not second.take("second")
    first.drop()
    assert second.take("second")
    second.drop()


def test_a_lease_in_its_place_is_left_as_it_is(tmp_path: Path) -> None:
    lease = Lease(tmp_path)
    assert lease.take("lead")
    before = (tmp_path / LEASE).stat()
    lease.keep()
    assert os.path.samestat((tmp_path / LEASE).stat(), before)
    assert (tmp_path / LEASE).stat().st_mtime_ns == before.st_mtime_ns
    lease.drop()


def test_a_lease_is_put_back_as_soon_as_nobody_has_it(tmp_path: Path) -> None:
    """Whoever looks whether a lock is held has it for a moment."""
    (tmp_path / LOGS).mkdir()
    lease = Lease(tmp_path)
    assert lease.take("lead")
    (tmp_path / LEASE).unlink()
    with (tmp_path / LEASE).open("w") as file:
        assert lock_descriptor(file.fileno(), blocking=False)
        lease.keep()
        assert lease.read() is None
    lease.keep()
    assert (lease.read() or Holder(0, "", "", "", "")).pid == os.getpid()
    assert not any(os.get_inheritable(descriptor) for descriptor in lease._held)
    assert count(lease.keep, ("pwrite",)) == [], "it is in its place now"
    lease.drop()


def _start() -> tuple[str, str]:
    me = processes.identify(os.getpid())
    assert me
    return me.start, me.boot_id


@pytest.mark.parametrize("call", [1, 2, 3])
def test_no_descriptor_is_lost_when_there_are_no_more(tmp_path: Path, call: int) -> None:
    (tmp_path / LOGS).mkdir()
    before = os.listdir("/dev/fd")
    with pytest.raises(StoreError, match="EMFILE"), fault_at(call, fail_with(errno.EMFILE), ("open",)):
        Lease(tmp_path).take("lead")
    assert os.listdir("/dev/fd") == before


def test_a_team_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        Lease(tmp_path / "gone").take("lead")
    assert Lease(tmp_path / "gone").holder() is None
    assert list(tmp_path.iterdir()) == []


def test_programs_read_who_holds_it(tmp_path: Path) -> None:
    """One line of JSON at every moment, which nobody's lock is needed to read."""
    assert Lease(tmp_path).read() is None
    lease = Lease(tmp_path)
    for why in ("a much longer reason than that of the one who comes next", "lead"):
        assert lease.take(why)
        found = json.loads((tmp_path / LEASE).read_text())
        assert found.keys() == {"pid", "start", "bootId", "version", "why", "commit"}
        holder = Lease(tmp_path).read()
        assert holder
        assert Process(pid=holder.pid, start=holder.start, boot_id=holder.boot_id) == processes.identify(os.getpid())
        assert (holder.version, holder.why, holder.rests) == (__version__, why, False)
        lease.drop()
    assert Lease(tmp_path).read() == holder


def test_it_says_that_it_rests_until_it_is_taken_again(tmp_path: Path) -> None:
    lease = Lease(tmp_path)
    assert lease.take("lead")
    lease.rest("stays down")
    lease.drop()
    holder = lease.read()
    assert holder
    assert (holder.why, holder.rests) == ("stays down", True)
    assert lease.take("lead")
    assert not (lease.read() or holder).rests
    lease.drop()


@pytest.mark.parametrize("text", ["pid 12 (lead, since 12:00:00)", "", "{", "[]", "{}", '{"pid": "x"}', "\0" * 64])
def test_what_no_program_can_read(tmp_path: Path, text: str) -> None:
    """As an older lead wrote it, or nobody: held or free is told all the same."""
    lease = Lease(tmp_path)
    assert lease.take("lead")
    (tmp_path / LEASE).write_text(text)
    assert lease.read() is None
    assert lease.holder() == (text or "an unknown process")
    lease.drop()
    assert lease.holder() is None


@pytest.mark.parametrize("data", [b'{"x": ' + b"[" * 100_000, b'{"why": "\xff"}'], ids=["deep", "no text"])
def test_a_lease_that_is_corrupt_is_nobodys(tmp_path: Path, data: bytes) -> None:
    lease = Lease(tmp_path)
    assert lease.take("lead")
    (tmp_path / LEASE).write_bytes(data)
    assert lease.read() is None
    assert lease.holder()
    lease.drop()


def test_of_a_lease_that_is_being_written_the_first_line_counts(tmp_path: Path) -> None:
    """The new line is written over an older, longer one, which is cut off afterwards."""
    line = json.dumps({"pid": 1, "start": "2", "bootId": "b", "version": "9", "why": "lead"})
    (tmp_path / LEASE).write_text(f'{line}\nof an older one", "why": "lead"}}\n')
    assert Lease(tmp_path).read() == Holder(1, "2", "b", "9", "lead")


def test_a_lease_that_is_far_too_long_is_an_error(tmp_path: Path) -> None:
    with (tmp_path / LEASE).open("wb") as file:
        file.truncate(1 << 20)
    assert Lease(tmp_path).read() is None
    with (tmp_path / LEASE).open("ab") as file:
        file.write(b"x")
    with pytest.raises(StoreError, match=f"lead.lock has {(1 << 20) + 1} bytes, more than {1 << 20}"):
        Lease(tmp_path).read()


@pytest.mark.parametrize("kind", ["link", "pipe", "file", "nothing"])
def test_without_a_folder_of_logs_the_file_alone_is_the_lease(tmp_path: Path, kind: str) -> None:
    """No link is followed: who has locked something elsewhere keeps no lead out; a pipe is not waited for."""
    team, other = tmp_path / "team", tmp_path / "other"
    team.mkdir()
    other.mkdir()
    if kind == "link":
        (team / LOGS).symlink_to(other)
    elif kind == "pipe":
        os.mkfifo(team / LOGS)
    elif kind == "file":
        (team / LOGS).touch()
    descriptor = os.open(other, os.O_RDONLY)
    assert lock_descriptor(descriptor, blocking=False)
    first, second = Lease(team), Lease(team)
    assert first.take("lead")
    assert not second.take("second")
    assert (first.holder() or "").startswith(f"pid {os.getpid()} (lead,")
    first.drop()
    os.close(descriptor)


def test_a_lead_that_cannot_see_itself_says_so_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "entry", lambda _pid: None)
    lease = Lease(tmp_path)
    assert lease.take("lead")
    assert lease.read() == Holder(os.getpid(), "", "", __version__, "lead", commit=commit())
    lease.drop()


def test_whoever_wants_it_looks_for_a_while_and_then_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten looks, a hundredth of a second apart: whoever only looked is gone by then."""
    pauses: list[float] = []
    first, second = Lease(tmp_path), Lease(tmp_path)
    assert first.take("lead")
    monkeypatch.setattr("time.sleep", pauses.append)
    assert not second.take("second")
    assert pauses == [0.01] * 10
    monkeypatch.setattr("time.sleep", lambda _seconds: first.drop())
    assert second.take("second")
    second.drop()


def test_a_newer_lease_can_be_read(tmp_path: Path) -> None:
    """A key that is not known yet is no reason to think that there is no lead."""
    whole = {"pid": 1, "start": "2", "bootId": "b", "version": "9.0", "why": "lead", "more": [1]}
    (tmp_path / LEASE).write_text(json.dumps(whole))
    assert Lease(tmp_path).read() == Holder(1, "2", "b", "9.0", "lead")


def test_the_holder_is_a_process(tmp_path: Path) -> None:
    lease = Lease(tmp_path)
    assert lease.take("lead")
    found = lease.read()
    assert found
    assert found.process == processes.identify(os.getpid())
    assert str(found) == f"pid {os.getpid()} (lead, pro0 {__version__})"
    lease.drop()
