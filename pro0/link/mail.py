"""The mailbox of a session with its agent on another machine, as used by the link at home."""

from functools import cached_property
from typing import TYPE_CHECKING

from pro0.link.own import OwnSession

if TYPE_CHECKING:
    from pro0.model.message import HandOver
    from pro0.store.mailbox import Box


class OwnMail:
    """The mailbox of this process's own member."""

    def __init__(self, session: OwnSession) -> None:
        self._session = session

    def stamp(self) -> object:
        """Return a value that differs after each change of the mailbox."""
        return self._box.stamp()

    def handed(self) -> "HandOver | None":
        """Return what was last given to this session, None for nothing; raises Pro0Error when it cannot be read."""
        handed = self._box.head.read().handed
        return handed if handed and handed.incarnation == self._session.context.caller.incarnation else None

    def take_back(self) -> None:
        """Let what was last given to this session be given again."""
        from pro0.ops.mail import messages

        messages.take_back(self._session.context)

    def acknowledge(self) -> None:
        """Mark what was last given to this session as read."""
        from pro0.ops.mail import messages

        context, head = self._session.context, self._box.head.read()
        if head.handed and head.handed.incarnation == context.caller.incarnation:
            handed = [message for message in self._box.since(head, head.acked) if message.seq <= head.handed.seq]
            letters = [messages.Letter(self._session.agent_id, message, again=False) for message in handed]
            messages.acknowledge(context, letters)

    @cached_property
    def _box(self) -> "Box":
        return self._session.team.mailbox(self._session.agent_id)
