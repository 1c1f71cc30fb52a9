"""A process forked ahead by the warm process. It carries out command after command, each from the same state."""

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
"""The reports to the warm process."""
COMMANDS = 500
"""The most commands that one process carries out. A fresh one then takes over, without leftovers in memory."""
PAUSE = 1.0
"""Seconds to wait before leaving when the system cannot accept another connection."""
REHEARSED = ("task list", "needs", "inbox --sent", "task claim --help", "send --help")
"""Commands for the rehearsal, which change nothing."""


class Ahead:
    """This process, with the listening socket of a team and a socket to the warm process."""

    def __init__(self, team: str, listener: socket.socket, warm: socket.socket) -> None:
        self._team = team
        self._listener = listener
        self._warm = warm

    def work(self) -> None:
        """Carry out commands until the warm process ends this one, or a command leaves something behind."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._warm.setblocking(False)
        use_nowhere()
        self._rehearse()
        os.chdir("/")
        with select.epoll() as ready:
            ready.register(self._warm, select.EPOLLIN)
            ready.register(self._listener, select.EPOLLIN | select.EPOLLEXCLUSIVE)  # wakes only one process
            for _ in range(COMMANDS):
                if not self._next_is_done(ready):
                    return

    def _next_is_done(self, ready: select.epoll) -> bool:
        """Carry out the next command; return True when this process may carry out another."""
        self._tell(WAITS)
        while True:
            if any(descriptor == self._warm.fileno() for descriptor, _ in ready.poll()):
                return False
            try:
                connection, _ = self._listener.accept()
            except BlockingIOError:
                continue  # another process was quicker
            except OSError:
                time.sleep(PAUSE)
                return False
            self._tell(BUSY)
            return Work(connection).do()

    def _tell(self, news: bytes) -> None:
        with suppress(OSError):
            self._warm.send(news)

    def _rehearse(self) -> None:
        """Run harmless commands until a real one comes: memory pages are copied at their first use after a fork."""
        alike.alike(os.getpid())
        for arguments in REHEARSED:
            if select.select([self._listener], [], [], 0)[0]:
                return
            run([*arguments.split(), "-t", self._team])
