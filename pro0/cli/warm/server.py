"""The warm process: forked by a lead, it loads what short commands need, and forks the processes that do them."""

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
"""Seconds without any command until a process that waits beside another one leaves."""
MOMENT = 0.05
"""Seconds that a command waits for one of the processes that are at work."""
ENOUGH = max(2, os.cpu_count() or 1)
NEWS = 64
"""Bytes of a process's news that are read at once."""
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
    """Fork the warm process, which ends with this one; yield what lets it serve a team.

    To be called early: it inherits what is open, and must never hold what belongs to a lead.
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
        os.kill(pid, signal.SIGKILL)  # our child, which nobody else reaps; it holds nothing
        os.waitpid(pid, 0)
        for place in sockets:
            with suppress(OSError):
                place.unlink()


def _serve(lifeline: int) -> None:
    """Serve commands until the lead is gone. The first one only makes it load what they need, and is refused.

    So a team to which nobody speaks costs nothing, and nobody waits for the loading: there is no socket meanwhile.
    """
    place = os.fsdecode(os.read(lifeline, 65536))
    if not place:
        return
    with listening(Path(place)) as listener:
        if lifeline in select.select([listener.fileno(), lifeline], [], [])[0]:
            return
    for name in MODULES:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps those that have done their work
    gc.collect()
    gc.freeze()
    with listening(Path(place)) as listener:
        _keep_some_waiting(Path(place).parent.name, listener, lifeline)


def _keep_some_waiting(team: str, listener: socket.socket, lifeline: int) -> None:
    """Have a process waiting for a command at any time, until the lead is gone; those that nobody needs leave.

    Where each processor has one, the next command waits a moment for one of these. More of them would only wait for
    each other's locks.
    """
    from pro0.cli.warm.ahead import WAITS

    waits: dict[int, bool] = {}
    """Our end of the pair of each process, and whether it has nothing to do."""
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
            os.close(idle[0])  # it leaves
            del waits[idle[0]]
        elif not heard:
            waits[_forked(team, listener, [lifeline, *waits])] = True


def _forked(team: str, listener: socket.socket, ours: list[int]) -> int:
    """Fork a process that waits for commands, and return our end of the pair with it."""
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
