"""How often a lead restarts by itself (behaviour 3.12)."""

from collections.abc import Iterable
from datetime import datetime, timedelta

LIMIT = 3
WITHIN = timedelta(seconds=60)


def lately(revived: Iterable[datetime], now: datetime) -> tuple[datetime, ...]:
    """Return the recent revivals; a revival in the future does not count, since the clock was set back."""
    return tuple(at for at in revived if timedelta(0) <= now - at < WITHIN)


def may_come_back(revived: Iterable[datetime], now: datetime) -> bool:
    """Return True when a dead lead may be started once more without a person."""
    return len(lately(revived, now)) < LIMIT
