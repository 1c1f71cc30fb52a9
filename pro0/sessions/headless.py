"""The headless backend: no terminal at all; guards run detached, and their output goes to a log."""

import os
import signal
import stat
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread

from pro0 import processes
from pro0.errors import EnvironmentMissing, ErrorCode, Refused
from pro0.model.runtime import Handle, Process, Terminal
from pro0.model.screen import Screen
from pro0.rules.text import printed
from pro0.sessions.backend import Asked, Key, Opening, Place, always
from pro0.sessions.guards import guard_of, stamp
from pro0.sessions.starting import check, started_for_others

PATIENCE = 5.0
"""Seconds to wait for the guards' ends after a failed bring-up."""

_TAIL = 65536


class Headless:
    """Sessions without a terminal."""

    name = "headless"
    pace = 0.0

    def open(self, place: Place, openings: Sequence[Opening]) -> tuple[Handle, ...]:
        """Start every guard detached from this process, all or none; raises EnvironmentMissing, naming the step."""
        check(place, openings)
        started: list[subprocess.Popen[bytes]] = []
        for opening in openings:
            try:
                started.append(_start(place, opening))
            except (OSError, EnvironmentMissing) as error:
                _undo(started)
                raise _failure(opening, error) from None
        handles = tuple(
            self._handle(place, opening.incarnation, guard.pid, _identity(guard.pid), opening.log)
            for opening, guard in zip(openings, started, strict=True)
        )
        for guard in started:
            _await(guard)
        return handles

    def alive(self, handles: Sequence[Handle]) -> frozenset[str]:
        """Return the incarnations with a running guard."""
        return frozenset(handle.incarnation for handle in handles if processes.alive(guard_of(handle)))

    def terminal(self, place: Place, incarnation: str) -> Terminal | None:  # noqa: ARG002
        """Return None: there is no terminal."""
        return None

    def find(self, place: Place, incarnation: str, guard: Process, log: Path) -> Handle | None:
        """Return the handle of a guard started by another lead."""
        return self._handle(place, incarnation, guard.pid, guard, log)

    def peek(self, handle: Handle, lines: int) -> str:
        """Return the last lines of a session's log, even after its end; raises Refused when the log is gone."""
        try:
            descriptor = _opened(handle.log, os.O_RDONLY)
        except OSError as error:
            raise Refused(f"the log {handle.log} is gone: {error.strerror}", code=ErrorCode.BACKEND_STALE) from None
        with open(descriptor, "rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL))
            text = log.read().decode(errors="replace")
        return "\n".join(printed(text).rstrip().split("\n")[-lines:])

    def look(self, handles: Sequence[Handle]) -> dict[str, Screen]:  # noqa: ARG002
        """Return nothing: a log is no screen."""
        return {}

    def nudge(self, handle: Handle, line: str, may_press: Asked = always, looked: float | None = None) -> bool:  # noqa: ARG002
        """Return False: nobody reads here."""
        return False

    def press(self, handle: Handle, key: Key, looked: float | None = None) -> bool:  # noqa: ARG002
        """Return False: nobody reads here."""
        return False

    def type(self, handle: Handle, data: bytes) -> bool:  # noqa: ARG002
        """Return False: nobody reads here."""
        return False

    def label(self, states: Mapping[Handle, str]) -> None:
        """Show nothing: there is no border."""

    def mark(self, needed: Mapping[Handle, bool], count: int) -> None:
        """Mark nothing: there is no border."""

    def ring(self, handles: Sequence[Handle], title: str, text: str) -> None:
        """Ring nowhere: nothing is shown."""

    def focus(self, handle: Handle) -> bool:  # noqa: ARG002
        """Return False: there is nothing to look at."""
        return False

    def close(self, handle: Handle) -> None:
        """Send HUP to the guard if it still runs, as a closing terminal does: its place is gone."""
        processes.signal_process(guard_of(handle), signal.SIGHUP)

    def attach_command(self, place: Place, handles: Sequence[Handle]) -> tuple[str, ...]:
        """Return the command to watch this backend's sessions; empty when there is nothing to watch."""
        return ("pro0", "team", "attach", place.team) if any(handle.backend == self.name for handle in handles) else ()

    def dismantle(self, place: Place) -> None:
        """Remove nothing: nothing was made for the whole team."""

    def _handle(self, place: Place, incarnation: str, pid: int, identity: Process | None, log: Path) -> Handle:  # noqa: ARG002
        # An already ended guard has no identity; its handle matches no process.
        return Handle(backend=self.name, incarnation=incarnation, pid=pid, server_start=stamp(identity), log=str(log))


def _opened(log: Path | str, flags: int) -> int:
    """Open a log without waiting for a pipe; return its descriptor. Raises EnvironmentMissing if it is no file."""
    descriptor = os.open(log, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise EnvironmentMissing(f"{log} is not a regular file", code=ErrorCode.UNSAFE_PATH, hint="move it away")


def _start(place: Place, opening: Opening) -> subprocess.Popen[bytes]:
    Path(opening.log).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    log = _opened(opening.log, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        return subprocess.Popen(
            opening.argv,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=place.project,
            env=started_for_others(),
            start_new_session=True,
        )
    finally:
        os.close(log)


def _identity(pid: int) -> Process | None:
    """Return a started guard; None when it has ended, or cannot be looked at now: its report will name it."""
    with suppress(EnvironmentMissing):
        return processes.identify(pid)
    return None


def _failure(opening: Opening, error: OSError | EnvironmentMissing) -> EnvironmentMissing:
    step = f"session {opening.title!r} cannot start"
    if isinstance(error, OSError):
        return EnvironmentMissing(f"{step}: {error.strerror}")
    return EnvironmentMissing(f"{step}: {error.message}", code=error.code, hint=error.hint)


def _undo(started: Sequence[subprocess.Popen[bytes]]) -> None:
    """End the guards of a failed bring-up, and wait a while for them.

    A guard ends its tree within its own grace, and kills the rest. So the guard is not killed: its tree would go on.
    """
    for guard in started:
        guard.terminate()
    deadline = time.monotonic() + PATIENCE
    for guard in started:
        try:
            guard.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            _await(guard)


def _await(guard: subprocess.Popen[bytes]) -> None:
    """Start a thread that waits for the guard's end, so that no zombie is left."""
    Thread(target=guard.wait, name=f"end of {guard.pid}", daemon=True).start()
