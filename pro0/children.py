"""Running one task's program: its output streamed and its tail kept, its time limited, its whole tree ended.

When it is over, all that it started is: a task that is done leaves nothing behind that works on, or holds a port that
the next one needs. What shall go on is a member of its own, of the agent `command`.
"""

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import msgspec

from pro0 import processes
from pro0.model.runtime import Process
from pro0.processes import ExitWatch

TAIL = 4096
"""Bytes of output that become a task's result."""
CHUNK = 65536
LAST_CHUNKS = 16
"""How much is read after the command's end, a full pipe: what it left in the background may write for ever."""
NOT_STARTED = 127
"""The exit code that shells give a command which never came to run."""
RUN = "PRO0_RUN"
"""The variable that tags one run of a command and all that comes of it."""


class Ending(msgspec.Struct, frozen=True):
    """How a command ended: its code (negative for a signal), its output's tail, and why it was ended, if it was.

    `left` is how many processes it had left behind, which are ended.
    """

    code: int
    tail: str
    why: str = ""
    left: int = 0


class Changes(Protocol):
    """What tells that something may have changed: readable after a change, until it is drained."""

    def fileno(self) -> int:
        """Return the descriptor that is readable after a change."""

    def drain(self) -> bool:
        """Forget the changes so far; returns whether there were any."""


class Running:
    """One program in its own process group, so that the pane's keys do not reach it by accident.

    It reads the file `given`, or nothing; what it says on stderr goes to the file `errors`, else into the output.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        tag: str,
        grace: float,
        *,
        given: Path | None = None,
        errors: Path | None = None,
        cwd: Path | None = None,
    ) -> None:
        self._argv = argv
        self._environment = {**environment, RUN: tag}
        self._tag = tag
        self._grace = grace
        self._given, self._errors, self._cwd = given, errors, cwd
        self._tail = b""
        self._seen: set[Process] = set()
        self._child: subprocess.Popen[bytes] | None = None
        self._head: Process | None = None
        self._output = -1

    def start(self) -> None:
        """Start it; raises OSError. Whoever is interrupted meanwhile calls `end`, which finds what was started."""
        with ExitStack() as files:
            self._child = subprocess.Popen(
                self._argv,
                stdin=files.enter_context(self._given.open("rb")) if self._given else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=files.enter_context(self._errors.open("wb")) if self._errors else subprocess.STDOUT,
                cwd=self._cwd,
                env=self._environment,
                process_group=0,
            )
        # It is waited for last: as long as it is not, its pid, and that of its group, are nobody else's.
        self._head = processes.identify(self._child.pid)
        assert self._child.stdout is not None
        self._output = self._child.stdout.fileno()
        os.set_blocking(self._output, False)

    def follow(
        self,
        limit: float | None,
        watch: Changes | None,
        pass_on: Callable[[bytes], None],
        look: Callable[[], str],
        poll: float,
    ) -> Ending:
        """Stream output until the command ends, its limit (seconds) is over, or `look`, asked at changes, says why."""
        looked = time.monotonic()
        deadline = looked + limit if limit else None
        with selectors.DefaultSelector() as selector, ExitWatch() as exits:
            if self._head:
                exits.add(self._head)
            for source in (self._output, exits, *([watch] if watch else ())):
                selector.register(source, selectors.EVENT_READ)
            while self._runs():
                for key, _ in selector.select(_until(deadline, poll)):
                    if key.fileobj == self._output and not self._read(pass_on):
                        selector.unregister(self._output)
                now, why = time.monotonic(), ""
                if (watch and watch.drain()) or now >= looked + poll:
                    looked, why = now, look()
                if deadline and now >= deadline:
                    why = f"over its limit of {limit:g} s"
                if why:
                    return self.end(why, pass_on)
        return self.end("", pass_on)

    def end(self, why: str, pass_on: Callable[[bytes], None]) -> Ending:
        """End the command, if it runs still, and everything it started, TERM, grace, KILL."""
        over = not self._runs()
        if over:  # before its children are ended: what they say to that is none of its result
            self._drain(pass_on)
        if left := self._tree():
            processes.end(self._tree, self._grace)
        if not over:
            self._drain(pass_on)
        if self._child and self._child.stdout:
            self._child.stdout.close()
        code = self._child.wait() if self._child else NOT_STARTED
        return Ending(code, self._tail.decode(errors="replace").strip(), why, len(left))

    def _runs(self) -> bool:
        return self._head is not None and processes.alive(self._head)

    def _tree(self) -> list[Process]:
        """Return what carries this run's tag, is of its group, or was ever seen below the command: each has gaps."""
        self._seen.update(processes.tagged(RUN, [self._tag])[self._tag])
        if self._child:
            self._seen.update(processes.in_group(self._child.pid))
        if self._child and self._runs():
            self._seen.update(processes.descendants(self._child.pid, sparing=True))
        return [process for process in self._seen if processes.alive(process)]

    def _drain(self, pass_on: Callable[[bytes], None]) -> None:
        chunks = 0
        while chunks < LAST_CHUNKS and self._read(pass_on):
            chunks += 1

    def _read(self, pass_on: Callable[[bytes], None]) -> bool:
        """Pass on what there is to read; False at the end of the output, or when there is nothing now."""
        if self._output < 0:  # interrupted while it was being started
            return False
        try:
            output = os.read(self._output, CHUNK)
        except BlockingIOError:
            return self._runs()
        pass_on(output)
        self._tail = (self._tail + output)[-TAIL:]
        return bool(output)


def _until(deadline: float | None, poll: float) -> float:
    return min(poll, max(deadline - time.monotonic(), 0)) if deadline else poll
