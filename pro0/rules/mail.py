"""Mailboxes as pure changes: order by seq, acknowledged seq as the truth, full heads sealed (behaviour 3.4, 3.5)."""

from collections.abc import Collection, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from pro0.model.message import HandOver, Mailbox, Message, Notice, Unread

HEAD_COUNT = 200
"""The most messages in the head. Past it the older half is sealed."""
HEAD_BYTES = 256 * 1024
"""The most bytes of message text in the head. The newest message may be over it."""

HANDED_BYTES = 8 * 1024
"""The most bytes of mail given to an agent at once.

Programs of agents cut the middle out of longer answers: Codex at 10,000 bytes with some models, others later.
"""
HEADER = 256
"""Bytes that count for each message beside its content."""

LOST = "lost"
"""The holder of mail given out but never received. It cannot be an incarnation, since these are uuids."""
DELIVERED_COUNT = 32
"""The number of newest ids of delivered notices kept in the head. The ids of still queued notices stay too."""


class Delivery(msgspec.Struct, frozen=True):
    """A message as `inbox` gives it. `again` marks one given out before and never acknowledged."""

    message: Message
    again: bool = False


def numbered(box: Mailbox) -> Mailbox:
    """Number the messages of another program by their position, and set `next_seq` and `acked` of the head."""
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
    """Append a message. A second message of the same id changes nothing, so that delivery is idempotent."""
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
    """Append a queued notice, unless it was delivered before, even if its message is sealed by now.

    The id of a notice stays in the head as long as the notice is in `owed`.
    """
    if notice.id in box.delivered:
        return box
    box = post(box, notice, now)
    older, newest = box.delivered[: 1 - DELIVERED_COUNT], box.delivered[1 - DELIVERED_COUNT :]
    return replace(box, delivered=(*(id for id in older if id in owed), *newest, notice.id))


def overflow(box: Mailbox) -> tuple[Mailbox, tuple[Message, ...]]:
    """Split off the older half, or more, of a head over a limit. A head within its limits stays as it is."""
    letters = sum([len(message.content) for message in box.messages])
    if len(box.messages) <= HEAD_COUNT and letters * 4 <= HEAD_BYTES:  # 4 bytes a letter at most: exact counts are slow
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


def hand_out(
    box: Mailbox, unread: Sequence[Message], incarnation: str, limit: int | None = None
) -> tuple[Mailbox, list[Delivery]]:
    """Give out unread mail, once per incarnation. Mail given to the same incarnation before is acknowledged.

    Above `limit` bytes only the first messages are given, at least one. The next call gives the next ones.
    """
    earlier = box.handed
    if earlier and earlier.incarnation == incarnation:
        box = acknowledge(box, earlier.seq)
    # Mail up to this seq was given out before, perhaps to a session now dead.
    delivered_up_to = max(earlier.seq, earlier.earlier) if earlier else 0
    fresh = _first([message for message in unread if message.seq > box.acked], limit)
    deliveries = [Delivery(message, again=message.seq <= delivered_up_to) for message in fresh]
    if fresh:
        seq = fresh[-1].seq
        rest = delivered_up_to if delivered_up_to > seq else 0
        box = replace(box, handed=HandOver(incarnation=incarnation, seq=seq, earlier=rest))
    return box, deliveries


def _first(messages: list[Message], limit: int | None) -> list[Message]:
    """Return the first messages that are within the limit together, at least one."""
    if limit is None:
        return messages
    size = 0
    for at, message in enumerate(messages):
        size += HEADER + len(message.content.encode())
        if at and size > limit:
            return messages[:at]
    return messages


def take_back(box: Mailbox, incarnation: str) -> Mailbox:
    """Take back the mail last given to this incarnation. It is given again, marked as such."""
    if box.handed is None or box.handed.incarnation != incarnation:
        return box
    return replace(box, handed=replace(box.handed, incarnation=LOST))


def acknowledge(box: Mailbox, seq: int) -> Mailbox:
    """Mark every message up to `seq` as read. `acked` never falls, and never passes the newest message."""
    seq = min(seq, box.next_seq - 1)
    if seq <= box.acked:
        return box
    marked = tuple(_read(message, seq) for message in box.messages)
    return replace(box, acked=seq, messages=marked)


def given_up_to(box: Mailbox, incarnation: str) -> int:
    """Return the highest seq known to a session: acknowledged, or given to itself."""
    handed = box.handed.seq if box.handed and box.handed.incarnation == incarnation else 0
    return max(box.acked, handed)


def news(box: Mailbox, incarnation: str) -> Unread:
    """Return the figures of a session's unread mail. Sealed urgent mail counts as ordinary mail."""
    delivered_up_to, newest = given_up_to(box, incarnation), box.next_seq - 1
    if newest <= delivered_up_to:
        return Unread()
    urgent = [message.seq for message in box.messages if message.urgent and message.seq > delivered_up_to]
    return Unread(newest, newest - delivered_up_to, max(urgent, default=0))


def unread_up_to(box: Mailbox) -> int:
    """Return the seq of the newest unread message, or 0."""
    newest = box.next_seq - 1
    return newest if newest > box.acked else 0


def _read(message: Message, seq: int) -> Message:
    return message if message.read or message.seq > seq else replace(message, read=True)
