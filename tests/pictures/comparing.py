"""Whether what is shown is what is kept: looked at until it is, or until it stands still and is not."""

import difflib
import time
from collections.abc import Callable

from tests.waiting import STUCK

STILL = 60.0
"""Seconds for which a screen that differs must not change to count as another one, on a machine that is busy."""


def compare(kept: str, shown: Callable[[], str], hint: str, differ: Callable[[str, str], str] | None = None) -> None:
    """Wait until this is shown; fails with the lines that differ once something else stays."""
    differ = differ or lines_that_differ
    seen, begun = "", time.monotonic()
    since = begun
    while (now := shown()) != kept and differ(kept, now):
        if now != seen:
            seen, since = now, time.monotonic()
        late = time.monotonic() - since > STILL or time.monotonic() - begun > STUCK
        assert not late, f"{differ(kept, now)}\n{hint}"
        time.sleep(0.1)


def lines_that_differ(kept: str, shown: str) -> str:
    """Return these lines as a patch, empty when there are none."""
    return "\n".join(difflib.unified_diff(kept.splitlines(), shown.splitlines(), "kept", "shown", lineterm="", n=0))
