"""A look at a process that fails proves no death: it is an error, or the process counts as living."""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

import pytest

from pro0 import processes
from pro0.errors import EnvironmentMissing
from pro0.processes import linux, table
from tests.faults import Shim, fail_with
from tests.processes import families
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")

SCARCE = (errno.ENFILE, errno.EMFILE, errno.ENOMEM, errno.EIO)
GONE = (errno.ENOENT, errno.ESRCH, errno.EACCES, errno.EPERM)


@contextmanager
def failing(code: int, path: str = "/proc", times: int = 1_000_000) -> Iterator[list[str]]:
    """Let the next looks at a path and all below fail so."""
    failed: list[str] = []

    def fault(
        shim: Shim, name: str, real: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
    ) -> object:
        if str(args[0]).startswith(path) and len(failed) < times:
            failed.append(str(args[0]))
            return fail_with(code)(shim, name, real, args, kwargs)
        return real(*args, **kwargs)

    with Shim(("open", "listdir", "scandir"), None, fault):
        yield failed


@pytest.fixture
def sleeper() -> Iterator["Popen[bytes]"]:
    with families.running(["sleep", "600"], env={"TAG": "here"}) as child:
        wait_until(lambda: b"sleep" in linux.command_line(child.pid), 30, "it is a sleep")
        yield child
        child.kill()


@pytest.mark.parametrize("code", SCARCE, ids=errno.errorcode.get)
def test_a_failed_look_is_an_error(sleeper: "Popen[bytes]", code: int) -> None:
    known = processes.identify(sleeper.pid)
    assert known
    looks: dict[str, Callable[[], object]] = {
        "alive": lambda: processes.alive(known),
        "identify": lambda: processes.identify(known.pid),
        "tagged": lambda: processes.tagged("TAG", ["here"]),
        "having": lambda: processes.having(["TAG"]),
        "called_with": lambda: processes.called_with({"600": "it"}),
        "descendants": lambda: processes.descendants(os.getpid()),
        "environment": lambda: linux.environment(known.pid),
        "arguments": lambda: linux.command_line(known.pid),
    }
    for what, look in looks.items():
        with failing(code), pytest.raises(EnvironmentMissing, match="table of processes") as error:
            look()
        assert error.value.hint, what
    with failing(code):
        assert processes.may_live(known)
        assert not processes.stopped(known.pid)
    assert processes.alive(known)


@pytest.mark.parametrize("code", GONE, ids=errno.errorcode.get)
def test_who_is_gone_or_hidden_is_no_error(sleeper: "Popen[bytes]", code: int) -> None:
    known = processes.identify(sleeper.pid)
    assert known
    with failing(code, f"/proc/{known.pid}/"):
        assert not processes.alive(known)
        assert not processes.may_live(known)
        assert linux.environment(known.pid) == b""
        assert known not in processes.descendants(os.getpid())


def test_the_id_of_the_boot_is_not_forgotten_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty one would make everybody a process of an earlier boot."""
    known = linux.boot_id()
    monkeypatch.setattr(linux, "_boot", [])
    with failing(errno.ENFILE), pytest.raises(EnvironmentMissing):
        linux.boot_id()
    assert linux.boot_id() == known


@pytest.mark.parametrize("times", [1, 3])
def test_nobody_counts_as_ended_who_cannot_be_seen(sleeper: "Popen[bytes]", times: int) -> None:
    """Who ends a tree looks again, however often that fails at first."""
    with failing(errno.ENFILE, times=times) as failed:
        assert processes.end(lambda: processes.tagged("TAG", ["here"])["here"], 5) == []
    assert len(failed) == times
    assert sleeper.wait(10) < 0


def test_whoever_can_never_be_seen_is_an_error_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pro0.processes.ending.FIRM", 0.1)
    with failing(errno.ENFILE), pytest.raises(EnvironmentMissing):
        processes.end(lambda: processes.tagged("TAG", ["nobody"])["nobody"], 0.1)


def test_a_watch_waits_for_whom_it_cannot_see(sleeper: "Popen[bytes]") -> None:
    known = processes.identify(sleeper.pid)
    assert known
    with processes.ExitWatch() as exits:
        with failing(errno.ENFILE):
            exits.add(known)
        assert exits.ended() == []
        sleeper.kill()
        assert wait_until(exits.ended, 30, "its end is told") == [known]


def test_a_descriptor_is_closed_after_a_failed_read(tmp_path: Path) -> None:
    before = len(os.listdir("/dev/fd"))
    with pytest.raises(EnvironmentMissing):
        linux._read(str(tmp_path))
    assert len(os.listdir("/dev/fd")) == before
    assert table.entry(os.getpid())
