"""Mailboxes as pure changes: order by seq, acknowledged seq as the truth, full heads sealed (behaviour 3.4, 3.5)."""

from collections.abc import Collection, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from pro0.model.message import HandOver, Mailbox, Message, Notice, Unread

HEAD_COUNT = 200
"""Messages in the head at most; on the way past it the older half is sealed."""
HEAD_BYTES = 256 * 1024
"""Bytes of message text in the head at most, but for the newest message."""

LOST = "lost"
"""Who has what was given out and did not arrive: no incarnation, those are uuids."""
DELIVERED_COUNT = 32
"""Ids of delivered notices in the head, besides those that are still owed."""


class Delivery(msgspec.Struct, frozen=True):
    """A message as `inbox` gives it; `again` when an earlier session was given it and never acknowledged it."""

    message: Message
    again: bool = False


def numbered(box: Mailbox) -> Mailbox:
    """Give the messages of another program their seq, which is their place, and the head what follows from them."""
    if box.revision and all(message.seq for message in box.messages):
        return box
    seq, messages = 0, list[Message]()
    for message in box.messages:
        seq = message.seq or seq + 1
        messages.append(replace(message, seq=seq))
    unread = [message.seq for message in messages if not message.read]
    acked = max(box.acked, min(unread, default=seq + 1) - 1)
    return replace(box, messages=tuple(messages), next_seq=max(box.next_seq, seq + 1), acked=acked)


def post(box: Mailbox, notice: Notice, now: datetime) -> Mailbox:
    """Append a message; one whose id is already there changes nothing, which makes owed notices idempotent."""
    if notice.id in [message.id for message in box.messages]:
        return box
    message = Message(
        id=notice.id,
        seq=box.next_seq,
        from_=notice.from_,
        to=notice.to,
        type=notice.type,
        content=notice.content,
        timestamp=now,
        in_reply_to=notice.in_reply_to,
        urgent=notice.urgent,
    )
    return replace(box, next_seq=box.next_seq + 1, messages=(*box.messages, message))


def deliver(box: Mailbox, notice: Notice, now: datetime, owed: Collection[str]) -> Mailbox:
    """Append an owed notice, unless it was delivered before, also when its message has long been sealed.

    Until a notice is owed no more (`owed`), its id stays in the head.
    """
    if notice.id in box.delivered:
        return box
    box = post(box, notice, now)
    older, newest = box.delivered[: 1 - DELIVERED_COUNT], box.delivered[1 - DELIVERED_COUNT :]
    return replace(box, delivered=(*(id for id in older if id in owed), *newest, notice.id))


def overflow(box: Mailbox) -> tuple[Mailbox, tuple[Message, ...]]:
    """Split off the older half, or more, of a head that is over a limit; a head within it is returned with nothing."""
    letters = sum([len(message.content) for message in box.messages])
    if len(box.messages) <= HEAD_COUNT and letters * 4 <= HEAD_BYTES:  # 4 bytes a letter at most: counting costs
        return box, ()
    sizes = [len(message.content.encode()) for message in box.messages]
    if len(sizes) <= HEAD_COUNT and sum(sizes) <= HEAD_BYTES:
        return box, ()
    cut = len(sizes) // 2
    while cut < len(sizes) - 1 and sum(sizes[cut:]) > HEAD_BYTES:
        cut += 1
    if not cut:
        return box, ()
    return replace(box, sealed=box.sealed + 1, messages=box.messages[cut:]), box.messages[:cut]


def hand_out(box: Mailbox, unread: Sequence[Message], incarnation: str) -> tuple[Mailbox, list[Delivery]]:
    """Give out what is unread, once per incarnation; what the same incarnation was given before is acknowledged."""
    earlier = box.handed
    if earlier and earlier.incarnation == incarnation:
        box = acknowledge(box, earlier.seq)
    given = earlier.seq if earlier else 0
    fresh = [message for message in unread if message.seq > box.acked]
    deliveries = [Delivery(message, again=message.seq <= given) for message in fresh]
    if fresh:
        box = replace(box, handed=HandOver(incarnation=incarnation, seq=fresh[-1].seq))
    return box, deliveries


def take_back(box: Mailbox, incarnation: str) -> Mailbox:
    """Let what this incarnation was last given count as not given: it is given again, marked so."""
    if box.handed is None or box.handed.incarnation != incarnation:
        return box
    return replace(box, handed=replace(box.handed, incarnation=LOST))


def acknowledge(box: Mailbox, seq: int) -> Mailbox:
    """Mark everything up to `seq` as read; going back is impossible, and so is reading what is yet to come."""
    seq = min(seq, box.next_seq - 1)
    if seq <= box.acked:
        return box
    marked = tuple(_read(message, seq) for message in box.messages)
    return replace(box, acked=seq, messages=marked)


def given_up_to(box: Mailbox, incarnation: str) -> int:
    """Return the seq up to which a session knows its mail: what was acknowledged, or given to itself."""
    handed = box.handed.seq if box.handed and box.handed.incarnation == incarnation else 0
    return max(box.acked, handed)


def news(box: Mailbox, incarnation: str) -> Unread:
    """Return what a session must be told of; urgent mail so old that it is sealed counts as any other."""
    known, newest = given_up_to(box, incarnation), box.next_seq - 1
    if newest <= known:
        return Unread()
    urgent = [message.seq for message in box.messages if message.urgent and message.seq > known]
    return Unread(newest, newest - known, max(urgent, default=0))


def unread_up_to(box: Mailbox) -> int:
    """Return the seq of the newest unread message, 0 when everything is read."""
    newest = box.next_seq - 1
    return newest if newest > box.acked else 0


def _read(message: Message, seq: int) -> Message:
    return message if message.read or message.seq > seq else replace(message, read=True)
