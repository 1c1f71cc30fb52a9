"""Faults at system calls: count them, kill the process at one, let one fail, or cut a write short.

A `Shim` stands between the code under test and `os`. It counts the calls that touch files; at a chosen call it does
one thing, before or after the real call. `points` runs an act once per call in a forked child, so that every test of
"whatever happens, wherever" is one loop over its points.
"""

import errno
import fcntl
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from tests.forks import forking

MUTATING = ("open", "write", "fsync", "close", "rename", "unlink", "mkdir", "rmdir", "ftruncate", "pwrite", "flock")
CALLS = (*MUTATING, "read", "fstat", "stat")
PROCESSES = ("subprocess._fork_exec", "os.posix_spawn", "os.kill", "os.killpg", "pro0.processes.pidfd.send")
"""Where processes are started and signalled."""
STEPS = (
    *("write", "pwrite", "fsync", "rename", "unlink", "mkdir", "rmdir", "ftruncate", "chmod", "link"),
    *PROCESSES,
)
"""All that somebody else can see: being killed anywhere between two of these is the same."""
EVERY = (*CALLS, "pread", "lstat", "listdir", "scandir", "link", "chmod", "readlink")
"""All that the store calls; what only reads can fail too, and a process can be killed there."""
CHANGING = (*MUTATING, "link", "chmod")
ERRORS = (
    errno.ENOSPC,
    errno.EIO,
    errno.EROFS,
    errno.EDQUOT,
    errno.EMFILE,
    errno.EINTR,
    errno.EFBIG,
)
EVERY_ERROR = (*ERRORS, errno.EACCES, errno.ENOLCK)
KILLED = -signal.SIGKILL
DONE = 0
FAILED = 3

Call = Callable[..., object]
Fault = Callable[["Shim", str, Call, tuple[object, ...], dict[str, object]], object]


class Seen(NamedTuple):
    """One call: its name, and what it was about."""

    name: str
    about: str


class Shim:
    """Stands in for the calls of `os` while it is on; at the call number `at`, from 1, `fault` takes its place.

    With `at` None it takes the place of every call. Only calls of the thread that made it count, and while `armed`.
    """

    def __init__(
        self,
        calls: tuple[str, ...] = CALLS,
        at: int | None = 0,
        fault: Fault | None = None,
        armed: Callable[[], bool] = lambda: True,
    ) -> None:
        self.seen: list[Seen] = []
        self._calls = calls
        self.at = at
        self._fault = fault
        self._armed = armed
        self._real: dict[str, Call] = {}
        self._thread = threading.get_ident()

    def __enter__(self) -> "Shim":
        for name in self._calls:
            module, attribute = _place(name)
            self._real[name] = getattr(module, attribute)
            setattr(module, attribute, self._standing_in(name))
        return self

    def __exit__(self, *_: object) -> None:
        for name, real in self._real.items():
            module, attribute = _place(name)
            setattr(module, attribute, real)

    def _standing_in(self, name: str) -> Call:
        real = self._real[name]

        def call(*args: object, **kwargs: object) -> object:
            # pytest-xdist has threads that read and write too.
            if threading.get_ident() != self._thread or not self._armed():
                return real(*args, **kwargs)
            self.seen.append(Seen(name, str(args[0]) if args else ""))
            if self._fault and self.at in (None, len(self.seen)):
                return self._fault(self, name, real, args, kwargs)
            return real(*args, **kwargs)

        return call


def _place(name: str) -> tuple[ModuleType, str]:
    """Return where a call is looked up: `flock` in fcntl, one with dots in its module, any other in os."""
    module, _, attribute = name.rpartition(".")
    if module:
        return import_module(module), attribute
    return fcntl if name == "flock" else os, name


def kill_before(_shim: Shim, _name: str, _real: Call, _args: tuple[object, ...], _kwargs: dict[str, object]) -> object:
    """End the process with SIGKILL before the call."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("it lives")


def kill_after(_shim: Shim, _name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """End the process with SIGKILL after the call, whether it works or not."""
    try:
        return real(*args, **kwargs)
    finally:
        os.kill(os.getpid(), signal.SIGKILL)


KILLS = (kill_before, pytest.param(kill_after, marks=pytest.mark.soak))
"""For acts killed at every call: what one call leaves is what the next one finds, so the soak alone does both."""


def fail_with(code: int) -> Fault:
    """Let the call fail; a descriptor that is closed is closed all the same, as Linux does."""

    def fault(_shim: Shim, name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        if name == "close":
            real(*args, **kwargs)
        raise OSError(code, os.strerror(code))

    return fault


def fail_about(text: str, code: int) -> Fault:
    """Let each call fail that is about this text: its first word, or the argv of a program."""
    failing = fail_with(code)

    def fault(shim: Shim, name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        return (failing if text in str(args[0]) else _as_usual)(shim, name, real, args, kwargs)

    return fault


def _as_usual(_shim: Shim, _name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    return real(*args, **kwargs)


def write_short(_shim: Shim, name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """Write one byte of all, as a full disk or a limit may."""
    if name != "write":
        return real(*args, **kwargs)
    descriptor, data = args
    return real(descriptor, bytes(data)[:1], **kwargs)  # type: ignore[call-overload]


class Point(NamedTuple):
    """One place where a fault hit: which call, how the act ended (KILLED, DONE, FAILED)."""

    number: int
    call: Seen
    ended: int


def count(act: Callable[[], object], calls: tuple[str, ...] = CALLS) -> list[Seen]:
    """Return the calls of an act, done for real."""
    with _no_collecting(), Shim(calls) as shim:
        act()
    return shim.seen


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Let what earlier tests left be closed before, not in the middle: the act would be seen to close it."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def in_child(act: Callable[[], object], at: int, fault: Fault, calls: tuple[str, ...] = CALLS) -> int:
    """Do the act in a forked child with one fault; returns KILLED, DONE, or FAILED for an error it raised."""
    with forking():
        child = os.fork()
    if child == 0:
        gc.disable()
        try:
            with Shim(calls, at, fault):
                act()
            os._exit(DONE)
        except BaseException as error:  # noqa: BLE001 - the child must not return into pytest
            if not hasattr(error, "exit_code"):
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
                os._exit(1)
            os._exit(FAILED)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def points(
    prepare: Callable[[], Callable[[], object]], fault: Fault, calls: tuple[str, ...] = CALLS
) -> Iterator[Point]:
    """For every call of an act: make a fresh world with `prepare`, and do the act there with the fault at that call."""
    number, seen = 0, count(prepare(), calls)
    for number, call in enumerate(seen, 1):
        act = prepare()
        yield Point(number, call, in_child(act, number, fault, calls))


@contextmanager
def fault_at(at: int | None, fault: Fault, calls: tuple[str, ...] = CALLS) -> Iterator[Shim]:
    """Have one fault in this process, or with `at` None one at every call."""
    with Shim(calls, at, fault) as shim:
        yield shim


def temporary_files(folder: Path) -> list[Path]:
    """Return what a write left behind below a folder."""
    return [path for path in folder.rglob("*") if path.name.startswith(".tmp-")]


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder but the lock files, whose text is for people."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(".lock")
    }
