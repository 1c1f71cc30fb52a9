"""Hand a file over to a program beside an agent: the program takes it away, and an untaken one is taken back."""

import os
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pro0 import looking

PATIENCE = 5.0
"""Seconds for a file to be taken; longer means that the program is stuck."""
_PAUSE = 0.05


def hand_over(folder: Path, path: Path, data: bytes, ring: Callable[[], None] = lambda: None) -> bool:
    """Put a whole file at a path, made first in the session's folder; return True when the program took it.

    The program is rung until it takes the file. A file not taken in time is removed, so no line is handed over twice.
    """
    return put(folder, path, data) and not _came_back(path, ring)


def put(folder: Path, path: Path, data: bytes) -> bool:
    """Put a whole file at a path; return False when that cannot be done."""
    hidden = folder / f"new-{uuid.uuid4().hex}"
    try:
        hidden.write_bytes(data)
        hidden.rename(path)
    except OSError:
        with suppress(OSError):
            hidden.unlink(missing_ok=True)
        return False
    return True


def wait(over: Callable[[], bool], ring: Callable[[], None] = lambda: None) -> None:
    """Wait until something is over, for `PATIENCE` seconds at most."""
    deadline = time.monotonic() + PATIENCE
    while not over() and time.monotonic() < deadline:
        ring()
        time.sleep(_PAUSE)


def take_back(path: Path) -> bool:
    """Remove a file handed over; return True when it was still there, and so not taken."""
    try:
        path.unlink()
    except OSError:
        return False
    return True


def ring_at(pipe: Path) -> None:
    """Wake the program waiting for a writer of a named pipe, if there is one."""
    with suppress(OSError):
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW))


def _came_back(path: Path, ring: Callable[[], None]) -> bool:
    wait(lambda: not looking.exists(path), ring)
    return take_back(path)
