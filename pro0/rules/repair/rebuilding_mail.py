"""A mailbox is rebuilt from all readable messages, with a note in the place of each lost range."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import accumulate

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
    """Rebuild the mailbox with every message once and in order. No seq is used twice."""
    *sealed, head = _in_order(pieces)
    segments = dict(enumerate(sealed, 1))
    sure = _next_seq(pieces, (*sealed, head))
    numbers = (message.seq for part in (*pieces.segments.values(), pieces.head) for message in part)
    next_seq = max(sure, 1 + max(numbers, default=0))
    lost: list[tuple[int, int]] = []

    def noted(messages: Iterable[Message], previous: int, until: int | None) -> tuple[Message, ...]:
        """Return messages with a note at the end of each lost range between `previous` and `until`."""
        filled: list[Message] = []
        for message in messages:
            if message.seq > previous + 1 and not message.id.startswith(NOTE):
                lost.append((previous + 1, message.seq - 1))
                filled.append(_lost_note(pieces.agent_id, *lost[-1], now, new_id()))
            filled.append(message)
            previous = message.seq
        if until is not None and until > previous + 1:
            lost.append((previous + 1, until - 1))
            filled.append(_lost_note(pieces.agent_id, *lost[-1], now, new_id()))
        return tuple(filled)

    whole: dict[int, tuple[Message, ...]] = {}
    previous = 0
    for number, messages in segments.items():
        # An unreadable segment gets one note, up to the next readable message.
        following = [m.seq for later in range(number + 1, len(segments) + 1) for m in segments[later]]
        until = None if messages else min((*following, *(m.seq for m in head), sure))
        if part := noted(messages, previous, until):
            whole[len(whole) + 1] = part
            previous = part[-1].seq
    messages = noted(head, previous, sure)
    if next_seq > sure:  # a message that dropped out had this number, and perhaps it was right
        text = f"the next message here has the number {next_seq}, since a number of this mailbox was out of place"
        messages = (*messages, _note(pieces.agent_id, next_seq - 1, text, now, new_id()))
    return Rebuilt(_head(pieces, whole, messages, next_seq), whole, lost)


def _in_order(pieces: Pieces) -> list[tuple[Message, ...]]:
    """Return all segments up to the last and then the head, without repeated and misplaced messages.

    A number that breaks the order of the parts is wrong: its message drops out, so that no other does.
    """
    numbers = range(1, max(pieces.segments, default=0) + 1)
    parts = [*(pieces.segments.get(number, ()) for number in numbers), pieces.head]
    listed = [(part, message) for part, messages in enumerate(parts) for message in messages if message.seq > 0]
    chosen = [dict[int, Message]() for _ in parts]
    for part, message in map(listed.__getitem__, _rising([message.seq for _, message in listed])):
        chosen[part][message.seq] = message
    newest = max((seq for by_seq in chosen for seq in by_seq), default=0)
    end = newest + 1 if pieces.next_seq is None else pieces.next_seq
    after = [*accumulate((max(by_seq, default=0) for by_seq in chosen), max, initial=0)]
    until = [*accumulate((min(by_seq, default=end) for by_seq in reversed(chosen)), min, initial=end)][::-1]
    for part, message in listed:  # a message out of order only within its part is kept
        if after[part] < message.seq < until[part + 1]:
            chosen[part].setdefault(message.seq, message)
    return [tuple(by_seq[seq] for seq in sorted(by_seq)) for by_seq in chosen]


def _rising(numbers: Sequence[int]) -> list[int]:
    """Return the indexes of a longest increasing subsequence; of equal numbers, one right after its predecessor."""
    ends, lowest = list[int](), list[int]()  # by length of a subsequence: index and number of its lowest end
    previous: list[int | None] = []
    for place, number in enumerate(numbers):
        length = bisect_left(lowest, number)
        previous.append(ends[length - 1] if length else None)
        if length == len(ends):
            ends.append(place)
            lowest.append(number)
            continue
        before = previous[ends[length]]
        if number < lowest[length] or number > (0 if before is None else numbers[before]) + 1:
            ends[length], lowest[length] = place, number
    row, at = list[int](), ends[-1] if ends else None
    while at is not None:
        row.append(at)
        at = previous[at]
    return row[::-1]


def _next_seq(pieces: Pieces, parts: Iterable[tuple[Message, ...]]) -> int:
    """Return a seq above all mentioned ones. A lost nextSeq is replaced by a number above every possible seq."""
    handed = pieces.handed.seq if pieces.handed else 0
    seqs = (message.seq for part in parts for message in part)
    highest = max(handed, pieces.acked or 0, pieces.highest, *seqs)
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


def _lost_note(agent_id: str, start: int, end: int, now: datetime, id: str) -> Message:
    numbers = f"message {start}" if start == end else f"messages {start} to {end}"
    text = f"{numbers} of this mailbox cannot be read any more; what is left is in the file that was moved aside"
    return _note(agent_id, end, text, now, id)


def _note(agent_id: str, seq: int, text: str, now: datetime, id: str) -> Message:
    return Message(
        id=f"{NOTE}{id}",
        seq=seq,
        from_=LEAD,
        to=agent_id,
        type=MessageType.NOTIFICATION,
        content=text,
        timestamp=now,
    )
