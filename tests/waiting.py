"""Waiting for a condition with a deadline, never sleeping to hope."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

STUCK = 300.0
"""Seconds after which something counts as stuck, on a machine that is busy with other things: never a measure."""


def wait_until(condition: Callable[[], Found], seconds: float, what: str, every: float = 0.02) -> Found:
    """Return the first true value of `condition`, or fail naming `what` after so many seconds, never before STUCK."""
    seconds = max(seconds, STUCK)
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"after {seconds} s still not: {what} (last seen: {found!r})")
        time.sleep(every)
    return found
