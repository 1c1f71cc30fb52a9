"""The bell of a tmux window, and notices on the terminals of its clients, written to their devices."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress

from pro0.rules.desktop import BELL, sequence

CLIENTS = ("list-clients", "-F", "#{client_tty}\t#{client_termtype}\t#{client_termname}")


def ring(pane_tty: str, clients: Iterable[str], title: str, text: str) -> None:
    """Ring in a pane, as its program would, so tmux marks the window; show a notice on each client that can."""
    _write(pane_tty, BELL)
    for client in clients:
        tty, _, names = client.partition("\t")
        if escapes := sequence(names.split("\t"), title, text):
            _write(tty, escapes)


def _write(tty: str, text: str) -> None:
    """Write to a terminal of this user in one piece; one that takes nothing now is left alone."""
    with suppress(OSError):
        descriptor = os.open(tty, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            if stat.S_ISCHR(status.st_mode) and status.st_uid == os.geteuid():
                os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
