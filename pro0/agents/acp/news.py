"""Turn an agent's news into lines for its terminal."""

from typing import Literal, NamedTuple

import msgspec

from pro0.agents.acp.leave import Leave
from pro0.agents.acp.messages import Content, Update
from pro0.decoding import decoder

Kind = Literal["words", "thought", "tool", "note", "person", "mail", "ask"]


class Drawn(NamedTuple):
    """A piece of text to draw; consecutive pieces of words, or of thoughts, continue the same line."""

    kind: Kind
    text: str
    leave: Leave | None = None


class ToldNews(NamedTuple):
    """One piece of news: the text to draw, and the facts for the conversation to keep."""

    kind: str
    shown: tuple[Drawn, ...] = ()
    words: str = ""
    call: dict[str, object] | None = None
    """The reported fields of a tool call."""
    cost: float = 0.0
    compacted: bool = False
    """True when the agent has just compacted its conversation."""


_UPDATE = decoder(Update)
_CONTENT = decoder(Content)
_CALL = decoder(dict[str, object])
_CHUNKS: dict[str, Kind] = {
    "user_message_chunk": "person",
    "agent_message_chunk": "words",
    "agent_thought_chunk": "thought",
}
_DONE = {"completed": "done", "failed": "failed"}


def news_of(raw: msgspec.Raw) -> ToldNews:
    """Return the news in the `update` of a `session/update`; raises MsgspecError or ValueError."""
    update = _UPDATE.decode(raw)
    kind = update.session_update
    if kind in _CHUNKS:
        words = _words(_CONTENT.decode(update.content))
        return ToldNews(kind, (Drawn(_CHUNKS[kind], words),), words=words)
    if kind in ("tool_call", "tool_call_update"):
        return _tool(kind, _CALL.decode(raw), update)
    if kind == "plan":
        steps = (f"{_MARKS.get(entry.status, '·')} {entry.content}" for entry in update.entries)
        return ToldNews(kind, tuple(Drawn("note", step) for step in steps))
    if kind == "compaction_update":
        over = update.status == "completed"
        return ToldNews(kind, (Drawn("note", "its conversation was compacted"),) if over else (), compacted=over)
    if kind == "notice":
        return ToldNews(kind, (Drawn("note", f"{update.severity}: {update.title or ''}"),))
    cost = update.cost.amount if update.cost and update.cost.currency == "USD" else 0.0
    return ToldNews(kind, cost=cost)


_MARKS = {"completed": "✓", "in_progress": "▸"}


def _tool(kind: str, call: dict[str, object], update: Update) -> ToldNews:
    if not isinstance(call.get("toolCallId"), str):
        raise ValueError("a tool call without an id")
    if kind == "tool_call":
        return ToldNews(kind, (Drawn("tool", update.title or str(call.get("kind") or "tool")),), call=call)
    over = _DONE.get(update.status or "")
    return ToldNews(
        kind, (Drawn("tool", f"{over}: {update.title}" if update.title else over),) if over else (), call=call
    )


def _words(content: Content) -> str:
    about = f"{content.type or 'content'} {content.uri or ''}".strip()
    return content.text if content.type == "text" else f"[{about}]\n"
