"""Forks of the process of the tests itself, and programs in a terminal of their own, which need none."""

import os
import pty
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def forking() -> Iterator[None]:
    """Let this process fork, by its tests or by pro0, though it has other threads; newer Pythons warn of them.

    In each process of pytest-xdist one waits for messages. What a lead or a server of earlier tests has left waits for
    work. A thread that waits holds no lock that the child could need, and the child has none of these threads.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*multi-threaded, use of fork", DeprecationWarning)
        yield


def start_in_terminal(
    argv: list[str] | tuple[str, ...], environment: Mapping[str, str] | None = None
) -> tuple[int, int]:
    """Start a program as the leader of a session with a terminal of its own; return its pid, and the person's end.

    A leader without a terminal gets the one that it opens.
    """
    ours, its = pty.openpty()
    try:
        streams = (
            (os.POSIX_SPAWN_OPEN, 0, os.ttyname(its), os.O_RDWR, 0),
            *((os.POSIX_SPAWN_DUP2, 0, number) for number in (1, 2)),
        )
        around = os.environ if environment is None else environment
        return os.posix_spawnp(argv[0], argv, around, file_actions=streams, setsid=True), ours
    finally:
        os.close(its)
