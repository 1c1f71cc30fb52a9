"""Many processes at once: forked, since a hundred of them would take a minute to spawn."""

import multiprocessing
import warnings
from collections.abc import Callable, Iterable
from multiprocessing.process import BaseProcess

_FORK = multiprocessing.get_context("fork")


def start(act: Callable[..., None], *arguments: object) -> BaseProcess:
    """Start a process that does one act; its exit code is 0 when the act raised nothing."""
    process = _FORK.Process(target=act, args=arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that pytest-xdist has; nobody else does
        process.start()
    return process


def all_end_well(processes: Iterable[BaseProcess], seconds: float = 60) -> None:
    """Wait for processes; one that fails, or does not end in time, fails the test."""
    processes = list(processes)
    try:
        for process in processes:
            process.join(seconds)
            assert process.exitcode == 0, f"{process} ended with {process.exitcode}"
    finally:
        for process in processes:
            if process.exitcode is None:
                process.kill()
                process.join()


def run(act: Callable[..., None], arguments: Iterable[tuple[object, ...]], seconds: float = 60) -> None:
    """Do one act in as many processes as there are arguments."""
    all_end_well([start(act, *each) for each in arguments], seconds)
