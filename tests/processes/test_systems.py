"""The two ways to look at processes, at what seldom happens: who vanishes, whom nobody may look at, odd names."""

import ctypes
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType, SimpleNamespace

import psutil
import pytest

from pro0 import processes
from pro0.errors import EnvironmentMissing
from pro0.model.stored import Process
from pro0.processes import arguments, ending, linux, pidfd, portable, table
from tests.processes import families
from tests.waiting import STUCK, wait_until

NOBODY = 2**22 + 1
"""A pid that no Linux gives out."""
A, B = (f"PRO0_{name}_{os.getpid()}" for name in "AB")
"""Variables of this run's own: sweeps see those of every other run of the tests, too."""
LAST = f"600.{os.getpid()}"
"""Seconds that nobody else sleeps: every process of this user is looked at."""
SYSTEM = linux if sys.platform == "linux" else portable
SYSTEMS = [
    pytest.param(linux, marks=pytest.mark.skipif(sys.platform != "linux", reason="/proc")),
    pytest.param(portable),
]
BOTH = pytest.mark.parametrize("system", SYSTEMS, ids=["linux", "portable"])


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that does nothing, whose last argument is known."""
    with families.running(["sleep", LAST], env={A: "a", B: "b=b"}) as started:
        wait_until(lambda: arguments.arguments(started.pid) == ["sleep", LAST], 30, "it is a sleep")
        yield started


@BOTH
def test_of_who_is_not_there_nothing_is_known(system: ModuleType) -> None:
    assert system.status(NOBODY) is None
    assert system.environment(NOBODY) == b""
    assert not system.stopped(NOBODY)
    assert NOBODY not in system.pids()


def test_who_was_called_with_something_as_its_last_argument(child: "subprocess.Popen[bytes]") -> None:
    """How guards are known by their launch files: the whole last argument, and no other."""
    keys = {LAST: "last", LAST[1:]: "part", f"end {A}": "last of many", f"first {A}": "first", f"middle {A}": "middle"}
    words = ["sh", "-c", "read _", f"first {A}", f"middle {A}", f"end {A}"]
    with families.running(words, stdin=subprocess.PIPE) as many:
        wait_until(lambda: arguments.arguments(many.pid) == words, 30, "it is a shell")
        assert processes.called_with(keys) == {"last", "last of many"}


@BOTH
def test_a_stopped_process_is_seen(system: ModuleType, child: "subprocess.Popen[bytes]") -> None:
    assert not system.stopped(child.pid)
    os.kill(child.pid, signal.SIGSTOP)
    wait_until(lambda: system.stopped(child.pid), 30, "it is stopped")
    os.kill(child.pid, signal.SIGCONT)
    wait_until(lambda: not system.stopped(child.pid), 30, "it goes on")


@BOTH
def test_processes_of_others_are_not_own(system: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    me = os.getpid()
    assert me in system.own_pids()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 12345)
    assert me not in system.own_pids()


@BOTH
def test_who_vanishes_while_all_are_looked_at(system: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    real = system.pids()
    monkeypatch.setattr(system, "pids", lambda: [NOBODY, *real])
    monkeypatch.setattr(table, "system", system)
    assert os.getpid() in [one.pid for one in table.in_session(os.getsid(0))]
    assert os.getpid() in [one.pid for one in table.in_group(os.getpgid(0))]
    assert system is linux or NOBODY not in system.own_pids()


@BOTH
def test_a_session_and_a_group_have_no_stranger(system: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "system", system)
    with families.running(["sleep", "600"]) as beside, families.running(["sleep", "600"], apart=True) as apart:
        assert [one.pid for one in table.in_session(apart.pid)] == [apart.pid]
        assert [one.pid for one in table.in_group(apart.pid)] == [apart.pid]
        assert apart.pid not in [one.pid for one in table.in_session(os.getsid(beside.pid))]
        assert apart.pid not in [one.pid for one in table.in_group(os.getpgid(beside.pid))]


@pytest.mark.parametrize("error", [psutil.AccessDenied(), psutil.NoSuchProcess(1), PermissionError(), ValueError()])
def test_whom_psutil_may_not_look_at(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_pid: int) -> psutil.Process:
        raise error

    monkeypatch.setattr(psutil, "Process", refuse)
    assert portable.status(1) is None
    assert portable.environment(1) == b""
    assert portable.command_line(1) == b""
    assert not portable.stopped(1)
    assert portable.own_pids() == []


def test_whom_psutil_cannot_look_at_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """That proves no death."""

    def scarce(_pid: int) -> psutil.Process:
        raise OSError(errno.ENFILE, os.strerror(errno.ENFILE))

    monkeypatch.setattr(psutil, "Process", scarce)
    for look in (portable.status, portable.environment, portable.command_line):
        with pytest.raises(EnvironmentMissing, match="table of processes"):
            look(1)
    assert not portable.stopped(1)


def test_a_program_whose_environment_breaks_psutil(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pull request 2854."""

    def broken(_self: psutil.Process) -> dict[str, str]:
        raise SystemError

    monkeypatch.setattr(psutil.Process, "environ", broken)
    assert portable.environment(os.getpid()) == b""


def test_a_zombie_is_none_of_psutils_either() -> None:
    with families.running(["true"]) as dead:
        wait_until(lambda: portable.status(dead.pid) is None, 30, "it is a zombie")


def test_the_start_is_the_kernels_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not move when the clock is set; psutil 7.0 knows no other."""
    process = SimpleNamespace(_proc=SimpleNamespace(create_time=lambda monotonic=False: 3 if monotonic else 4))
    assert portable._start(process) == 3.0  # type: ignore[arg-type]
    process = SimpleNamespace(_proc=SimpleNamespace(create_time=lambda: 5))
    assert portable._start(process) == 5.0  # type: ignore[arg-type]


class Kernel:
    """A kernel that knows the uuid of its session, or not."""

    def __init__(self, uuid: bytes) -> None:
        self.uuid = uuid

    def sysctlbyname(
        self, name: bytes, value: "ctypes.Array[ctypes.c_char]", size: object, new: None, zero: int
    ) -> int:
        assert (name, new, zero) == (b"kern.bootsessionuuid", None, 0)
        value.value = self.uuid
        return 0 if self.uuid else -1


@pytest.mark.parametrize(
    ("kernel", "boot"), [(Kernel(b"11-22"), "11-22"), (Kernel(b""), "1234"), (SimpleNamespace(), "1234")]
)
def test_what_names_a_boot_on_macos(kernel: object, boot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: kernel)
    monkeypatch.setattr(psutil, "boot_time", lambda: 1234.4)
    monkeypatch.setattr(portable, "_boot", [])
    assert portable.boot_id() == boot
    monkeypatch.setattr(ctypes, "CDLL", None)
    assert portable.boot_id() == boot, "it is asked once"


@BOTH
def test_command_lines(system: ModuleType, child: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "system", system)
    assert arguments.arguments(child.pid) == ["sleep", LAST]
    assert arguments.arguments(NOBODY) == []
    assert LAST in arguments.last_arguments()
    assert processes.called_with({LAST: "found", "no such": "never"}) == {"found"}


@BOTH
def test_a_command_line_may_hold_anything(system: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "system", system)
    odd = b"a\nb \xff"
    with families.running([b"sh", b"-c", b"read _", odd], stdin=subprocess.PIPE) as child:
        wait_until(lambda: arguments.arguments(child.pid)[-1:] == [os.fsdecode(odd)], 30, "it is a shell")


def sent(monkeypatch: pytest.MonkeyPatch, platform: str, process: Process, number: int) -> bool:
    monkeypatch.setattr(sys, "platform", platform)
    return ending.signal_process(process, number)


@pytest.mark.parametrize("platform", [sys.platform, "darwin"])
def test_a_signal_goes_to_exactly_this_process(
    platform: str, child: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reliability 51, by both ways."""
    found = processes.identify(child.pid)
    assert found
    stranger = Process(pid=found.pid, start="1", boot_id=found.boot_id)
    assert not sent(monkeypatch, platform, stranger, signal.SIGKILL)
    assert processes.alive(found)
    assert sent(monkeypatch, platform, found, signal.SIGUSR1)
    assert child.wait(STUCK) == -signal.SIGUSR1
    assert not sent(monkeypatch, platform, found, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="pidfd")
@pytest.mark.parametrize(("platform", "pinned"), [("linux", 1), ("darwin", 0)])
def test_where_there_are_pins_a_process_is_pinned_before_it_is_looked_at(
    platform: str, pinned: int, child: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reliability 51: between the look and the signal its pid could pass to a stranger."""
    found = processes.identify(child.pid)
    assert found
    acts: list[str] = []

    def noted(name: str, real: Callable[..., object], *given: object) -> object:
        acts.append(name)
        return real(*given)

    for module, name in ((pidfd, "open_process"), (ending, "alive"), (pidfd, "send"), (os, "kill")):
        monkeypatch.setattr(module, name, partial(noted, name, getattr(module, name)))
    assert sent(monkeypatch, platform, found, signal.SIGUSR1)
    assert acts == (["open_process", "alive", "send"] if pinned else ["alive", "kill"])


@pytest.mark.parametrize("error", [ProcessLookupError, PermissionError])
def test_who_is_not_ours_gets_no_signal(error: type[OSError], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise error

    monkeypatch.setattr(pidfd, "open_process", refuse)
    monkeypatch.setattr(os, "kill", refuse)
    me = processes.identify(os.getpid())
    assert me
    for platform in ("linux", "darwin"):
        assert not sent(monkeypatch, platform, me, signal.SIGUSR1)


VARIABLES: dict[str, tuple[bytes, str, bytes | None]] = {
    "first": (b"A=1\0B=2\0", "A", b"1"),
    "last": (b"A=1\0B=2\0", "B", b"2"),
    "empty": (b"A=\0", "A", b""),
    "absent": (b"AB=1\0", "A", None),
    "part of another": (b"XA=1\0", "A", None),
    "in a value": (b"B=A=1\0", "A", None),
    "twice": (b"A=1\0A=2\0", "A", b"1"),
    "nothing": (b"", "A", None),
}


@pytest.mark.parametrize("what", VARIABLES)
def test_a_variable_is_read_as_its_process_reads_it(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    environment, name, value = VARIABLES[what]
    monkeypatch.setattr(SYSTEM, "environment", lambda _pid: environment)
    for claimed in (b"", b"1", b"2"):
        assert table.says(1, name, claimed.decode()) == (claimed == value)


Env = Callable[[int], bytes]


def test_who_changes_between_two_looks_is_not_taken_for_another(
    child: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pid may have passed to somebody else meanwhile."""
    real: Env = SYSTEM.environment

    def found() -> list[int]:
        return [process.pid for process, _ in processes.having((A, B))]

    def tagged() -> list[int]:
        return [process.pid for process in processes.tagged(A, ["a"])["a"]]

    assert dict(processes.having((A, B))[0][1]) == {A: "a", B: "b=b"}
    assert found() == tagged() == [child.pid]
    looks: dict[int, int] = {}

    def once(pid: int) -> bytes:
        looks[pid] = looks.get(pid, 0) + 1
        return real(pid) if looks[pid] == 1 else b"A=other\0"

    monkeypatch.setattr(SYSTEM, "environment", once)
    assert found() == []
    looks.clear()
    assert tagged() == []
    monkeypatch.setattr(SYSTEM, "environment", real)
    monkeypatch.setattr(table, "entry", lambda _pid: None)
    assert found() == tagged() == []


def test_all_variables_must_be_there(child: "subprocess.Popen[bytes]") -> None:
    assert processes.having((A, "PRO0_NONE")) == []


def test_a_ring_of_parents_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pid that is reused while the table is read may be its own ancestor."""
    parents = {10: 11, 11: 10, 12: 11, 13: 12}
    monkeypatch.setattr(SYSTEM, "pids", lambda: [*parents, 99])
    monkeypatch.setattr(SYSTEM, "status", lambda pid: (parents[pid], "1") if pid in parents else None)
    assert sorted(one.pid for one in table.below(11)) == [10, 11, 12, 13]
    assert [one.pid for one in table.below(11, spared=lambda pid: pid == 12)] == [10, 11]
    assert [one.pid for one in table.below(12)] == [13]
    assert [one.pid for one in table.below(13)] == []


def test_ancestors_end_where_nobody_is(monkeypatch: pytest.MonkeyPatch) -> None:
    parents = {10: 11, 11: 12, 12: 0, 20: 21}
    monkeypatch.setattr(SYSTEM, "status", lambda pid: (parents[pid], "1") if pid in parents else None)
    assert [one.pid for one in table.above(10)] == [11, 12]
    assert table.above(20) == table.above(12) == table.above(99) == []


def test_a_process_of_an_earlier_boot_is_dead(child: "subprocess.Popen[bytes]") -> None:
    found = processes.identify(child.pid)
    assert found
    assert processes.alive(found)
    assert not processes.alive(Process(pid=found.pid, start=found.start, boot_id="earlier"))
    assert processes.variables(found, [B, "PRO0_NONE"]) == {B: "b=b"}
    assert processes.variables(Process(pid=found.pid, start="1", boot_id=found.boot_id), [B]) == {}
