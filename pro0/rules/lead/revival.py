"""How often a lead comes back by itself (behaviour 3.12)."""

from collections.abc import Iterable
from datetime import datetime, timedelta

LIMIT = 3
WITHIN = timedelta(seconds=60)


def lately(revived: Iterable[datetime], now: datetime) -> tuple[datetime, ...]:
    """Return the revivals that count still; one in the future is of a clock that was set back, and does not."""
    return tuple(at for at in revived if timedelta(0) <= now - at < WITHIN)


def may_come_back(revived: Iterable[datetime], now: datetime) -> bool:
    """Return whether a lead that has died may be started once more without a person."""
    return len(lately(revived, now)) < LIMIT
