"""A team's limit of cost: told at 80 %, and nothing new starts at 100 %."""

from pro0.model.decision import Snapshot

WARNING = 0.8


def exhausted(snapshot: Snapshot) -> bool:
    """Return whether nothing new may start for what was spent."""
    limit = snapshot.wanted.max_cost
    return bool(limit) and snapshot.spent >= limit


def reached(snapshot: Snapshot) -> str:
    """Return the key of what is to be told now of the limit, empty for nothing; each limit is told of anew."""
    limit = snapshot.wanted.max_cost
    if not limit or snapshot.spent < limit * WARNING:
        return ""
    level = "all" if exhausted(snapshot) else "warning"
    key = f"{snapshot.config.uid}:cost:{level}:{limit:g}"
    return "" if key in snapshot.runtime.told else key
