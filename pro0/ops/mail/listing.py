"""The mail a caller may read: a person reads the whole team's, an agent only its own."""

import heapq
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from pro0.errors import NotFound
from pro0.model.caller import PEOPLE_AND_AGENTS, Who
from pro0.model.message import Mailbox, Message, MessageType
from pro0.ops.context import Context, operation
from pro0.ops.mail.messages import addresses

LATEST = 1000
"""The most messages in a list: the newest ones."""
LETTERS = 4000
"""The most characters of a message in a list; `message.show` returns all of them."""
Number = Annotated[int, Meta(ge=1, le=LATEST, description="At most this many, the newest ones.")]


class ListedMessage(msgspec.Struct, frozen=True, kw_only=True, rename={"from_": "from", "in_reply_to": "inReplyTo"}):
    """A message as lists show it."""

    id: str
    seq: int
    from_: str
    to: str
    type: MessageType
    content: str
    timestamp: datetime
    read: bool = False
    in_reply_to: str | None = None
    urgent: bool = False
    cut: bool = False
    """True when this is only the beginning of the content."""
    yours: bool = False
    """True when it is in a mailbox of the caller's: a person without a lead agent reads that of `lead` too."""


class MailFeed:
    """The mail a caller may read, each message once."""

    def __init__(self, context: Context, latest: int = LATEST) -> None:
        self._context = context
        self._latest = latest
        self._heads: dict[str, Mailbox] = {}
        self._unread: dict[str, dict[int, ListedMessage]] = {}
        self._mine: frozenset[str] = frozenset()

    def news(self) -> list[ListedMessage]:
        """Return the messages that are new or newly read since the last call, by time; at first, the newest ones."""
        team = self._context.team.require()
        boxes: list[list[ListedMessage]] = []
        heads: dict[str, Mailbox] = {}
        before_now, self._mine = self._mine, frozenset(addresses(team, self._context.caller))
        for address in before_now ^ self._mine:  # `yours` has changed, so these messages are reported again
            self._heads.pop(address, None)
        for address in team.mailbox_owners():
            box = team.mailbox(address)
            head, before = box.head.read(), self._heads.get(address)
            if before is None or before.revision != head.revision:
                heads[address] = head
                since = before.next_seq - 1 if before else max(0, head.next_seq - 1 - self._latest)
                yours = address in self._mine
                letters = (message for message in box.since(head, since) if _may_read(self._context, message))
                fresh = [_listed(message, head, yours=yours) for message in letters]
                boxes.append([*self._read_since(address, head), *fresh])
        self._heads |= heads
        for address, messages in zip(heads, boxes, strict=True):
            by_seq = self._unread.get(address, {}) | {message.seq: message for message in messages}
            unread = [message for message in by_seq.values() if not message.read]
            self._unread[address] = {message.seq: message for message in unread[-self._latest :]}
        return list(heapq.merge(*boxes, key=lambda message: message.timestamp))[-self._latest :]

    def _read_since(self, address: str, head: Mailbox) -> Iterator[ListedMessage]:
        for message in self._unread.get(address, {}).values():
            if message.seq <= head.acked:
                yield msgspec.structs.replace(message, read=True)


@operation("message.list", PEOPLE_AND_AGENTS, changes=False)
def listed(context: Context, latest: Number = 100) -> list[ListedMessage]:
    """Return the newest messages in this team, by time; an agent is shown those that it got or sent."""
    return MailFeed(context).news()[-latest:]


@operation("message.show", PEOPLE_AND_AGENTS, changes=False)
def show(context: Context, id: str) -> Message:
    """Return one message whole, by its id; raises NotFound for one that the caller may not read."""
    team = context.team.require()
    for address in team.mailbox_owners():
        box = team.mailbox(address)
        head = box.head.read()
        for message in box.since(head, 0):
            if message.id == id and _may_read(context, message):
                return msgspec.structs.replace(message, read=message.seq <= head.acked)
    raise NotFound(f"there is no message {id[:50]!r} that you may read", hint="for the ids: message.list")


def _may_read(context: Context, message: Message) -> bool:
    caller = context.caller
    return caller.who is Who.HUMAN or caller.agent_id in (message.from_, message.to)


def _listed(message: Message, head: Mailbox, *, yours: bool) -> ListedMessage:
    return ListedMessage(
        id=message.id,
        seq=message.seq,
        from_=message.from_,
        to=message.to,
        type=message.type,
        content=message.content[:LETTERS],
        timestamp=message.timestamp,
        read=message.seq <= head.acked,
        in_reply_to=message.in_reply_to,
        urgent=message.urgent,
        cut=len(message.content) > LETTERS,
        yours=yours,
    )
