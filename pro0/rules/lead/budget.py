"""A team's cost limit: the lead warns at 80 % and starts no new session at 100 %."""

from pro0.model.decision import Snapshot

WARNING = 0.8


def exhausted(snapshot: Snapshot) -> bool:
    """Return True when the team's cost has reached its limit."""
    limit = snapshot.wanted.max_cost
    return bool(limit) and snapshot.spent >= limit


def reached(snapshot: Snapshot) -> str:
    """Return the key of the notice due now about the cost limit, or an empty string; a new limit is told anew."""
    limit = snapshot.wanted.max_cost
    if not limit or snapshot.spent < limit * WARNING:
        return ""
    level = "all" if exhausted(snapshot) else "warning"
    key = f"{snapshot.config.uid}:cost:{level}:{limit:g}"
    return "" if key in snapshot.runtime.told else key
