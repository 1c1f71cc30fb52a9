"""A team's cost limit: the lead warns at 80 % and starts no new session at 100 %."""

from msgspec.structs import replace

from pro0.model.decision import Snapshot, Tell
from pro0.model.runtime import Runtime
from pro0.rules.lead.plan import MEMORY, View
from pro0.rules.words import prompts

WARNING = 0.8


def exhausted(snapshot: Snapshot) -> bool:
    """Return True when the team's cost has reached its limit, or may have, since it is not known."""
    limit = snapshot.wanted.max_cost
    return bool(limit) and (snapshot.spent is None or snapshot.spent >= limit)


def tell(view: View, runtime: Runtime) -> tuple[Runtime, list[Tell]]:
    """Return the new runtime and the notices that are due about the cost limit."""
    snapshot = view.snapshot
    spent, key = snapshot.spent, reached(snapshot)
    if spent is None or not key:
        return runtime, []
    text = prompts.spent(spent, snapshot.wanted.max_cost)
    noted_runtime = replace(runtime, told=(*runtime.told, key)[-MEMORY:])
    return noted_runtime, [Tell(f"{key}:{to}", to, text) for to in view.supervisors]


def reached(snapshot: Snapshot) -> str:
    """Return the key of the notice due now about the cost limit, or an empty string; a new limit is told anew."""
    limit = snapshot.wanted.max_cost
    if not limit or snapshot.spent is None or snapshot.spent < limit * WARNING:
        return ""
    level = "all" if exhausted(snapshot) else "warning"
    key = f"{snapshot.config.uid}:cost:{level}:{limit:g}"
    return "" if key in snapshot.runtime.told else key
