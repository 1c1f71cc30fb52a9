"""What one process may and another may not: compared, and taken over, of real processes."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="they are read from Linux's /proc")
if sys.platform == "linux":
    from pro0.processes import alike

ROOT = str(Path(__file__).parents[2])
GONE = 2**22 + 1
"""Above the highest pid."""
READY = "print('ready', flush=True); signal.pause()"
HEAD = f"""
import ctypes, os, resource, signal, sys
sys.path.insert(0, {ROOT!r})
"""

OTHERS = {
    "it may gain no rights": "assert ctypes.CDLL(None).prctl(38, 1, 0, 0, 0) == 0",
    "another user": "os.setresuid(65534, 65534, 65534)",
    "another group": "os.setresgid(65534, 65534, 65534)",
    "one group more": "os.setgroups([*os.getgroups(), 65534])",
    "another root": "os.chroot('/proc')",
}
OF_ROOT = {name for name in OTHERS if name != "it may gain no rights"}


@contextmanager
def living(program: str) -> Iterator[int]:
    """Start a Python program, and yield its pid once it waits."""
    argv = [sys.executable, "-I", "-c", f"{HEAD}\n{program}\n{READY}"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout
            assert child.stdout.readline() == b"ready\n"
            yield child.pid
        finally:
            os.kill(child.pid, signal.SIGKILL)


def test_a_child_is_confined_as_its_parent_is() -> None:
    assert alike.alike(os.getpid())
    with living("os.setsid(); os.umask(0o077); os.chdir('/')") as child:
        assert alike.alike(child)


@pytest.mark.parametrize("other", OTHERS)
def test_whoever_may_do_less_is_not_alike(other: str) -> None:
    if other in OF_ROOT and os.geteuid():
        pytest.skip("only root can start such a process")
    with living(OTHERS[other]) as child:
        assert not alike.alike(child)


def test_a_process_that_is_gone_is_not_alike() -> None:
    assert not alike.alike(GONE)
    assert alike._label(GONE) == b""
    for read in (alike.umask, alike.take_limits, alike.is_timed):
        with pytest.raises(OSError):
            read(GONE)


@pytest.mark.parametrize("mask", [0, 0o022, 0o077, 0o777])
def test_a_umask_is_read_without_a_change(mask: int) -> None:
    with living(f"os.umask({mask})") as child:
        assert alike.umask(child) == alike.umask(child) == mask


TAKE = """
from pro0.processes import alike
before = {limit: resource.getrlimit(limit) for limit in alike._LIMITS}
set_limits, real = [], resource.setrlimit
resource.setrlimit = lambda limit, both: (set_limits.append(limit), real(limit, both))
soft = alike.take_limits(int(sys.argv[1]))
after = {limit: resource.getrlimit(limit) for limit in alike._LIMITS}
print(set_limits == sorted([resource.RLIMIT_NOFILE, resource.RLIMIT_RTTIME]), after[resource.RLIMIT_NOFILE][0],
      after[resource.RLIMIT_RTTIME][0], all(before[limit][1] == after[limit][1] for limit in before))
alike.set_limits(soft)
print(before == {limit: resource.getrlimit(limit) for limit in alike._LIMITS}, len(soft))
"""
LOWER = """
for limit, soft in ((resource.RLIMIT_NOFILE, 77), (resource.RLIMIT_RTTIME, 1 << 62)):
    resource.setrlimit(limit, (soft, resource.getrlimit(limit)[1]))
"""


def taking(pid: int, first: str = "") -> "subprocess.CompletedProcess[str]":
    """Let a process of its own take the limits of another: this one must keep its own."""
    argv = [sys.executable, "-I", "-c", HEAD + first + TAKE, str(pid)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_soft_limits_are_taken_over_and_hard_ones_stay() -> None:
    """Its mark is one of them; what is the same already is left alone, and those before can be set again."""
    with living(LOWER) as child:
        assert taking(child).stdout == f"True 77 {1 << 62} True\nTrue 2\n"


def test_only_a_soft_limit_that_differs_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hard limits differ here as well, and count for nothing."""
    theirs, own = {1: (7, 70), 2: (8, 80)}, {1: (5, 50), 2: (8, 88)}
    limits_set: list[tuple[int, tuple[int, int]]] = []
    monkeypatch.setattr(alike, "_LIMITS", (1, 2))
    monkeypatch.setattr(resource, "prlimit", lambda _pid, limit: theirs[limit])
    monkeypatch.setattr(resource, "getrlimit", own.__getitem__)
    monkeypatch.setattr(resource, "setrlimit", lambda *both: limits_set.append(both))
    assert alike.take_limits(4) == {1: 5}
    assert limits_set == [(1, (7, 50))]


def test_a_limit_above_ones_own_hard_limit_is_refused() -> None:
    with living("") as child:
        told = taking(child, "resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))\n")
    assert told.returncode == 1
    assert told.stderr.splitlines()[-1].startswith("ValueError")


@pytest.mark.parametrize("seconds", [1000, 1 << 40, None])
def test_a_process_with_a_limit_of_cpu_is_timed(seconds: int | None) -> None:
    soft = "resource.RLIM_INFINITY" if seconds is None else seconds
    with living(f"resource.setrlimit(resource.RLIMIT_CPU, ({soft}, resource.RLIM_INFINITY))") as child:
        assert alike.is_timed(child) == (seconds is not None)
