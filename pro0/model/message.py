"""Messages and mailboxes, as they are stored (behaviour 3.4)."""

from enum import StrEnum

import msgspec

from pro0.model.stored import AgentId, Count, Document, Moment, Stored, Tag, written

BODY_LIMIT = 256 * 1024
"""Bytes of UTF-8 in one message body; more is refused with exit 2."""


class MessageType(StrEnum):
    """The kinds of messages."""

    MESSAGE = "message"
    BROADCAST = "broadcast"
    NOTIFICATION = "notification"
    SHUTDOWN_REQUEST = "shutdown_request"
    SHUTDOWN_RESPONSE = "shutdown_response"
    PLAN_APPROVAL_REQUEST = "plan_approval_request"
    PLAN_APPROVAL_RESPONSE = "plan_approval_response"


class Message(Stored, frozen=True, kw_only=True):
    """One mailbox entry; `seq` orders it in its mailbox, 0 means by its position; `id` names it everywhere."""

    id: str
    seq: Count = 0
    from_: AgentId
    to: AgentId
    type: MessageType
    content: str
    timestamp: Moment
    read: bool = written(False)
    in_reply_to: str | None = None
    urgent: bool = False
    """Whether it may stop the turn of an agent that works."""


class Notice(Stored, frozen=True):
    """A message still to be delivered; its id is fixed, so a second delivery changes nothing."""

    id: str
    from_: AgentId
    to: AgentId
    content: str
    type: MessageType = MessageType.NOTIFICATION
    in_reply_to: str | None = None
    urgent: bool = False


class HandOver(Stored, frozen=True):
    """The last hand-out of an `inbox` call: up to `seq`, to `incarnation`; not yet acknowledged."""

    incarnation: Tag
    seq: Count
    earlier: Count = 0
    """The highest seq given out before, if above `seq`, else 0: a session gets much mail in several parts."""


class Mailbox(Document, frozen=True, kw_only=True):
    """messages.json: the newest messages; `sealed` segments hold the older ones, `acked` is the truth about `read`.

    `delivered` holds the ids of recent notices and of those still queued, whose messages may be sealed by now.
    """

    agent_id: str = ""
    next_seq: Count = 1
    acked: Count = 0
    sealed: Count = 0
    handed: HandOver | None = None
    delivered: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()


class Segment(Document, frozen=True, kw_only=True):
    """A sealed part of a mailbox; never changed after it is written."""

    messages: tuple[Message, ...] = ()


class Unread(msgspec.Struct, frozen=True):
    """The undelivered mail of one mailbox: the newest seq (0 for nothing), and the number of messages."""

    newest: int = 0
    count: int = 0
    urgent: int = 0
    """The seq of the newest that is urgent, 0 for none."""
