"""Commands through the warm process, with this process in its place: a fork of it does the work for it."""

import os
import signal
import socket
import sys
from pathlib import Path

from pro0.cli.main import is_short
from pro0.cli.warm import client
from pro0.cli.warm.work import Work
from pro0.rpc.place import listening
from tests.forks import forking

WANTED = os.environ.get("PRO0_TESTS_WARM") == "1"
"""Whether the tests of the command line let their short commands be done by another process."""


def call(home: Path, arguments: list[str], stdin: str = "") -> int | None:
    """Do one command as its process does; None when it has to do the work itself."""
    team = next(iter(sorted((home / "teams").glob("*/config.json"))), None)
    if team is None or not is_short(arguments):
        return None
    place = team.with_name(client.SOCKET)
    listener = listening(place)
    with forking():
        worker = os.fork()
    if worker == 0:
        _work(listener)
    listener.close()
    before, text = os.dup(0), os.memfd_create("stdin")
    try:
        os.write(text, stdin.encode())
        os.lseek(text, 0, os.SEEK_SET)
        os.dup2(text, 0)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        return client.call(arguments)
    finally:
        os.dup2(before, 0)
        for descriptor in (before, text):
            os.close(descriptor)
        place.unlink()
        os.kill(worker, signal.SIGKILL)  # one that was asked for nothing; our child, not yet reaped
        os.waitpid(worker, 0)


def _work(listener: socket.socket) -> None:
    try:
        listener.setblocking(True)
        connection, _ = listener.accept()
        listener.close()
        Work(connection).do()
    finally:
        os._exit(0)
