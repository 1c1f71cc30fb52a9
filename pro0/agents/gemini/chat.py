"""The entries of a chat, read from Gemini CLI's transcripts; Gemini writes a message again whenever it has changed."""

from collections.abc import Iterator

from pro0.agents.adapter import SessionView
from pro0.agents.chats.reader import LinesReader, Result, Told, call, moment, part, parts, text, words
from pro0.agents.gemini.chats import newest_chat
from pro0.model.screen import ChatEntry

_ENDED = ("success", "error", "cancelled")
_CONTEXT = "<session_context>"
"""The beginning of the text that Gemini puts before each conversation."""


def chat(view: SessionView, *, whole: bool = False) -> LinesReader:
    """Return the reader of a session's transcript."""
    return LinesReader(lambda: newest_chat(view), told, whole=whole)


def told(line: dict[str, object]) -> Iterator[Told]:
    """Yield the entries and results of one line: of a message, or of the rewritten conversation."""
    for message in parts(line, "$set", "messages") or [line]:
        yield from _message(message)


def _message(message: object) -> Iterator[Told]:
    kind, id, at = text(message, "type"), text(message, "id"), moment(message, "timestamp")
    body = words(part(message, "content")).strip()
    if kind == "user" and body and not body.startswith(_CONTEXT):
        yield ChatEntry(id=id, kind="prompt", at=at, text=body)
    elif kind == "gemini" and body:
        yield ChatEntry(id=id, kind="said", at=at, text=body)
    elif kind == "error" and body:
        yield ChatEntry(id=id, kind="said", at=at, text=body, state="failed")
    for tool in parts(message, "toolCalls"):
        yield call(text(tool, "id"), text(tool, "name"), part(tool, "args"), moment(tool, "timestamp") or at)
        if text(tool, "status") in _ENDED:
            output = text(tool, "resultDisplay") or "\n".join(map(_output, parts(tool, "result")))
            yield Result(text(tool, "id"), output, text(tool, "status") != "success")


def _output(result: object) -> str:
    response = part(result, "functionResponse", "response")
    return text(response, "output") or text(response, "error")
