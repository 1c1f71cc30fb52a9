"""A process that the warm one has forked ahead: it does one command after the other, and is the same after each."""

import os
import select
import signal
import socket
import time
from contextlib import suppress

from pro0.cli.call import run
from pro0.cli.warm.work import Work, use_nowhere
from pro0.processes import alike

BUSY, WAITS = b"b", b"w"
"""What the warm process is told."""
COMMANDS = 500
"""The most of them that one process does: another one begins anew, whatever they left in its memory."""
PAUSE = 1.0
"""Seconds until the next try when this system has no room for another connection."""
REHEARSED = ("task list", "needs", "inbox --sent", "task claim --help", "send --help")
"""Commands that change nothing."""


class Ahead:
    """This process, with the listening socket of a team and its end of the pair with the warm process."""

    def __init__(self, team: str, listener: socket.socket, warm: socket.socket) -> None:
        self._team = team
        self._listener = listener
        self._warm = warm

    def work(self) -> None:
        """Do commands until the warm process wants no more of them, or one left something behind."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._warm.setblocking(False)
        use_nowhere()
        self._rehearse()
        os.chdir("/")
        with select.epoll() as ready:
            ready.register(self._warm, select.EPOLLIN)
            ready.register(self._listener, select.EPOLLIN | select.EPOLLEXCLUSIVE)  # one of those that wait wakes up
            for _ in range(COMMANDS):
                if not self._next_is_done(ready):
                    return

    def _next_is_done(self, ready: select.epoll) -> bool:
        """Do the next command; return whether another may follow here."""
        self._tell(WAITS)
        while True:
            if any(descriptor == self._warm.fileno() for descriptor, _ in ready.poll()):
                return False
            try:
                connection, _ = self._listener.accept()
            except BlockingIOError:
                continue  # another one was quicker
            except OSError:
                time.sleep(PAUSE)
                return False
            self._tell(BUSY)
            return Work(connection).do()

    def _tell(self, news: bytes) -> None:
        with suppress(OSError):
            self._warm.send(news)

    def _rehearse(self) -> None:
        """Use what commands use, until one is asked for: a page of memory is copied at its first use after a fork."""
        alike.alike(os.getpid())
        for arguments in REHEARSED:
            if select.select([self._listener], [], [], 0)[0]:
                return
            run([*arguments.split(), "-t", self._team])
