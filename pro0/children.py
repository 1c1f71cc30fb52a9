"""Run one task's program: stream its output, keep its tail, limit its time, end its whole tree.

At its end all its processes end too. A finished task leaves nothing running, and no port in use for the next one. A
lasting program needs a member of its own, of the agent `command`.
"""

import errno
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import Protocol

import msgspec

from pro0 import processes
from pro0.errors import Pro0Error
from pro0.model.runtime import Process
from pro0.processes import ExitWatch
from pro0.signals import held_back

TAIL = 4096
"""The last bytes of output, kept as a task's result."""
CHUNK = 65536
LAST_CHUNKS = 16
"""Chunks to read after the command's end, as much as a pipe holds: its background processes may write for ever."""
NOT_STARTED = 127
"""A shell's exit code for a command it could not run."""
RUN = "PRO0_RUN"
"""The variable tagging one run of a command and all its descendants."""


class Ending(msgspec.Struct, frozen=True):
    """The end of a command: exit code (negative for a signal), output tail, and reason if it was cut short.

    `left` is the number of leftover processes, now ended. `kept` is the number of those that cannot be ended, such as
    another user's. If the command is one of them, its code is that of a KILL.
    """

    code: int
    tail: str
    why: str = ""
    left: int = 0
    kept: int = 0

    @property
    def goes_on(self) -> str:
        """Return the sentence about the processes that cannot be ended."""
        return f"{self.kept} of its processes cannot be ended; are they another user's?"


class ChangeSource(Protocol):
    """A source of changes: readable after a change, until it is drained."""

    def fileno(self) -> int:
        """Return a descriptor, readable after a change."""

    def drain(self) -> bool:
        """Forget the changes so far; return True when there were any."""


class Running:
    """One program in its own session. It has no terminal, so it gets no keys and cannot give verdicts.

    Its stdin is the file `given`, or empty. Its stderr goes to the file `errors`, else into the output.
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
        """Start the program; raises OSError. An interrupted caller calls `end`, to find and end its processes."""
        with held_back():  # else an interrupt could leave a process unknown whose environment has no tag
            self._begin()

    def _begin(self) -> None:
        with ExitStack() as files:
            self._child = subprocess.Popen(
                self._argv,
                stdin=files.enter_context(self._given.open("rb")) if self._given else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=files.enter_context(self._errors.open("wb")) if self._errors else subprocess.STDOUT,
                cwd=self._cwd,
                env=self._environment,
                start_new_session=True,
            )
        # The child is reaped last. Until then nobody else can get its pid or its group's.
        try:
            self._head = processes.identify(self._child.pid)
        except Pro0Error as error:  # a process that cannot be examined cannot be followed
            self._child.kill()
            self._child.wait()
            raise OSError(errno.EAGAIN, error.message) from error
        if self._head:
            self._seen.add(self._head)
        assert self._child.stdout is not None
        self._output = self._child.stdout.fileno()
        os.set_blocking(self._output, False)

    def follow(
        self,
        limit: float | None,
        watch: ChangeSource | None,
        pass_on: Callable[[bytes], None],
        look: Callable[[], str],
        poll: float,
    ) -> Ending:
        """Stream output until the command ends, reaches its `limit` in seconds, or `look` returns a reason.

        `look` is called at changes, and every `poll` seconds.
        """
        looked = time.monotonic()
        deadline = looked + limit if limit else None
        with ExitStack() as opened:
            selector = opened.enter_context(_selector())
            for source in (self._output, *self._exits(opened), *([watch] if watch else ())):
                selector.register(source, selectors.EVENT_READ)
            while self._runs():
                # A closed output is no end: the command may run on without it.
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

    def _exits(self, opened: ExitStack) -> list[ExitWatch]:
        """Return a watch on the command's end, or nothing without a free descriptor: then polling finds the end."""
        try:
            exits = opened.enter_context(ExitWatch())
            if self._head:
                exits.add(self._head)
        except OSError:
            return []
        return [exits]

    def end(self, why: str, pass_on: Callable[[bytes], None]) -> Ending:
        """End the command, if it still runs, and all its processes: TERM, grace, KILL."""
        if self._child and not self._head:  # interrupted during the start
            self._head = processes.identify(self._child.pid)
        over = not self._runs()
        if over:  # before its children end: their last output is not part of the result
            self._drain(pass_on)
        left, kept = self._end_tree()
        if not over:
            self._drain(pass_on)
        if self._child and self._child.stdout:
            self._child.stdout.close()
        return Ending(self._code(), self._tail.decode(errors="replace").strip(), why, left, kept)

    def _end_tree(self) -> tuple[int, int]:
        """End all processes of this run; return how many leftover ones were ended, and how many could not be.

        A failed search for processes is repeated, and does not change the command's own result. After the last failure
        each known process that may still live counts as one that could not be ended.
        """
        alive = 0
        try:
            alive = len(self._tree())
            if not alive:
                return 0, 0
        except Pro0Error:  # the ending looks again and again
            pass
        try:
            survivors = len(processes.end(self._tree, self._grace))
        except Pro0Error:
            if not self._child:
                raise
            survivors = sum(map(processes.may_live, self._seen))
        return max(0, (alive or len(self._seen - {self._head})) - survivors), survivors

    def _code(self) -> int:
        """Return the exit code; for a command that cannot be ended, return the code of the KILL without waiting."""
        if not self._child:
            return NOT_STARTED
        if not self._runs():
            return self._child.wait()
        if (code := self._child.poll()) is not None:  # it has ended, although it could not be examined
            return code
        Thread(target=self._child.wait, name=f"end of {self._child.pid}", daemon=True).start()
        return -signal.SIGKILL

    def _runs(self) -> bool:
        return self._head is not None and processes.may_live(self._head)

    def _tree(self) -> list[Process]:
        """Return living processes of this run, ever found by tag, group or descent: each way alone has gaps."""
        self._seen.update(processes.tagged(RUN, [self._tag])[self._tag])
        if self._child:
            self._seen.update(processes.in_group(self._child.pid))
        if self._child and self._runs():
            self._seen.update(processes.descendants(self._child.pid, sparing=True))
        return [process for process in self._seen if processes.may_live(process)]

    def _drain(self, pass_on: Callable[[bytes], None]) -> None:
        chunks = 0
        while chunks < LAST_CHUNKS and self._read(pass_on):
            chunks += 1

    def _read(self, pass_on: Callable[[bytes], None]) -> bool:
        """Pass on the available output; return False at its end, or when the command is over and none is there."""
        if self._output < 0:  # interrupted during the start
            return False
        try:
            output = os.read(self._output, CHUNK)
        except BlockingIOError:
            return self._runs()
        pass_on(output)
        self._tail = (self._tail + output)[-TAIL:]
        return bool(output)


def _selector() -> selectors.BaseSelector:
    try:
        return selectors.DefaultSelector()
    except OSError:  # no descriptor is free, but the command runs already; poll() needs none
        return selectors.PollSelector()


def _until(deadline: float | None, poll: float) -> float:
    return min(poll, max(deadline - time.monotonic(), 0)) if deadline else poll
