"""The warm process: forked by a lead, it loads what short commands need, and is forked for each of them."""

import gc
import importlib
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pro0.cli.main import PATIENCE as OBJECTS
from pro0.cli.warm.client import SOCKET
from pro0.rpc.place import listening
from pro0.store.teams import TeamStore

PAUSE = 1.0
"""Seconds until the next try when this system has no room for another connection."""
MODULES = (
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
    "pro0.cli.warm.work",
)
REHEARSED = ("task list", "needs", "inbox --sent", "task claim --help", "send --help")
"""Commands that change nothing."""


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
        while _next_is_needed(listener, lifeline):
            pass


def _next_is_needed(listener: socket.socket, lifeline: int) -> bool:
    """Fork a process that waits for one command; return True once it has one, False when the lead is gone."""
    waits, has_one = os.pipe()
    if os.fork() == 0:
        try:
            os.close(waits)
            _work(listener, lifeline, has_one)
        finally:
            os._exit(0)
    os.close(has_one)
    ended = lifeline in select.select([waits, lifeline], [], [])[0]
    os.close(waits)
    return not ended


def _work(listener: socket.socket, lifeline: int, has_one: int) -> None:
    """Do one command; return without one when the lead is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    gc.set_threshold(OBJECTS)
    from pro0.cli.warm.work import Work

    _rehearse(listener)
    if lifeline in select.select([listener.fileno(), lifeline], [], [])[0]:
        return
    try:
        connection, _ = listener.accept()
    except OSError:
        time.sleep(PAUSE)
        return
    for descriptor in (listener.detach(), lifeline, has_one):
        os.close(descriptor)
    Work(connection).do()


def _rehearse(listener: socket.socket) -> None:
    """Use what commands use, until one is asked for: a page of memory is copied at its first use after a fork."""
    from pro0.cli.call import run
    from pro0.processes import alike

    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)
    alike.alike(os.getpid())
    for arguments in REHEARSED:
        if select.select([listener], [], [], 0)[0]:
            return
        run(arguments.split())
