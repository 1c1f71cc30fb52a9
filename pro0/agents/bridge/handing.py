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
    """Put a whole file at a path, by way of the session's folder; return True when it was taken.

    The program is rung for while it has not looked. No line is handed over twice: what is taken back counts as untaken.
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
    """Take a file back; return True when it was still there."""
    try:
        path.unlink()
    except OSError:
        return False
    return True


def ring_at(pipe: Path) -> None:
    """Let the program look that sleeps at a named pipe, if one does."""
    with suppress(OSError):
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW))


def _came_back(path: Path, ring: Callable[[], None]) -> bool:
    wait(lambda: not looking.exists(path), ring)
    return take_back(path)
