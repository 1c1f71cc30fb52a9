"""The entries of a chat, read from Claude Code's transcripts."""

from collections.abc import Iterator
from pathlib import Path

from pro0.agents.adapter import SessionView
from pro0.agents.chats.reader import LinesReader, Result, Told, call, moment, part, text, words
from pro0.agents.claude.transcript import config_folder, transcript
from pro0.model.screen import ChatEntry


def chat(view: SessionView, *, whole: bool = False) -> LinesReader:
    """Return the reader of a session's transcript."""

    def find() -> Path | None:
        return transcript(config_folder(view.environment), view.session, view.cwd) if view.session else None

    return LinesReader(find, told, whole=whole)


def told(line: dict[str, object]) -> Iterator[Told]:
    """Yield the entries of one line, without those of subagents and Claude Code's own notes to its model."""
    author = text(line, "type")
    if author not in ("user", "assistant") or line.get("isSidechain") or line.get("isMeta"):
        return
    id, at = text(line, "uuid") or text(line, "message", "id"), moment(line, "timestamp")
    content = part(line, "message", "content")
    for number, piece in enumerate(content if isinstance(content, list) else [content]):
        kind = text(piece, "type")
        if kind == "tool_use":
            yield call(text(piece, "id"), text(piece, "name"), part(piece, "input"), at)
        elif kind == "tool_result":
            yield Result(text(piece, "tool_use_id"), words(part(piece, "content")), part(piece, "is_error") is True)
        elif said := words(piece).strip():
            failed = line.get("isApiErrorMessage") is True
            yield ChatEntry(
                id=f"{id}.{number}" if number else id,
                kind="prompt" if author == "user" else "said",
                at=at,
                text=said,
                state="failed" if failed else "",
            )
