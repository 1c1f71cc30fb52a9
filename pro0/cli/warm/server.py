"""The warm process. A lead forks it; it loads the modules of short commands, and forks processes to carry them out."""

import gc
import importlib
import os
import select
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pro0.cli.warm.client import SOCKET
from pro0.rpc.place import listening
from pro0.store.teams import TeamStore

LINGERING = 5.0
"""Seconds without a command after which all waiting processes but one leave, one after the other."""
MOMENT = 0.05
"""Seconds that a command waits for a busy process to get free."""
ENOUGH = max(2, os.cpu_count() or 1)
NEWS = 64
"""The most bytes of a process's reports to read at once."""
MODULES = (
    "filelock",
    "pro0.cli.call",
    "pro0.cli.task.acts",
    "pro0.cli.task.edit",
    "pro0.cli.task.look",
    "pro0.cli.task.make",
    "pro0.cli.task.next",
    "pro0.cli.team.look",
    "pro0.cli.team.needs",
    "pro0.cli.member.look",
    "pro0.cli.message",
    "pro0.cli.completing",
    "pro0.cli.warm.ahead",
)


@contextmanager
def warm() -> Iterator[Callable[[TeamStore], None]]:
    """Fork the warm process, which ends with this one; yield a function that makes it serve a team.

    Call this early: the fork inherits all open descriptors, and must never hold one of a lead's.
    """
    lifeline, ours = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(ours)
            _serve(lifeline)
        finally:
            os._exit(0)
    os.close(lifeline)
    sockets: list[Path] = []

    def serve(team: TeamStore) -> None:
        sockets.append(team.paths.team / SOCKET)
        with suppress(OSError):
            os.write(ours, os.fsencode(sockets[0]))

    try:
        yield serve
    finally:
        os.close(ours)
        os.kill(pid, signal.SIGKILL)  # our child, not yet reaped, so the pid is still its own; it holds nothing
        os.waitpid(pid, 0)
        for place in sockets:
            with suppress(OSError):
                place.unlink()


def _serve(lifeline: int) -> None:
    """Serve commands until the lead is gone. The first command only starts the loading of modules, and is refused.

    So a team without commands costs nothing. No command waits for the loading, since there is no socket meanwhile.
    """
    place = os.fsdecode(os.read(lifeline, 65536))
    if not place:
        return
    with listening(Path(place)) as listener:
        if lifeline in select.select([listener.fileno(), lifeline], [], [])[0]:
            return
    for name in MODULES:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps the processes
    gc.collect()
    gc.freeze()
    with listening(Path(place)) as listener:
        _keep_some_waiting(Path(place).parent.name, listener, lifeline)


def _keep_some_waiting(team: str, listener: socket.socket, lifeline: int) -> None:
    """Keep a process waiting for the next command, until the lead is gone; end those that are not needed.

    When there are as many processes as processors, the next command waits a moment for one of them. More processes
    would only wait for each other's locks.
    """
    from pro0.cli.warm.ahead import WAITS

    waits: dict[int, bool] = {}
    """By our descriptor to each process: whether that process waits for a command."""
    while True:
        idle = [one for one in waits if waits[one]]
        patience = (MOMENT if len(waits) >= ENOUGH else 0) if not idle else LINGERING if idle[1:] else None
        heard = select.select([lifeline, *waits], [], [], patience)[0]
        if lifeline in heard:
            return
        for one in heard:
            if told := os.read(one, NEWS):
                waits[one] = told.endswith(WAITS)
            else:
                os.close(one)
                del waits[one]
        if not heard and idle:
            os.close(idle[0])  # this makes the process leave
            del waits[idle[0]]
        elif not heard:
            waits[_forked(team, listener, [lifeline, *waits])] = True


def _forked(team: str, listener: socket.socket, ours: list[int]) -> int:
    """Fork a process that waits for commands, and return our end of the socket pair."""
    from pro0.cli.warm.ahead import Ahead

    end, its = socket.socketpair()
    if os.fork() == 0:
        try:
            for descriptor in (end.detach(), *ours):
                os.close(descriptor)
            Ahead(team, listener, its).work()
        finally:
            os._exit(0)
    its.close()
    return end.detach()
