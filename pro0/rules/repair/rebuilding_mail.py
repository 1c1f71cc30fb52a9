"""A mailbox is rebuilt from all readable messages, with a note in the place of each lost range."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

import msgspec
from msgspec.structs import replace

from pro0.model.ids import LEAD
from pro0.model.message import HandOver, Mailbox, Message, MessageType
from pro0.rules.mail import HEAD_COUNT
from pro0.rules.repair.soundness import NOTE


class Pieces(msgspec.Struct, frozen=True, kw_only=True):
    """The readable pieces of one mailbox."""

    agent_id: str
    head: tuple[Message, ...]
    segments: Mapping[int, tuple[Message, ...]]
    """Every segment with a file now or before; an unreadable segment is empty."""
    next_seq: int | None = None
    acked: int | None = None
    sealed: int | None = None
    handed: HandOver | None = None
    delivered: tuple[str, ...] | None = None
    highest: int = 0
    """The highest seq mentioned anywhere."""


class Rebuilt(msgspec.Struct, frozen=True):
    """A whole mailbox, and its lost seqs as ranges."""

    head: Mailbox
    segments: dict[int, tuple[Message, ...]]
    lost: list[tuple[int, int]]


def rebuilt(pieces: Pieces, now: datetime, new_id: Callable[[], str]) -> Rebuilt:
    """Rebuild the mailbox with every message once and in order. No seq is given twice."""
    segments, before = _in_order(pieces.segments)
    head = _after(before, pieces.head)
    next_seq = _next_seq(pieces, before, head)
    lost: list[tuple[int, int]] = []

    def noted(messages: Iterable[Message], previous: int, until: int | None) -> tuple[Message, ...]:
        """Return messages with a note at the end of each lost range between `last` and `until`."""
        filled: list[Message] = []
        for message in messages:
            if message.seq > previous + 1 and not message.id.startswith(NOTE):
                lost.append((previous + 1, message.seq - 1))
                filled.append(_note(pieces.agent_id, *lost[-1], now, new_id()))
            filled.append(message)
            previous = message.seq
        if until is not None and until > previous + 1:
            lost.append((previous + 1, until - 1))
            filled.append(_note(pieces.agent_id, *lost[-1], now, new_id()))
        return tuple(filled)

    whole: dict[int, tuple[Message, ...]] = {}
    previous = 0
    for number, messages in segments.items():
        # An unreadable segment gets one note, up to the next readable message.
        following = [m.seq for later in range(number + 1, len(segments) + 1) for m in segments[later]]
        until = None if messages else min((*following, *(m.seq for m in head), next_seq))
        if part := noted(messages, previous, until):
            whole[len(whole) + 1] = part
            previous = part[-1].seq
    messages = noted(_after(previous, head), previous, next_seq)
    return Rebuilt(_head(pieces, whole, messages, next_seq), whole, lost)


def _in_order(parts: Mapping[int, tuple[Message, ...]]) -> tuple[dict[int, tuple[Message, ...]], int]:
    """Return all segments up to the last, without repeated messages, and the newest sealed seq."""
    before, segments = 0, dict[int, tuple[Message, ...]]()
    for number in range(1, max(parts, default=0) + 1):
        segments[number] = _after(before, parts.get(number, ()))
        before = segments[number][-1].seq if segments[number] else before
    return segments, before


def _after(seq: int, messages: Iterable[Message]) -> tuple[Message, ...]:
    unique = {message.seq: message for message in messages if message.seq > seq}
    return tuple(unique[number] for number in sorted(unique))


def _next_seq(pieces: Pieces, before: int, head: tuple[Message, ...]) -> int:
    """Return a seq above every mentioned one. A lost nextSeq becomes one above every possible seq."""
    handed = pieces.handed.seq if pieces.handed else 0
    highest = max(before, handed, pieces.acked or 0, pieces.highest, *(message.seq for message in head))
    if pieces.next_seq is not None and pieces.next_seq > highest:
        return pieces.next_seq
    return highest + HEAD_COUNT + 2 if pieces.next_seq is None else highest + 1


def _head(
    pieces: Pieces, segments: Mapping[int, tuple[Message, ...]], messages: tuple[Message, ...], next_seq: int
) -> Mailbox:
    acked = pieces.acked
    if acked is None:
        everything = [message for part in (*segments.values(), messages) for message in part]
        read = [message.seq for message in everything if message.read]
        real = [message.seq for message in everything if not message.id.startswith(NOTE)]
        acked = max(read) if read else (min(real) - 1 if real else next_seq - 2)
    acked = max(0, acked)
    delivered_ids = [message.id for part in (*segments.values(), messages) for message in part][-HEAD_COUNT:]
    return Mailbox(
        agent_id=pieces.agent_id,
        next_seq=next_seq,
        acked=acked,
        sealed=len(segments),
        handed=pieces.handed,
        delivered=pieces.delivered if pieces.delivered is not None else tuple(delivered_ids),
        messages=tuple(replace(message, read=message.seq <= acked) for message in messages),
    )


def _note(agent_id: str, start: int, end: int, now: datetime, id: str) -> Message:
    numbers = f"message {start}" if start == end else f"messages {start} to {end}"
    return Message(
        id=f"{NOTE}{id}",
        seq=end,
        from_=LEAD,
        to=agent_id,
        type=MessageType.NOTIFICATION,
        content=f"{numbers} of this mailbox cannot be read any more; what is left is in the file that was moved aside",
        timestamp=now,
    )
