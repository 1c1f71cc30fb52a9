"""Gemini CLI's memory of a session: it forgets a whole turn when interrupted while its model speaks.

Such a turn is undone back to its start. This loses the first prompt, if it was the first turn, and mail read in it.
Gemini also takes a prompt back when its first request fails. It rewrites its transcript each time, so the transcript
shows its remaining memory. Rewritten, the first prompt may stand in one message with the context of the session, and
a resume leaves that message out; it is found in the lines before.

A resume begins an empty conversation first, with a transcript of its own, and takes prompts while it loads the earlier
one. A hook may therefore be given the wrong transcript.
"""

import glob
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from pro0.agents import first_prompt
from pro0.agents.transcripts import changed, decoded, head
from pro0.decoding import decoder
from pro0.model.message import Mailbox, Message, Segment
from pro0.rules import mail

KEPT = "kept"
"""The file in the session's folder with the texts known at the end of a turn."""
AGAIN = "again.md"
"""The file in the folder of a resumed session with the first prompt that the resume left out."""
LARGEST = 256 << 20
"""The longest part of a transcript to read, in bytes."""
FIRST = 256 << 10
"""How far into a transcript to look for its first prompt, in bytes."""
_FIRST_LINE = 4096
"""The longest first line of a transcript, in bytes."""
_LETTERS = 8
"""The number of id letters in the name of a transcript."""
_BEGIN = 60
"""Characters compared at the beginning of a prompt."""
_CONTEXT = "<session_context>"
"""The beginning of the text that Gemini puts before each conversation."""
_REWRITTEN = b'\n{"$set":{"messages":'
"""The beginning of a line that rewrites the whole conversation; inside a line it is a tool's argument."""


class Confirmed(msgspec.Struct, frozen=True):
    """The texts confirmed as known: mail up to `seq`, and the first prompt if `prompt` is set."""

    seq: int
    prompt: bool = False


class GivenTexts(msgspec.Struct, frozen=True):
    """The texts given to the agent in a session: its first prompt, and the messages it has read."""

    prompt: str = ""
    messages: tuple[Message, ...] = ()
    resumed: bool = False
    """True for a prompt that the resume has left out; the transcript may still show it for a while."""


class _Header(msgspec.Struct, frozen=True, rename="camel"):
    session_id: str = ""


class _Record(msgspec.Struct):
    id: str = ""
    type: str = ""
    content: msgspec.Raw = msgspec.Raw(b'""')


class _Patch(msgspec.Struct):
    messages: list[_Record] | None = None


class _Line(_Record):
    set: _Patch | None = msgspec.field(default=None, name="$set")


class _Part(msgspec.Struct):
    text: str = ""


_HEADERS = decoder(_Header)
_LINE = decoder(_Line)
_PARTS = decoder(list[_Part])
_CONFIRMED = decoder(Confirmed)
_SEGMENT = decoder(Segment)


def conversation(transcript: Path) -> list[tuple[str, bytes]]:
    """Return the conversation as the model now sees it: speaker and JSON; tool results count as `user`."""
    data = head(transcript, LARGEST)
    records: dict[str, _Record] = {}
    for line in decoded(data[data.rfind(_REWRITTEN) + 1 :].split(b"\n"), _LINE):
        if line.set is None:
            records[line.id] = line
        elif line.set.messages is not None:
            records = {record.id: record for record in line.set.messages}
    return [(record.type, bytes(record.content)) for record in records.values()]


def name_of(session: str) -> str:
    """Return the pattern of the names of a session's transcripts."""
    return f"session-*-{glob.escape(session[:_LETTERS])}.jsonl"


def session_of(transcript: Path) -> str:
    """Return the id of the session of a transcript, empty when it is unreadable."""
    return next((line.session_id for line in decoded(head(transcript, _FIRST_LINE).split(b"\n")[:1], _HEADERS)), "")


def of_session(transcripts: Iterable[Path], session: str) -> list[Path]:
    """Return the transcripts of a session, in the order of their last change."""
    return sorted((path for path in transcripts if session_of(path) == session), key=changed)


def has_answered(transcript: Path) -> bool:
    """Return True when the model has said something in a conversation, and still knows it."""
    return any(author == "gemini" for author, _ in conversation(transcript))


def loaded(transcript: Path, session: str) -> Path:
    """Return the transcript of a session's conversation: the earlier one until its resume has loaded it."""
    if not session or has_answered(transcript):
        return transcript
    transcripts = of_session(transcript.parent.glob(name_of(session)), session)
    return next((path for path in reversed(transcripts) if has_answered(path)), transcript)


def load_confirmed(folder: Path) -> Confirmed | None:
    """Return the record of known texts, None before the first turn."""
    records = decoded([head(folder / KEPT, 1 << 10)], _CONFIRMED)
    return records[0] if records else None


def save_confirmed(folder: Path, confirmed: Confirmed) -> None:
    """Record the known texts."""
    (folder / KEPT).write_bytes(msgspec.json.encode(confirmed))


def unconfirmed_texts(
    before: Confirmed, folder: Path, box: Mailbox, incarnation: str, sealed: Sequence[Path] = ()
) -> GivenTexts:
    """Return the texts given to the agent in this session, except those confirmed as known.

    Mail that is not in the box any more is in the `sealed` files, the oldest first.
    """
    given_up_to = mail.given_up_to(box, incarnation)
    messages = [*box.messages]
    for path in reversed(sealed):
        if not messages or messages[0].seq <= before.seq + 1 or given_up_to <= before.seq:
            break
        messages = [
            *(message for part in decoded([head(path, LARGEST)], _SEGMENT) for message in part.messages),
            *messages,
        ]
    read = tuple(message for message in messages if before.seq < message.seq <= given_up_to)
    given, again = first_prompt.load(str(folder)), head(folder / AGAIN, FIRST).decode(errors="replace")
    prompt = "" if before.prompt else given or again
    return GivenTexts(prompt, read, resumed=bool(prompt) and not given)


def keep_left_out(folder: Path, transcript: Path) -> bool:
    """Keep the first prompt if the resume of this session has left it out; return True when it has."""
    if first_prompt.was_given(str(folder)):
        return False
    lines = decoded(head(transcript, LARGEST).split(b"\n"), _LINE)
    records = [record for line in lines for record in (line.set.messages or [] if line.set else [line])]
    for parts in decoded([bytes(record.content) for record in reversed(records) if record.type == "user"], _PARTS):
        if len(parts) > 1 and _begins_with_context(parts):
            (folder / AGAIN).write_text("\n\n".join(part.text for part in parts[1:]), encoding="utf-8")
            return True
    return False


def forgotten(texts: GivenTexts, transcript: Path, prompt: str = "") -> GivenTexts:
    """Return the texts missing from the conversation and from the prompt about to be added.

    Returns nothing for an unreadable conversation: otherwise every turn would begin with these texts.
    """
    if texts == GivenTexts():
        return texts
    user_texts = [text for author, text in conversation(transcript) if author == "user"]
    prompts = [
        text for text in user_texts if not (texts.resumed and any(map(_begins_with_context, decoded([text], _PARTS))))
    ]
    if not user_texts:
        return GivenTexts()
    context = b"\n".join([*prompts, msgspec.json.encode(prompt)])
    kept_prompt = any(shape in context for shape in _shapes(texts.prompt[:_BEGIN]))
    messages = [message for message in texts.messages if not any(sign in context for sign in _signs(message))]
    return GivenTexts("" if kept_prompt else texts.prompt, tuple(messages))


def _begins_with_context(parts: list[_Part]) -> bool:
    return bool(parts) and parts[0].text.lstrip().startswith(_CONTEXT)


def begins_with(transcript: Path, prompt: str) -> bool:
    """Return True when a transcript begins with a prompt."""
    begin = head(transcript, FIRST)
    return any(shape in begin for shape in _shapes(prompt[:_BEGIN]))


def _shapes(text: str) -> Iterator[bytes]:
    """Yield the forms of a text within JSON: plain, and as hooks pass it on."""
    for shape in (text, text.replace("<", "&lt;").replace(">", "&gt;")):
        yield msgspec.json.encode(shape)[1:-1]


def _signs(message: Message) -> Iterator[bytes]:
    """Yield the traces of a message: its id, as in tools and hooks, and its text, as printed by `pro0 inbox`."""
    yield message.id.encode()
    yield msgspec.json.encode("  " + message.content.replace("\n", "\n  ") + "\n")[1:-1]
