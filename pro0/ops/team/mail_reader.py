"""Read a session's mail in a program of pro0's own: report it, and answer a shutdown request."""

from collections.abc import Callable

from pro0.errors import NotFound, Refused
from pro0.model.message import MessageType
from pro0.model.task import Task
from pro0.ops.context import Context
from pro0.ops.mail import messages
from pro0.ops.team import members


class MailReader:
    """Reads the mail of one session; `say` gets its text."""

    def __init__(self, context: Context, say: Callable[[str], None]) -> None:
        self._context = context
        self._say = say
        self._owes_an_answer = False
        self.agreed = False
        """True once it has agreed to shut down."""

    def read(self, busy_with: Task | None) -> None:
        """Read all new mail and answer; raises Pro0Error on failure, and the next call then answers."""
        if messages.unread(self._context):
            letters = messages.inbox(self._context)
            for message in (letter.message for letter in letters):
                self._say(f"{message.from_} → {self._context.caller.agent_id}: {message.content}")
                self._owes_an_answer |= message.type is MessageType.SHUTDOWN_REQUEST
            messages.acknowledge(self._context, letters)
        if self._owes_an_answer:
            self._answer(busy_with)
            self._owes_an_answer = False

    def _answer(self, busy_with: Task | None) -> None:
        """Agree to a shutdown when free; say "not yet" while working (behaviour 3.9)."""
        try:
            if busy_with:
                reason = f"working on {busy_with.id}"
                members.answer(self._context, approve=False, reason=reason)
                self._say(f"not yet: {reason}")
            else:
                members.answer(self._context, approve=True)
                self.agreed = True
        except (Refused, NotFound) as error:  # nobody asks this session any more
            self._say(error.message)
