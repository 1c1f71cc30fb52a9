"""A lead that was stopped (SIGSTOP): it is named in time, nothing changes, and --force goes on without it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pro0 import processes
from pro0.engine import cleanup, force, outcomes
from pro0.engine.opening import launch
from pro0.errors import Refused, StoreError, Unwritable
from pro0.model.caller import Caller, Who
from pro0.model.runtime import Process, State
from pro0.model.task import Draft
from pro0.ops.context import Context
from pro0.ops.tasks import tasks
from pro0.ops.team import members
from pro0.store import health
from pro0.store.lease import Lease
from pro0.store.paths import LOCK
from tests.conftest import Result
from tests.engine.crew import PATIENCE, Crew, gone, kill
from tests.waiting import wait_until

HOLDER = """
import sys, time
from pathlib import Path
from pro0.store import health
from pro0.store.lease import Lease
from pro0.store.paths import LOCK
assert Lease(Path(sys.argv[1])).take("a test")
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who stays stopped is given up soon."""
    monkeypatch.setattr(launch, "REACTION", 0.2)


def stop(alpha: Crew, process: "subprocess.Popen[bytes]") -> Process:
    """Stop a process that is said to be a lead, at a moment when it has not the lock of the team's folder."""

    def stopped() -> bool:
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: processes.stopped(process.pid), PATIENCE, "it is stopped")
        if health.held(alpha.team.paths.team / LOCK) is None:
            return True
        process.send_signal(signal.SIGCONT)
        return False

    wait_until(stopped, PATIENCE, "it is stopped, and has no lock")
    found = processes.identify(process.pid)
    assert found
    return found


ACTS = [
    ("member", "spawn", "w2"),
    ("member", "restart", "w1"),
    ("member", "shutdown", "w1", "--force"),
    ("team", "stop"),
    ("team", "resume"),
]


def test_who_needs_the_lead_is_told_and_changes_nothing(alpha: Crew, cli: Callable[..., Result]) -> None:
    lead = alpha.lead()
    alpha.spawn("w1")
    alpha.shut_down("w1")
    stop(alpha, lead)
    wanted = alpha.team.wanted.path.read_bytes()
    with ThreadPoolExecutor() as pool:
        calls = list(pool.map(lambda act: cli(*act, "-t", "alpha"), ACTS))
    for called in calls:
        assert called.code == 4, called
        assert f"held by pid {lead.pid} (lead, pro0 " in called.err
        assert f"hint: let it go on: kill -CONT {lead.pid}" in called.err
    assert alpha.team.wanted.path.read_bytes() == wanted
    assert f"suspended (pid {lead.pid})" in cli("team", "status", "-t", "alpha").out
    lead.send_signal(signal.SIGCONT)
    assert cli("member", "restart", "w1", "-t", "alpha").code == 0


def test_who_waits_for_the_lead_when_it_is_stopped(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcomes, "LEAD_PAUSE", 0.2)
    stop(alpha, alpha.lead())
    seats = members.spawn(alpha.context, [members.SeatDraft(name="w1")], 10)
    with pytest.raises(Refused, match="is stopped"):
        outcomes.started(alpha.team, seats, alpha.shown.append)


def test_one_that_goes_on_in_time_is_waited_for(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "REACTION", 30)
    lead = alpha.lead()
    stop(alpha, lead)
    process = subprocess.Popen(["sh", "-c", f"sleep 0.5; kill -CONT {lead.pid}"])
    launch.awake(alpha.team)
    assert process.wait() == 0


def test_cleanup_names_it(alpha: Crew) -> None:
    lead = alpha.lead()
    stop(alpha, lead)
    with pytest.raises(Refused, match=f"pid {lead.pid} .* is stopped"):
        cleanup.cleanup(alpha.store, "alpha", force=False, show=alpha.shown.append)
    assert alpha.team.exists()


def test_cleanup_by_force_goes_on_without_it(alpha: Crew) -> None:
    lead = alpha.lead()
    alpha.spawn("w1")
    before = stop(alpha, lead)
    alpha.remember()
    assert cleanup.cleanup(alpha.store, "alpha", force=True, show=alpha.shown.append) == "alpha is removed"
    assert gone(before)()
    assert alpha.left() == []
    assert f"ending the lead (pid {lead.pid}), which does not react" in alpha.shown
    assert not any(alpha.store.home.glob("teams/[!.]*"))


def test_cleanup_by_force_when_it_does_not_take_part(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs, as far as anybody can see, and does nothing."""
    lead = stop(alpha, alpha.lead())
    monkeypatch.setattr(outcomes, "ENDING_PATIENCE", 0.5)
    monkeypatch.setattr(processes, "stopped", lambda _pid: False)
    assert cleanup.cleanup(alpha.store, "alpha", force=True, show=alpha.shown.append) == "alpha is removed"
    assert gone(lead)()


HANGING = """
import os, sys, time
from pathlib import Path
from pro0.store.lease import Lease
from pro0.store.lock import locked
team = Path(sys.argv[1])
with locked(team, "hang"):
    assert Lease(team).take("lead")
    time.sleep(600)
"""


def test_cleanup_by_force_when_it_holds_the_lock(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs, holds what everybody needs, and never gives it back."""
    monkeypatch.setattr(cleanup, "leads", lambda _team: True)
    argv = [sys.executable, "-c", HANGING, str(alpha.team.paths.team), "pro0", "lead", "alpha"]
    with subprocess.Popen(argv, env=os.environ | {"PRO0_LEAD": "1"}) as process:
        wait_until(lambda: Lease(alpha.team.paths.team).read(), PATIENCE, "it has the lease")
        assert cleanup.cleanup(alpha.store, "alpha", force=True, show=alpha.shown.append) == "alpha is removed"
        assert process.wait() == -signal.SIGTERM


UNSIGNED = """
import sys, time
from pathlib import Path
from pro0.store.lease import Lease
assert Lease(Path(sys.argv[1])).take("lead")
time.sleep(600)
"""


@pytest.fixture
def unsigned(alpha: Crew, monkeypatch: pytest.MonkeyPatch) -> Iterator["subprocess.Popen[bytes]"]:
    """A lead that never signs in, as one that was started on a full disk."""
    monkeypatch.setattr(cleanup, "PATIENCE", 0.3)
    argv = [sys.executable, "-c", UNSIGNED, str(alpha.team.paths.team), "pro0", "lead", "alpha"]
    with subprocess.Popen(argv, env=os.environ | {"PRO0_LEAD": "1"}) as process:
        wait_until(lambda: Lease(alpha.team.paths.team).read(), PATIENCE, "it has the lease")
        yield process
        process.kill()


def test_cleanup_names_one_that_has_not_signed_in(alpha: Crew, unsigned: "subprocess.Popen[bytes]") -> None:
    with pytest.raises(StoreError, match=f"held by pid {unsigned.pid}") as raised:
        cleanup.cleanup(alpha.store, "alpha", force=False, show=alpha.shown.append)
    assert "--force" in str(raised.value.hint)
    assert unsigned.poll() is None


def test_force_ends_one_that_has_not_signed_in(alpha: Crew, unsigned: "subprocess.Popen[bytes]") -> None:
    cleanup.take_over(alpha.team, alpha.shown.append, force=True).drop()
    assert unsigned.wait() == -signal.SIGTERM
    assert alpha.shown == [f"ending the lead (pid {unsigned.pid}), which does not react"]


@pytest.fixture
def holder(alpha: Crew) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that has the lease and is no lead."""
    argv = [sys.executable, "-c", HOLDER, str(alpha.team.paths.team)]
    with subprocess.Popen(argv, env=os.environ | {"PRO0_LEAD": "1"}) as process:
        wait_until(lambda: Lease(alpha.team.paths.team).read(), PATIENCE, "it has the lease")
        yield process
        process.kill()


def test_who_is_no_lead_is_never_ended(alpha: Crew, holder: "subprocess.Popen[bytes]") -> None:
    stranger = stop(alpha, holder)
    with pytest.raises(Refused, match=", but is not its lead"):
        cleanup.cleanup(alpha.store, "alpha", force=True, show=alpha.shown.append)
    assert processes.alive(stranger)
    assert alpha.team.exists()


STOPS = """
import os, signal, sys
from pathlib import Path

what, file = sys.argv[1], Path(sys.argv[2])
del sys.argv[1:3]
from pro0.store.files import File

def stopping(read):
    def stops(self):
        found = read(self)
        if self.path.name == what and file.exists():
            file.unlink()
            os.kill(os.getpid(), signal.SIGSTOP)
        return found
    return stops

File.read = stopping(File.read)
from pro0.cli.main import entry
sys.exit(entry())
"""
"""A lead that stops itself right after it has read a document of this name, once a file is there."""


@pytest.mark.parametrize("read", ["wanted.json", "runtime.json", "tasks.json"])
def test_a_seat_begun_anew_before_the_lead_saw_its_end_gets_one_session(alpha: Crew, tmp_path: Path, read: str) -> None:
    """The lead then notices the end, gives the task back, and only then opens the new session.

    It knows of the task, though it was claimed after the lead had read the tasks of that look.
    """
    stops = tmp_path / "stops"
    lead = alpha.lead(sys.executable, "-c", STOPS, read, str(stops))
    [first] = alpha.spawn("w1")
    alpha.give(Draft(title="held"))
    stops.touch()
    wait_until(lambda: processes.stopped(lead.pid), PATIENCE, f"it stops after {read}")
    tasks.claim(Context(alpha.team, Caller(Who.MEMBER, "w1", first.incarnation)), "task-1")
    assert first.guard
    assert first.agent
    for process in (first.guard, first.agent):
        kill(process)
    wait_until(gone(first.guard, first.agent), PATIENCE, "they are dead")
    seat = members.restart(alpha.context, "w1")
    lead.send_signal(signal.SIGCONT)
    wait_until(lambda: alpha.state("w1").generation == seat.generation, PATIENCE, "a new session")
    second = alpha.reaches("w1", State.IDLE, State.WORKING)
    assert second.incarnation != first.incarnation
    claim = alpha.task("task-1").claim
    assert claim is None or claim.incarnation == second.incarnation
    assert alpha.notices("") == ["w1 has crashed (its guard was killed); pending again: task-1"]
    alpha.remember()


def test_a_stop_by_force_where_no_lease_can_be_taken_ends_all_the_same(
    alpha: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a file system that was mounted read-only: the lead is left, and records the ends when it can."""
    lead = alpha.lead()
    alpha.spawn("w1", "w2")
    everyone = [process for name in ("w1", "w2") if (process := alpha.report(name).guard)]
    no_room = Unwritable("cannot use lead.lock: Read-only file system")

    def taken(*_words: object, **_named: object) -> Lease:
        raise no_room

    monkeypatch.setattr(force, "take_over", taken)
    with pytest.raises(Unwritable, match="every session of alpha has ended, but that is not recorded") as raised:
        force.end_team(alpha.context, no_room, alpha.shown.append)
    assert "pro0 team stop -t alpha" in str(raised.value.hint)
    assert gone(*everyone)()
    assert lead.poll() is None
