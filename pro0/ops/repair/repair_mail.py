"""Repair one mailbox: head and all segments together, under its lock; a segment is written first, as always."""

import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

from pro0 import looking
from pro0.errors import ErrorCode, Pro0Error, StoreError
from pro0.model.message import Mailbox, Message, Segment
from pro0.model.need import NeedKind
from pro0.ops import troubles
from pro0.ops.context import Context
from pro0.ops.repair.evidence import certain, events
from pro0.rules.repair import salvage, soundness
from pro0.rules.repair.rebuilding_mail import Pieces, Rebuilt, rebuilt
from pro0.store import atomic
from pro0.store.files import File, encode, translate, translated
from pro0.store.lock import locked
from pro0.store.mailbox import Box
from pro0.store.mending import Bad, T, look, put, trouble
from pro0.store.paths import ARCHIVE, DOCUMENT, segment

_SEQ = re.compile(rb'"(?:seq|acked)"\s*:\s*(\d{1,12})(?!\d)')


class MailboxState(msgspec.Struct, frozen=True):
    """A mailbox on disk: errors of its unreadable files, and findings between the readable ones."""

    head: Mailbox | None
    segments: dict[int, Segment | None]
    troubles: list[Pro0Error]
    findings: list[soundness.Finding]

    @property
    def sound(self) -> bool:
        """True when there is nothing to repair."""
        return not self.troubles and not self.findings


def examine(box: Box) -> MailboxState:
    """Examine a mailbox for damage, without a lock."""
    troubles: list[Pro0Error] = []
    head = _read(box.head, troubles)
    numbers = set(_numbers(box, troubles)) | set(range(1, (min(head.sealed, 1_000_000) if head else 0) + 1))
    segments = {number: _read(box.sealed(number), troubles) for number in sorted(numbers)}
    findings: list[soundness.Finding] = []
    if head and not troubles:
        segments_known = [part.messages for number, part in segments.items() if part and number <= head.sealed]
        findings += soundness.mailbox(head, segments_known)
        findings += [
            soundness.Finding(f"a segment of the mailbox of {box.agent_id} holds no messages", _REPAIR, True)
            for part in segments.values()
            if part and not part.messages
        ]
        findings += [
            soundness.Finding(
                f"the head of the mailbox of {box.agent_id} does not count its segment {segment(number)}", _REPAIR, True
            )
            for number in segments
            if number > head.sealed
        ]
    return MailboxState(head, segments, troubles, findings)


def repair_mailbox(context: Context, name: str, say: Callable[[str], None]) -> None:
    """Rebuild a mailbox: every readable message, once and in order, with notes in the place of lost ones."""
    box = context.team.mailbox(name)
    if not looking.exists(box.folder):
        box.make()
        say(f"the mailbox of {name} was missing: made it")
        return
    if examine(box).sound:
        return
    losses = ""
    try:
        with locked(box.folder, "repair") as folder:
            state = examine(box)
            _require_reachable(state)
            if not state.sound and not any(error.code == ErrorCode.NEWER_SCHEMA for error in state.troubles):
                losses = _rebuild(context, box, folder, state, say)
    except OSError as error:
        translate(error, box.head.path)
    if losses:
        troubles.note(context.team, NeedKind.LOSSES, f"the mailbox of {name}", losses, context.now())


def _rebuild(context: Context, box: Box, folder: int, state: MailboxState, say: Callable[[str], None]) -> str:
    """Rebuild a mailbox under its lock; return what could not be kept, "" for nothing."""
    bad = look(folder, box.head.path.name)
    parts = {number: _bad_segment(folder, number) for number in state.segments}
    if any(salvage.is_newer(bad_segment.data) for bad_segment in (bad, *parts.values())):
        return ""
    pieces, lost = _pieces(context, box, state, bad, parts)
    mailbox = rebuilt(pieces, context.now(), context.new_id)
    moved = _write_segments(context, folder, state, mailbox) if state.segments else []
    old = state.head.revision if state.head else 0
    head = encode(msgspec.structs.replace(mailbox.head, revision=old + 1))
    moved += [put(folder, box.head.path.name, head, context.now())]
    return _tell(box, bad, [name for name in moved if name], mailbox, lost, say)


def _pieces(
    context: Context, box: Box, state: MailboxState, bad: Bad, parts: dict[int, Bad]
) -> tuple[Pieces, list[str]]:
    """Return the readable pieces of a mailbox, and the lost ones in words."""
    lost: list[str] = []
    if state.head:
        fields = {name: getattr(state.head, name) for name in state.head.__struct_fields__}
    else:
        head = salvage.recover(bad.data, Mailbox)
        fields, lost = head.fields, head.lost
    segments = {}
    for number, part in state.segments.items():
        segments[number] = part.messages if part else _salvaged(parts[number], lost)
    # The highest seq in any trace keeps new messages from reusing a lost one's number. Readable files need no trace.
    unreadable = [parts[number] for number, part in state.segments.items() if not part]
    unreadable += [] if state.head else [bad]
    mentioned = [int(seq) for source in unreadable for seq in _SEQ.findall(source.data)]
    mentioned += [_number(event["seq"]) for event in events(context.team) if _was_sent(event, box.agent_id)]
    return (
        Pieces(
            agent_id=box.agent_id,
            head=tuple(fields.get("messages", ())),
            segments=segments,
            next_seq=fields.get("next_seq"),
            acked=fields.get("acked"),
            handed=fields.get("handed"),
            delivered=fields.get("delivered"),
            highest=max(mentioned, default=0),
        ),
        lost,
    )


def _bad_segment(folder: int, number: int) -> Bad:
    with atomic.subfolder(folder, ARCHIVE) as archive:
        return look(archive, segment(number))


def _write_segments(context: Context, folder: int, state: MailboxState, mailbox: Rebuilt) -> list[str | None]:
    """Write the changed segments, and move the surplus ones aside."""
    moved = []
    with atomic.subfolder(folder, ARCHIVE) as archive:
        for number, messages in mailbox.segments.items():
            old = state.segments.get(number)
            if old is None or old.messages != messages:
                data = encode(Segment(revision=1, messages=messages))
                moved.append(put(archive, segment(number), data, context.now()))
        for number in state.segments:
            if number not in mailbox.segments:
                moved.append(put(archive, segment(number), None, context.now()))
    return moved


def _tell(box: Box, bad: Bad, moved: list[str], mailbox: Rebuilt, lost: list[str], say: Callable[[str], None]) -> str:
    everything = [message for part in (*mailbox.segments.values(), mailbox.head.messages) for message in part]
    count = sum(not message.id.startswith(soundness.NOTE) for message in everything)
    ranges = [f"message {start}" if start == end else f"messages {start} to {end}" for start, end in mailbox.lost]
    losses = ", ".join([*ranges, *lost])
    lost_text = f"; lost: {losses}" if losses else ""
    aside = f"moved aside {', '.join(moved)}, " if moved else "it was missing, "
    say(f"the mailbox {box.folder} ({bad.was}) was damaged: {aside}rebuilt it; kept: {count} messages{lost_text}")
    return losses


def _salvaged(bad: Bad, lost: list[str]) -> tuple[Message, ...]:
    part = salvage.recover(bad.data, Segment)
    lost += part.lost
    return tuple(part.fields.get("messages", ()))


def _read(file: File[T], troubles: list[Pro0Error]) -> T | None:
    if error := trouble(file):
        troubles.append(error)
        return None
    return certain(file)


def _numbers(box: Box, troubles: list[Pro0Error]) -> Iterator[int]:
    names: list[str] = []
    try:
        with translated(box.folder / ARCHIVE):
            names = box.place.within(ARCHIVE).names()
    except Pro0Error as error:
        troubles.append(error)
    for name in names:
        digits = name.removesuffix(DOCUMENT)
        if name.endswith(DOCUMENT) and digits.isascii() and digits.isdigit() and len(digits) < 10:
            yield int(digits)


def _require_reachable(state: MailboxState) -> None:
    """Raise an error that may pass: a file out of reach for a moment is not lost."""
    for error in state.troubles:
        if error.code == StoreError.code:
            raise error


def _was_sent(event: Mapping[str, str], to: str) -> bool:
    return "seq" in event and event.get("event") == "message.send" and event.get("to") == to


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 13 else 0


_REPAIR = "pro0 doctor --repair"
