"""What belongs to a session: the processes that must not outlive it."""

import os

from pro0.processes import table

TEAM = "PRO0_TEAM_UID"
INCARNATION = "PRO0_INCARNATION"
STATE = "PRO0_STATE_FD"


def belonging(incarnation: str, leaders: tuple[int, ...] = ()) -> list[table.Entry]:
    """Return all that belongs to this guard's session, never the guard itself.

    A lead below the agent (it needed one, or started a team of its own), its guards and servers, and what is below
    those are not the session's to end: orphans of that lead come to this guard.
    Everything in the sessions of these leaders belongs to it too, be it the guard itself or its agent: needed where
    orphans do not come to the guard and the environment of a process may be hidden (macOS).
    """
    guard = os.getpid()
    found = {one.pid: one for one in table.below(guard, spared=table.is_spared)}
    found.update((one.pid, one) for one in table.proven(INCARNATION, [incarnation])[incarnation])
    for leader in leaders:
        if leader and (leader != guard or os.getsid(0) == guard):
            found.update((one.pid, one) for one in table.in_session(leader) if not table.is_spared(one.pid))
    found.pop(guard, None)
    return list(found.values())
