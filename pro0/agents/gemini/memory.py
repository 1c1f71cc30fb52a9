"""What Gemini CLI still knows of a session: it forgets the whole of a turn that is stopped while its model speaks.

Such a turn is taken back to its begin: the first prompt, when it was the first; and mail that was read in it. A prompt
whose first request fails is taken back too. Its transcript is rewritten each time, so that it says what is left.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from pro0.agents import first_prompt
from pro0.agents.transcripts import decoded, head
from pro0.model.message import Mailbox, Message
from pro0.rules import mail

KEPT = "kept"
"""The file in the session's folder with what was seen to be known at the end of a turn."""
LARGEST = 256 << 20
"""Bytes of a transcript that are read."""
FIRST = 256 << 10
"""Bytes of a transcript in which its first prompt is looked for."""
_BEGIN = 60
"""Letters by which a prompt is known again."""
_REWRITTEN = b'{"$set":{"messages":'


class Kept(msgspec.Struct, frozen=True):
    """What need not be looked for any more: mail up to `seq`, and whether the first prompt."""

    seq: int
    prompt: bool = False


class Told(msgspec.Struct, frozen=True):
    """What the agent was told in a session: its first prompt, messages that it has read."""

    prompt: str = ""
    messages: tuple[Message, ...] = ()


class _Record(msgspec.Struct):
    id: str = ""
    type: str = ""
    content: msgspec.Raw = msgspec.Raw(b'""')


class _Patch(msgspec.Struct):
    messages: list[_Record] | None = None


class _Line(_Record):
    set: _Patch | None = msgspec.field(default=None, name="$set")


_LINE = msgspec.json.Decoder(_Line)
_KEPT = msgspec.json.Decoder(Kept)


def conversation(transcript: Path) -> list[tuple[str, bytes]]:
    """Return who said what in the conversation as the model is told of it now, as JSON; what tools said is `user`'s."""
    data = head(transcript, LARGEST)
    records: dict[str, _Record] = {}
    for line in decoded(data[max(0, data.rfind(_REWRITTEN)) :].split(b"\n"), _LINE):
        if line.set is None:
            records[line.id] = line
        elif line.set.messages is not None:
            records = {record.id: record for record in line.set.messages}
    return [(record.type, bytes(record.content)) for record in records.values()]


def kept(folder: Path) -> Kept | None:
    """Return what was seen to be known, None before the first turn."""
    found = decoded([head(folder / KEPT, 1 << 10)], _KEPT)
    return found[0] if found else None


def keep(folder: Path, what: Kept) -> None:
    """Write down what is known."""
    (folder / KEPT).write_bytes(msgspec.json.encode(what))


def told_of(before: Kept, folder: Path, box: Mailbox, incarnation: str) -> Told:
    """Return what the agent was told in this session besides what is known to be kept."""
    given = mail.given_up_to(box, incarnation)
    read = tuple(message for message in box.messages if before.seq < message.seq <= given)
    return Told("" if before.prompt else first_prompt.given(str(folder)), read)


def forgotten(what: Told, transcript: Path, prompt: str = "") -> Told:
    """Return what of it is not in the conversation, nor in the prompt that is about to be added.

    Nothing where that cannot be read: else every turn would begin with it.
    """
    said = [said for who, said in conversation(transcript) if who == "user"] if what != Told() else []
    if not said:
        return Told()
    known = b"\n".join([*said, msgspec.json.encode(prompt)])
    kept_prompt = any(shape in known for shape in _shapes(what.prompt[:_BEGIN]))
    messages = [message for message in what.messages if not any(sign in known for sign in _signs(message))]
    return Told("" if kept_prompt else what.prompt, tuple(messages))


def begins_with(transcript: Path, prompt: str) -> bool:
    """Return whether a prompt stands at the begin of a transcript."""
    begin = head(transcript, FIRST)
    return any(shape in begin for shape in _shapes(prompt[:_BEGIN]))


def _shapes(text: str) -> Iterator[bytes]:
    """Yield how a text looks within JSON: as it is, and as hooks hand it on."""
    for shape in (text, text.replace("<", "&lt;").replace(">", "&gt;")):
        yield msgspec.json.encode(shape)[1:-1]


def _signs(message: Message) -> Iterator[bytes]:
    """Yield what tells of a message: its id, as tools and hooks name it, or its text as `pro0 inbox` prints it."""
    yield message.id.encode()
    yield msgspec.json.encode("  " + message.content.replace("\n", "\n  ") + "\n")[1:-1]
