"""Looking at processes that may end at any moment, while they are looked at too."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

import psutil


def living(
    fits: Callable[[psutil.Process], bool], among: Iterable[psutil.Process] | None = None
) -> list[psutil.Process]:
    """Return the processes that fit; one that ends meanwhile, or that may not be looked at, does not."""
    found = []
    for process in everybody() if among is None else among:
        with suppress(psutil.Error, OSError):
            if fits(process):
                found.append(process)
    return found


def everybody() -> Iterator[psutil.Process]:
    """Yield all processes, each looked up anew.

    `psutil.process_iter` keeps an object for each pid, also when another process has the pid by now: that object then
    refuses to end the process that it shows.
    """
    for pid in psutil.pids():
        with suppress(psutil.Error):
            yield psutil.Process(pid)


def ended(process: psutil.Process) -> bool:
    """Return True for one that does nothing any more, a zombie too."""
    return not living(lambda one: one.is_running() and one.status() != psutil.STATUS_ZOMBIE, [process])
