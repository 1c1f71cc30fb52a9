"""The mailbox of a session whose commands are asked for on another machine, as its link at home sees it.

The store is loaded with the first look: many links never take one, and each starts as fast as it loads little.
"""

import os
from functools import cached_property
from typing import TYPE_CHECKING

from pro0.store import paths

if TYPE_CHECKING:
    from pro0.ops.context import Context
    from pro0.store.mailbox import Box
    from pro0.store.teams import TeamStore


class OwnMail:
    """The mailbox of this process's own member; who that is, is proven by the guard above."""

    def __init__(self, team: str, agent_id: str) -> None:
        self._team_name, self._agent_id = team, agent_id

    def stamp(self) -> object:
        """Return a value that differs after each change of the mailbox."""
        return self._box.stamp()

    def take_back(self) -> None:
        """Let what was last given to this session be given again."""
        from pro0.ops.mail import messages

        messages.take_back(self._context)

    def acknowledge(self) -> None:
        """Mark what was last given to this session as read."""
        from pro0.ops.mail import messages

        head = self._box.head.read()
        if head.handed and head.handed.incarnation == self._context.caller.incarnation:
            handed = [message for message in self._box.since(head, head.acked) if message.seq <= head.handed.seq]
            letters = [messages.Letter(self._agent_id, message, again=False) for message in handed]
            messages.acknowledge(self._context, letters)

    @cached_property
    def _team(self) -> "TeamStore":
        from pro0.store.teams import Store

        return Store(paths.home(os.environ)).team(self._team_name)

    @cached_property
    def _context(self) -> "Context":
        from pro0.ops.context import Context, caller_of

        caller, _ = caller_of(os.environ, self._team.paths.home)
        return Context(self._team, caller)

    @cached_property
    def _box(self) -> "Box":
        return self._team.mailbox(self._agent_id)
