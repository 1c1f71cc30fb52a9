"""Looking at processes that may end at any moment, while they are looked at too."""

from collections.abc import Callable, Iterable
from contextlib import suppress

import psutil


def living(
    fits: Callable[[psutil.Process], bool], among: Iterable[psutil.Process] | None = None
) -> list[psutil.Process]:
    """Return the processes that fit; one that ends meanwhile, or that may not be looked at, does not."""
    found = []
    for process in psutil.process_iter() if among is None else among:
        with suppress(psutil.Error, OSError):
            if fits(process):
                found.append(process)
    return found


def ended(process: psutil.Process) -> bool:
    """Return True for one that does nothing any more, a zombie too."""
    return not living(lambda one: one.is_running() and one.status() != psutil.STATUS_ZOMBIE, [process])
