"""Who a process is: a member by its environment, or by the guard above it; with as good as no import.

Programs that many agents start at once ask here, before they import anything that takes longer.
"""

import os
from collections.abc import Mapping

TEAM = "PRO0_TEAM"
AGENT_ID = "PRO0_AGENT_ID"
INCARNATION = "PRO0_INCARNATION"
MEMBER_OF = "PRO0_MEMBER_OF"
"""The home an identity belongs to: identity counts only there (rulings 2.3)."""
TASK_ID = "PRO0_TASK_ID"
PARENT_TASK_ID = "PRO0_PARENT_TASK_ID"
TEAM_UID = "PRO0_TEAM_UID"
IDENTITY = (TEAM, AGENT_ID, INCARNATION, MEMBER_OF, TASK_ID, PARENT_TASK_ID, TEAM_UID)


Session = tuple[str | None, str, str | None]
"""Team, incarnation and agent id of a member's session; no agent id where only its guard could be found."""


def session_of(environment: Mapping[str, str], home: str | os.PathLike[str]) -> Session | None:
    """Return the session that this process belongs to, None outside every session of that home."""
    agent, incarnation = environment.get(AGENT_ID), environment.get(INCARNATION)
    if agent and incarnation and _same(environment.get(MEMBER_OF), home):
        return environment.get(TEAM), incarnation, agent
    return _guarded(home)


def _same(member_of: str | None, home: str | os.PathLike[str]) -> bool:
    return member_of is None or os.path.realpath(member_of) == os.path.realpath(home)


def _guarded(home: str | os.PathLike[str]) -> Session | None:
    from pathlib import Path

    from pro0.processes.arguments import ancestor_arguments
    from pro0.store.paths import launched

    for arguments in ancestor_arguments(os.getpid()):
        whole = arguments and arguments[-1].startswith("/")  # as every guard's is; others depend on where one stands
        if whole and (found := launched(Path(home), arguments[-1])):
            return *found, None
    return None
