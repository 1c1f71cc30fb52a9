"""Ending for certain, and never a stranger."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from pro0 import processes
from pro0.model.runtime import Process
from pro0.processes import ending, pidfd
from tests.processes import families
from tests.waiting import wait_until


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    with families.running(["sleep", "600"]) as child:
        yield child


def identity(pid: int) -> Process:
    found = processes.identify(pid)
    assert found
    return found


@pytest.mark.parametrize("kind", families.KINDS)
def test_every_kind_of_child_is_ended(tmp_path: Path, kind: str) -> None:
    """S004-022, S004-081, reliability 49 and 52: found by tag or by descent, whatever it ignores."""
    head = families.start(tmp_path, f"end-{kind}", kind)
    family = families.settled(tmp_path, "agent", kind)
    assert families.alive(family) == ["agent", kind]

    left = processes.end(lambda: filter(processes.alive, families.all_of(head.pid, f"end-{kind}")), 0.2)

    assert left == []
    assert families.alive(family) == []
    assert head.wait() == -signal.SIGTERM


def test_polite_comes_first(tmp_path: Path) -> None:
    """One that cleans up on TERM, even if it was stopped, has its time for it."""
    script = f"trap 'echo clean > {tmp_path}/done; exit 0' TERM; echo > {tmp_path}/ready; while :; do sleep 0.01; done"
    with families.running(["sh", "-c", script]) as child:
        wait_until((tmp_path / "ready").exists, 30, "the trap is set")
        os.kill(child.pid, signal.SIGSTOP)
        found = identity(child.pid)
        assert processes.end(lambda: [found] if processes.alive(found) else [], 30) == []
        assert child.wait() == 0
    assert (tmp_path / "done").exists()


def test_each_is_asked_once_and_newcomers_too(tmp_path: Path) -> None:
    """A child born while its parent has its grace is asked as well."""
    script = f"""
trap 'echo asked >> {tmp_path}/log; sh -c "echo born > {tmp_path}/born; exec sleep 600" & wait; exit 0' TERM
echo > {tmp_path}/ready; while :; do sleep 0.01; done"""
    with families.running(["sh", "-c", script], env={**os.environ, families.TAG: "newcomers"}) as child:
        wait_until((tmp_path / "ready").exists, 30, "the trap is set")
        assert processes.end(lambda: processes.tagged(families.TAG, ["newcomers"])["newcomers"], 30) == []
        assert child.wait() == 0
    assert (tmp_path / "log").read_text().split() == ["asked"]


def test_nothing_found_is_nothing_done() -> None:
    looks = 0

    def find() -> list[Process]:
        nonlocal looks
        looks += 1
        return []

    assert processes.end(find, 10) == []
    assert looks == 1


class Clock:
    """A time of its own, in which nobody ever ends, and what was done in it: (moment, pid, signal)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.looks: list[float] = []
        self.sent: list[tuple[float, int, int]] = []
        self.pauses: list[float] = []
        monkeypatch.setattr("time.monotonic", lambda: self.now)
        monkeypatch.setattr("time.sleep", self.sleep)
        monkeypatch.setattr(ending, "may_live", lambda _process: True)
        monkeypatch.setattr(ending, "signal_process", self.signal)

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.pauses.append(seconds)
        self.now += seconds

    def signal(self, process: Process, number: int) -> bool:
        self.sent.append((self.now, process.pid, number))
        return True

    def find(self) -> list[Process]:
        self.looks.append(self.now)
        return [Process(pid=7, start="1", boot_id="b"), Process(pid=7, start="2", boot_id="b")]


@pytest.mark.parametrize("grace", [0.0, 0.3, 10.0])
def test_when_whom_nothing_ends_is_asked_and_killed(grace: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """TERM and CONT once, at once; after the grace KILL, again and again for five seconds; looked for all the time."""
    clock = Clock(monkeypatch)
    assert [one.start for one in processes.end(clock.find, grace)] == ["1", "2"]
    kills = [moment for moment, _, number in clock.sent if number == signal.SIGKILL]
    asked = [one for one in clock.sent if one[2] != signal.SIGKILL]
    assert asked == [(1000.0, 7, number) for number in (signal.SIGTERM, signal.SIGCONT)] * 2
    assert min(kills) == pytest.approx(1000 + grace, abs=0.06)
    assert len({*kills}) > 45
    assert clock.now == pytest.approx(1005 + grace, abs=0.12)
    early = [moment for moment in clock.looks if moment < min(kills)]
    assert all(later - one <= 1.06 for one, later in pairwise(early))
    assert all(later - one <= 0.13 for one, later in pairwise(early[:3]))
    assert all(later - one <= 0.11 for one, later in pairwise(sorted({*kills})))
    assert len(clock.looks) < 90 + 4 * grace, "looking costs: not without end"
    assert all(later in (pytest.approx(min(2 * one, 0.05)), 0.002) for one, later in pairwise(clock.pauses))


@pytest.mark.parametrize("change", [{"start": "1"}, {"boot_id": "another boot"}])
def test_a_stranger_is_never_signalled(sleeper: "subprocess.Popen[bytes]", change: dict[str, object]) -> None:
    """Reliability 51."""
    stranger = msgspec.structs.replace(identity(sleeper.pid), **change)
    assert not processes.signal_process(stranger, signal.SIGKILL)
    assert processes.alive(identity(sleeper.pid))


def test_a_signal_arrives(sleeper: "subprocess.Popen[bytes]") -> None:
    assert processes.signal_process(identity(sleeper.pid), signal.SIGUSR1)
    assert sleeper.wait() == -signal.SIGUSR1


def test_the_dead_get_no_signal(sleeper: "subprocess.Popen[bytes]") -> None:
    found = identity(sleeper.pid)
    sleeper.kill()
    wait_until(lambda: not processes.alive(found), 30, "it is a zombie")
    assert not processes.signal_process(found, signal.SIGTERM)
    sleeper.wait()
    assert not processes.signal_process(found, signal.SIGTERM)


@pytest.mark.skipif(sys.platform != "linux", reason="pidfd")
def test_a_python_built_with_old_headers_can_pin_too(
    sleeper: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    monkeypatch.delattr("_signal.pidfd_send_signal", raising=False)
    found = identity(sleeper.pid)
    assert processes.signal_process(found, signal.SIGUSR1)
    assert sleeper.wait() == -signal.SIGUSR1
    assert not processes.signal_process(found, signal.SIGUSR1)
    with pytest.raises(ProcessLookupError, match="No such process"):
        pidfd.open_process(2**22 + 1)
    descriptor = pidfd.open_process(os.getpid())
    assert not os.get_inheritable(descriptor)
    os.close(descriptor)


def test_a_signal_goes_to_the_whole_process_with_no_flag_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the table of the kernel's calls has them: of its flags one would mean a single thread."""
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    monkeypatch.delattr("_signal.pidfd_send_signal", raising=False)
    made: list[tuple[int, ...]] = []

    def call(*arguments: int) -> int:
        made.append(arguments)
        return 9

    monkeypatch.setattr(pidfd, "_call", call)
    assert pidfd.open_process(7) == 9
    pidfd.send(9, signal.SIGUSR1)
    assert made == [(434, 7, 0), (424, 9, signal.SIGUSR1, 0, 0)]


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="this Python has no pidfd")
def test_a_python_that_has_the_calls_needs_no_ctypes(
    sleeper: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which a guard would have to load."""
    monkeypatch.setattr(pidfd, "_call", None)
    assert processes.signal_process(identity(sleeper.pid), signal.SIGUSR1)
    assert sleeper.wait() == -signal.SIGUSR1


RECYCLE = """
import os, signal, sys
from pro0 import processes

def child(pid):
    with open("/proc/sys/kernel/ns_last_pid", "w") as last:
        last.write(str(pid - 1))
    born = os.fork()
    if not born:
        while True:
            signal.pause()
    return born

wrong = 0
for round in range(40):
    first = child(5000)
    known = processes.identify(first)
    os.kill(first, signal.SIGKILL); os.waitpid(first, 0)
    while True:
        innocent = child(5000)
        assert innocent == known.pid
        if processes.identify(innocent) != known:
            break
        # Born in the same hundredth of a second: the system itself gives both the same start.
        os.kill(innocent, signal.SIGKILL); os.waitpid(innocent, 0)
    assert not processes.alive(known)
    assert processes.end(lambda: [known] if processes.alive(known) else [], 0) == []
    wrong += processes.signal_process(known, signal.SIGKILL)
    wrong += os.waitpid(innocent, os.WNOHANG)[0] != 0
    os.kill(innocent, signal.SIGKILL); os.waitpid(innocent, 0)
print(wrong)
"""


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs a pid namespace of its own")
def test_a_really_reused_pid_is_left_alone() -> None:
    """Reliability 51: the pid of a known process is given to an innocent one."""
    enter = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*enter, "true"], capture_output=True).returncode:
        pytest.skip("no pid namespaces here")
    done = subprocess.run([*enter, sys.executable, "-c", RECYCLE], capture_output=True, text=True, cwd=Path.cwd())
    assert (done.stdout, done.stderr) == ("0\n", "")
