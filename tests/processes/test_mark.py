"""The mark that the kernel hands down: who has it, who has not, and where there is none."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pro0.processes import mark

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the mark is Linux's")

ROOT = str(Path(__file__).parents[2])
HEAD = f"""
import os, sys
sys.path.insert(0, {ROOT!r})
from resource import RLIM_INFINITY, RLIMIT_RTTIME, getrlimit, setrlimit
from pro0.processes import mark
"""
STAY = "print(os.getpid(), flush=True); import time; time.sleep(600)"

WAYS = {
    "a child": STAY,
    "a cleared environment": f"os.execve(sys.executable, [sys.executable, '-c', 'import os; {STAY}'], {{}})",
    "a session of its own, twice forked": f"os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); {STAY}",
    "another group": f"os.getuid() or os.setresgid(65534, 65534, 65534); {STAY}",
    "another user": f"os.getuid() or os.setresuid(65534, 65534, 65534); {STAY}",
}


def said(program: str, head: str = HEAD) -> str:
    """Return what a program prints; with `site`, so that its lines count as taken."""
    return subprocess.run(
        [sys.executable, "-I", "-c", head + program], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("way", WAYS)
def test_whatever_was_started_below_carries_it(way: str) -> None:
    """A process does not lose it by what ordinary programs do, and whoever asks needs no more than its pid."""
    argv = [sys.executable, "-I", "-c", f"{HEAD}\nassert mark.put_on('one')\n{WAYS[way]}"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as head:
        assert head.stdout
        pid = int(head.stdout.readline())
        try:
            assert mark.carried_by(pid) == mark.mark_of("one")
            assert mark._public_limit(pid) == mark.mark_of("one")
        finally:
            os.kill(pid, signal.SIGKILL)


def test_a_copied_environment_does_not_bring_it() -> None:
    with subprocess.Popen(["sleep", "600"], env={**os.environ, "PRO0_INCARNATION": "one"}) as child:
        try:
            assert mark.carried_by(child.pid) is None
        finally:
            child.kill()


def test_marks_of_sessions_differ_and_limit_nothing() -> None:
    """A hundred thousand years of a processor."""
    many = {mark.mark_of(f"session {number}") for number in range(1000)}
    assert len(many) == 1000
    assert all(1 << 62 <= one < (1 << 62) + (1 << 56) for one in many)


def test_nobody_carries_what_is_not_there() -> None:
    assert mark.carried_by(2**22 + 1) is None
    assert mark._public_limit(2**22 + 1) == -1
    assert mark.carried_by(2**70) is None


def test_it_is_put_on_and_taken_off() -> None:
    """Another one takes its place, none is left behind, and a limit that is no mark is left alone."""
    program = """
pid = os.getpid()
print(mark.put_on("one"), mark.put_on("two"), mark.carried_by(pid) == mark.mark_of("two"))
print(mark.take_off() or mark.available(), mark.carried_by(pid), getrlimit(RLIMIT_RTTIME))
setrlimit(RLIMIT_RTTIME, (5000, RLIM_INFINITY))
print(mark.take_off() or mark.available(), getrlimit(RLIMIT_RTTIME))
"""
    endless = resource.RLIM_INFINITY
    assert said(program) == f"True True True\nTrue None ({endless}, {endless})\nTrue (5000, {endless})\n"


@pytest.mark.parametrize("hard", [200_000, (1 << 62) - 1])
def test_where_the_hard_limit_is_low_there_is_none(hard: int) -> None:
    """As rtkit sets one: nothing fails, it is said, and no limit is touched."""
    program = f"""
setrlimit(RLIMIT_RTTIME, ({hard}, {hard}))
print(mark.put_on("one"), mark.carried_by(os.getpid()), mark.take_off() or mark.available(), getrlimit(RLIMIT_RTTIME))
"""
    assert said(program) == f"False None False ({hard}, {hard})\n"


def test_a_high_hard_limit_stays_as_it_is() -> None:
    program = """
setrlimit(RLIMIT_RTTIME, ((1 << 63) - 1,) * 2)
print(mark.put_on("one"), mark.carried_by(os.getpid()) == mark.mark_of("one"))
print(mark.take_off() or mark.available(), mark.carried_by(os.getpid()), getrlimit(RLIMIT_RTTIME)[0] == (1 << 63) - 1)
"""
    assert said(program) == "True True\nTrue None True\n"


WITHOUT = {
    "no such limit": "import resource; del resource.RLIMIT_RTTIME",
    "no such call": "import resource; del resource.prlimit",
    "no such room": "sys.modules['resource'] = None",
}


@pytest.mark.parametrize("lack", WITHOUT)
def test_other_systems_have_none(lack: str) -> None:
    """macOS: the calls are there, and say no."""
    head = HEAD.replace(
        "from resource import RLIM_INFINITY, RLIMIT_RTTIME, getrlimit, setrlimit\n", WITHOUT[lack] + "\n"
    )
    program = "print(mark.put_on('one'), mark.take_off() or mark.available(), mark.carried_by(os.getpid()))"
    assert said(program, head) == "False False None\n"


LACKING = ["", "sys.modules['_sha2'] = None", "sys.modules['_sha2'] = sys.modules['_sha256'] = None"]


@pytest.mark.parametrize("lack", LACKING)
def test_every_python_makes_the_same_mark(lack: str) -> None:
    """The lead may run on another one than the guard."""
    head = HEAD.replace("import os, sys\n", f"import os, sys\n{lack}\n")
    assert int(said("print(mark.mark_of('one'))", head)) == mark.mark_of("one") == (1 << 62) | int("7692c3ad3540bb", 16)
