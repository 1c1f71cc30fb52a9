"""The processes of a session: none must outlive it."""

import os

from pro0.processes import table

TEAM = "PRO0_TEAM_UID"
INCARNATION = "PRO0_INCARNATION"
STATE = "PRO0_STATE_FD"


def belonging(incarnation: str, leaders: tuple[int, ...] = ()) -> list[table.ProcessEntry]:
    """Return all processes of this guard's session, never the guard itself.

    An agent may start a lead: because it needed one, or for a team of its own. The session does not own that lead, nor
    its guards and servers, nor their descendants, though orphans of that lead become children of this guard.
    The session does own the processes in the terminal sessions of `leaders`; a leader is the guard or its agent. macOS
    needs this: there orphans do not come to the guard, and a process's environment may be hidden.
    """
    guard = os.getpid()
    processes = {process.pid: process for process in table.below(guard, spared=table.is_spared)}
    processes.update((process.pid, process) for process in table.proven(INCARNATION, [incarnation])[incarnation])
    for leader in leaders:
        if leader and (leader != guard or os.getsid(0) == guard):
            processes.update(
                (process.pid, process) for process in table.in_session(leader) if not table.is_spared(process.pid)
            )
    processes.pop(guard, None)
    return list(processes.values())
