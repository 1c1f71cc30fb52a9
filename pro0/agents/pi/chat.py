"""The entries of a chat, read from pi's transcripts."""

from collections.abc import Iterator

from pro0.agents.adapter import SessionView
from pro0.agents.chats.reader import LinesReader, Result, Told, call, moment, part, text, words
from pro0.agents.memory import Memory
from pro0.agents.pi.session import find_transcript
from pro0.model.screen import ChatEntry


def chat(view: SessionView, *, whole: bool = False) -> LinesReader:
    """Return the reader of a session's transcript."""
    memory = Memory()
    return LinesReader(lambda: find_transcript(view, memory), told, whole=whole)


def told(line: dict[str, object]) -> Iterator[Told]:
    """Yield what one line tells."""
    id, at, message = text(line, "id"), moment(line, "timestamp"), part(line, "message")
    author, content = text(message, "role"), part(message, "content")
    if author == "toolResult":
        yield Result(text(message, "toolCallId"), words(content), part(message, "isError") is True)
    elif author in ("user", "assistant"):
        for number, piece in enumerate(content if isinstance(content, list) else [content]):
            if text(piece, "type") == "toolCall":
                yield call(text(piece, "id"), text(piece, "name"), part(piece, "arguments"), at)
            elif said := words(piece).strip():
                own_id = f"{id}.{number}" if number else id
                yield ChatEntry(id=own_id, kind="prompt" if author == "user" else "said", at=at, text=said)
        if failure := text(message, "errorMessage"):
            yield ChatEntry(id=f"{id}.error", kind="said", at=at, text=failure, state="failed")
