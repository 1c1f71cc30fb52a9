"""End processes: politely, then firmly, and never a stranger."""

from __future__ import annotations

import os
import sys
import time

from pro0.processes import pidfd
from pro0.processes.table import alive, may_live

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from pro0.model.runtime import Process
    from pro0.processes.table import ProcessEntry

    Known = TypeVar("Known", Process, ProcessEntry)
else:
    import _signal as signal  # without enum, which costs a guard 4 ms

FIRM = 5.0
"""Seconds of repeated KILL; only processes held by the kernel, or another user's, outlive them."""

_FIRST_PAUSE = 0.002
_LONGEST_PAUSE = 0.05
_FIRST_LOOK = 0.05
_LOOK_AGAIN = 1.0


def signal_process(process: Process | ProcessEntry, number: int) -> bool:
    """Send a signal to exactly this process; False when it is gone, or not ours to signal."""
    try:
        return _send_pinned(process, number) if sys.platform == "linux" else _send(process, number)
    except (ProcessLookupError, PermissionError):
        return False


def end(find: Callable[[], Iterable[Known]], grace: float) -> list[Known]:
    """End all processes that `find` returns, new children too: TERM, `grace` seconds, KILL; return the survivors.

    A stopped process is continued, so it can obey the TERM. A failed look is repeated; its error is raised only at the
    very end.
    """
    try:
        if not _press(find, grace, (signal.SIGTERM, signal.SIGCONT), _LOOK_AGAIN, repeatedly=False):
            return []
    except Exception:  # noqa: BLE001 - unseen processes may live, and the second round looks again
        pass
    return _press(find, FIRM, (signal.SIGKILL,), _FIRST_LOOK, repeatedly=True)


def _press(
    find: Callable[[], Iterable[Known]],
    seconds: float,
    numbers: tuple[int, ...],
    look_again: float,
    *,
    repeatedly: bool,
) -> list[Known]:
    """Signal all found processes, each once or `repeatedly`, until none is found or the time is up."""
    deadline = time.monotonic() + seconds
    signalled: set[tuple[int, str]] = set()
    pause = _FIRST_LOOK
    while True:
        try:
            processes: list[Known] | None = list(find())
        except Exception:
            if time.monotonic() >= deadline:
                raise
            processes = None
        if processes == []:
            return []
        for process in processes or ():
            if (repeatedly or (process.pid, process.start) not in signalled) and _told(process, numbers):
                signalled.add((process.pid, process.start))
        seconds_left = deadline - time.monotonic()
        if processes and seconds_left <= 0:
            return processes
        _until_gone(processes, min(pause, seconds_left))
        pause = min(pause * 2, look_again)


def _told(process: Process | ProcessEntry, numbers: tuple[int, ...]) -> bool:
    """Signal a process; False when that could not be tried now."""
    try:
        for number in numbers:
            signal_process(process, number)
    except Exception:  # noqa: BLE001 - signal the other processes all the same, and this one at the next look
        return False
    return True


def _until_gone(processes: list[Known] | None, seconds: float) -> None:
    """Wait until all of these are gone, or the time is up. Checking a few is far cheaper than a new scan."""
    deadline = time.monotonic() + seconds
    pause = _FIRST_PAUSE
    while (processes is None or any(may_live(process) for process in processes)) and time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)


def _send_pinned(process: Process | ProcessEntry, number: int) -> bool:
    # Pin first, then verify: the pid cannot pass to a stranger between the check and the signal.
    descriptor = pidfd.open_process(process.pid)
    try:
        if not alive(process):
            return False
        pidfd.send(descriptor, number)
    finally:
        os.close(descriptor)
    return True


def _send(process: Process | ProcessEntry, number: int) -> bool:
    if not alive(process):
        return False
    os.kill(process.pid, number)
    return True
