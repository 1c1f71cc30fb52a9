"""The entries of a chat, read from Codex's rollouts."""

from collections.abc import Iterator
from datetime import datetime

from pro0.agents.adapter import SessionView
from pro0.agents.chats.reader import LinesReader, Result, Told, call, moment, part, parts, text, words
from pro0.agents.codex.rollout import rollout
from pro0.agents.memory import Memory
from pro0.model.screen import ChatEntry

_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call")
_RESULTS = ("function_call_output", "custom_tool_call_output", "tool_search_output")


def chat(view: SessionView, *, whole: bool = False) -> LinesReader:
    """Return the reader of a session's rollout."""
    memory = Memory()
    return LinesReader(lambda: rollout(view, memory), told, whole=whole)


def told(line: dict[str, object]) -> Iterator[Told]:
    """Yield what one line tells."""
    payload, at = part(line, "payload"), moment(line, "timestamp")
    kind = text(payload, "type")
    if text(line, "type") == "event_msg":
        if failure := text(payload, "error", "message"):
            yield ChatEntry(id=f"{text(payload, 'turn_id')}.error", kind="said", at=at, text=failure, state="failed")
    elif text(line, "type") != "response_item":
        return
    elif kind == "message":
        yield from _message(payload, at, text(line, "timestamp"))
    elif kind in _CALLS:
        arguments = next((found for key in ("arguments", "input", "action") if (found := part(payload, key))), None)
        yield call(text(payload, "call_id"), text(payload, "name") or kind.removesuffix("_call"), arguments, at)
    elif kind in _RESULTS:
        output = part(payload, "output")
        yield Result(text(payload, "call_id"), words(output) or text(output, "content"))


def _message(payload: object, at: datetime | None, moment_text: str) -> Iterator[ChatEntry]:
    author, body = text(payload, "role"), words(part(payload, "content")).strip()
    if not body or author not in ("user", "assistant") or (author == "user" and _is_its_own(payload, body)):
        return
    id = text(payload, "id") or f"{moment_text}.{author}"
    yield ChatEntry(id=id, kind="prompt" if author == "user" else "said", at=at, text=body)


def _is_its_own(payload: object, said: str) -> bool:
    """Return True for a message added by Codex itself for its model."""
    kinds = parts(payload, "internal_chat_message_metadata_passthrough", "content_item_kinds")
    return not any(str(kind).startswith("user.") for kind in kinds) if kinds else said.startswith("<")
