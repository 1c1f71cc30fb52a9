"""Carry out a command for its own process, with the streams, folder, environment, limits and identity of that process.

Some acts only the command's own process can do, such as asking on its terminal or starting its own programs. They are
left to it as long as nothing was done. If anything of the command stays behind, this process carries out no other.
"""

import _thread
import fcntl
import io
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from types import FrameType

from pro0.cli import interrupts
from pro0.cli.warm.client import DONE, GO, READY, SIZE, STREAMS, YOURS, stamp
from pro0.ops import identity
from pro0.processes import alike, table
from pro0.store.places.folder import CHANGED_AT_SERVER
from pro0.terminals import address, asking

PATIENCE = 5.0
"""Seconds for a connected command to send its request."""
LARGEST = 8 << 20
"""The most bytes of arguments and environment; the system allows fewer."""
GONE = 129
_CHANGES = frozenset({"os.rename", "os.link", "os.symlink", "os.remove", "os.rmdir", "os.truncate", CHANGED_AT_SERVER})
_SURROUNDS = frozenset({"os.putenv", "os.unsetenv"})
_STARTS = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system"})


class OnlyThere(BaseException):
    """Only the command's own process can do this, and nothing was done so far."""


class Work:
    """The work for one connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._errors = "strict"
        self._begun = False
        """Whether a file was changed, or a stream read or written."""
        self._writes = False
        """Whether it is writing to a stream now; the reader may be slow."""
        self._is_over = False
        """Whether the command's process ended during a write, or while showing mail, which is then taken back first."""
        self._limits: dict[int, int] = {}
        """This process's own limits, while it has those of the command."""

    def do(self) -> bool:
        """Carry out the command of the other end; return True when nothing of it stays, so that another may follow."""
        with self._connection:
            self._connection.settimeout(PATIENCE)
            if address.peer(self._connection) != os.geteuid() or (arguments := self._prepared()) is None:
                return True
            self._connection.send(READY)
            before = _going_on()
            agreed, descriptors, *_ = socket.recv_fds(self._connection, len(GO), STREAMS + 1)
            if agreed != GO:
                return False
            try:
                answer = self._done(arguments, descriptors)
            except OnlyThere:
                self._connection.send(YOURS)
                return False
            is_clean = self._end_with_the_work() and _going_on() == before
            self._connection.send(answer)
            return is_clean

    def _prepared(self) -> list[str] | None:
        """Take on the attributes of the command's process; return its arguments, None when that is impossible."""
        command = table.entry(address.peer_process(self._connection))
        version, errors, count, *words = self._read(int.from_bytes(self._read(SIZE), "big")).split(b"\0")
        if command is None or version != stamp() or not alike.alike(command.pid) or alike.is_timed(command.pid):
            return None
        self._limits = alike.take_limits(command.pid)
        os.umask(alike.umask(command.pid))
        arguments, variables = words[: int(count)], words[int(count) :]
        _surround(variables)
        identity.ask_for(command)
        self._errors = errors.decode()
        return [os.fsdecode(argument) for argument in arguments]

    def _done(self, arguments: list[str], descriptors: list[int]) -> bytes:
        """Carry out the command in its folder, with its streams, and return the answer; raises OnlyThere."""
        if len(descriptors) != STREAMS + 1:
            raise OnlyThere
        os.fchdir(descriptors[STREAMS])
        for number, descriptor in enumerate(descriptors[:STREAMS]):
            os.dup2(descriptor, number)
        for descriptor in descriptors:
            os.close(descriptor)
        stdin = io.BufferedReader(_Stream(self, 0, "r"))  # type: ignore[type-var]
        sys.stdin = io.TextIOWrapper(stdin, encoding="utf-8", errors=self._errors)
        sys.stdout, sys.stderr = (self._writer(number) for number in (1, 2))
        self._end_with_the_command()
        _watch(self)
        from pro0.cli.call import run

        return DONE + bytes([run(arguments)])

    def _writer(self, number: int) -> io.TextIOWrapper:
        line_by_line = number == 2 or os.isatty(number)
        stream = io.BufferedWriter(_Stream(self, number, "w"))  # type: ignore[type-var]
        return io.TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", line_buffering=line_by_line)

    def _read(self, size: int) -> bytes:
        text = b""
        while len(text) < min(size, LARGEST) and (part := self._connection.recv(size - len(text))):
            text += part
        return text

    def _end_with_the_command(self) -> None:
        """From now on, end the command here when its own process ends."""
        signal.signal(signal.SIGIO, self._look)
        self._connection.setblocking(False)
        fcntl.fcntl(self._connection, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(self._connection, fcntl.F_GETFL)
        fcntl.fcntl(self._connection, fcntl.F_SETFL, flags | os.O_ASYNC)
        self._look(0, None)  # it may have ended already

    def _end_with_the_work(self) -> bool:
        """Give up the streams, folder and limits of the command; return True when nothing of it stays."""
        if self._is_over:
            os._exit(GONE)
        try:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
        except OSError:
            return False  # the rest of it would be printed later, for another command
        signal.signal(signal.SIGIO, signal.SIG_IGN)  # the command's process ends once it has the answer
        _watch(None)
        use_nowhere()
        os.chdir("/")
        alike.set_limits(self._limits)
        return True

    def _look(self, number: int, frame: FrameType | None) -> None:
        try:
            self._connection.recv(1)
        except BlockingIOError:
            return
        except OSError:
            pass
        if self._is_over:
            return
        interruption = interrupts.within()
        if not self._writes and interruption is None:
            os._exit(GONE)
        self._is_over = True
        if interruption is None:
            raise KeyboardInterrupt
        interruption.hear(number, frame)

    def write(self, write: Callable[[], int | None]) -> int | None:
        """Write to a stream of the command; if the command's process ends, this is interrupted and nothing follows."""
        self.touch()
        self._writes = True
        try:
            if self._is_over:
                os._exit(GONE)
            return write()
        finally:
            self._writes = False

    def touch(self) -> None:
        """Record that this process has begun to act, and can no longer leave the work to the command's own process."""
        self._begun = True

    def report(self, event: str, arguments: tuple[object, ...]) -> None:
        """Handle an audit event of the interpreter; raises OnlyThere for an act that must not happen here."""
        if self._begun:
            return
        if event in _STARTS or (event == "open" and arguments[0] == asking.TERMINAL):
            raise OnlyThere
        if event in _CHANGES:
            self._begun = True


class _Stream(io.FileIO):
    """A stream of the command, which records its first use."""

    def __init__(self, work: Work, number: int, mode: str) -> None:
        super().__init__(number, mode, closefd=False)
        self._work = work

    def readinto(self, buffer: bytearray) -> int | None:  # type: ignore[override]
        self._work.touch()
        return super().readinto(buffer)

    def readall(self) -> bytes:
        self._work.touch()
        return super().readall()

    def write(self, data: bytes) -> int | None:  # type: ignore[override]
        return self._work.write(lambda: super(_Stream, self).write(data))


_at_work: list[Work] = []
_surroundings: list[list[bytes]] = []
"""The environment set last; empty once a command has changed it."""
_hooks: list[Callable[[str, tuple[object, ...]], None]] = []


def use_nowhere() -> None:
    """Connect all standard streams of this process to the null device."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(STREAMS):
        os.dup2(nowhere, number)
    os.close(nowhere)


def _surround(variables: list[bytes]) -> None:
    """Set the environment, unless it is the one set last, as it mostly is."""
    if _surroundings == [variables]:
        return
    _surroundings[:] = [variables]
    os.environ.clear()
    os.environb.update((name, value) for name, _, value in (variable.partition(b"=") for variable in variables))
    time.tzset()


def _watch(work: Work | None) -> None:
    """Report the interpreter's audit events to this work, or to none. An audit hook can never be removed."""
    _at_work[:] = [work] if work else []
    if not _hooks:
        _hooks.append(_hook)
        sys.addaudithook(_hook)


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    for work in _at_work:
        work.report(event, arguments)
        if event in _SURROUNDS:
            _surroundings.clear()


def _going_on() -> tuple[int, int]:
    """Return the numbers of open descriptors and of running threads."""
    return len(os.listdir("/proc/self/fd")), _thread._count()
