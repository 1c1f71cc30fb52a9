"""The link's own session at home: its team, and its member.

The store is loaded at the first use: many links never need it, and the less a link loads, the faster it starts.
"""

import os
from functools import cached_property
from typing import TYPE_CHECKING

from pro0.store import paths

if TYPE_CHECKING:
    from pro0.ops.context import Context
    from pro0.store.teams import TeamStore


class OwnSession:
    """This process's own session; the guard above proves which member it belongs to."""

    def __init__(self, team: str, agent_id: str) -> None:
        self._team_name, self.agent_id = team, agent_id

    @cached_property
    def team(self) -> "TeamStore":
        """Return the team; it may be gone."""
        from pro0.store.teams import Store

        return Store(paths.home(os.environ)).team(self._team_name)

    @cached_property
    def context(self) -> "Context":
        """Return the context of an operation that this member calls."""
        from pro0.ops.context import Context, caller_of

        caller, _ = caller_of(os.environ, self.team.paths.home)
        return Context(self.team, caller)
