"""What belongs to a session: the processes that must not outlive it."""

import os

from pro0.processes import table

TEAM = "PRO0_TEAM_UID"
INCARNATION = "PRO0_INCARNATION"
STATE = "PRO0_STATE_FD"
LEAD = "PRO0_LEAD"


def belonging(incarnation: str, *, session: bool = False) -> list[table.Entry]:
    """Return all that belongs to this guard's session, never the guard itself.

    A lead below the agent (it started a team of its own) and what is below that lead are not the session's to end.
    With `session`, everything in the terminal session that the guard leads belongs to it too: needed where orphans
    do not come to the guard and the environment of a process may be hidden (macOS).
    """
    guard = os.getpid()
    found = {one.pid: one for one in table.below(guard, spared=_is_lead)}
    found.update((one.pid, one) for one in table.carrying(INCARNATION, [incarnation])[incarnation])
    if session and os.getsid(0) == guard:
        found.update((one.pid, one) for one in table.in_session(guard) if not _is_lead(one.pid))
    found.pop(guard, None)
    return list(found.values())


def _is_lead(pid: int) -> bool:
    return table.says(pid, LEAD, "1")
