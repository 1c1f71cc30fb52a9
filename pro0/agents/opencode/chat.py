"""The entries of a chat, read from opencode's database."""

from collections.abc import Iterator
from datetime import UTC, datetime

from pro0.agents.adapter import SessionView
from pro0.agents.chats.reader import SHOWN, Chat, Result, Told, call, part, signature, text
from pro0.agents.opencode.database import database, rows
from pro0.agents.transcripts import decoded
from pro0.decoding import decoder
from pro0.model.screen import ChatEntry

_PARTS = """
    select m.data, p.id, p.data, p.time_created, p.time_updated from part p join message m on m.id = p.message_id
    where p.session_id = ? and p.time_updated >= ? order by p.id desc limit ?
"""
_FAILED = """
    select id, data, time_created, time_updated from message
    where session_id = ? and time_updated >= ? and json_extract(data, '$.error') is not null order by id desc limit ?
"""
_OBJECT = decoder(dict[str, object])


class DatabaseReader:
    """Reads the newest parts of a session's messages."""

    def __init__(self, view: SessionView, *, whole: bool = False) -> None:
        self._view = view
        self._since = 0
        self._chat = Chat(whole=whole)

    def news(self) -> list[ChatEntry]:
        """Return the entries new or changed since the last call."""
        query = (self._view.session, self._since, SHOWN)
        parts = rows(self._view, _PARTS, tuple[str, str, str, int, int], *query) if self._view.session else []
        failed = rows(self._view, _FAILED, tuple[str, str, int, int], *query) if self._view.session else []
        self._since = max([self._since, *(row[4] for row in parts), *(row[3] for row in failed)])
        told = [told for row in reversed(parts) for told in _told(*row)]
        return self._chat.take([*told, *(entry for row in reversed(failed) for entry in _failure(*row))])

    @property
    def sign(self) -> object:
        """Return a value that changes when the database changes."""
        path = database(self._view.environment)
        return signature(path, path.with_name(f"{path.name}-wal"))


def chat(view: SessionView, *, whole: bool = False) -> DatabaseReader:
    """Return the reader of a session's messages."""
    return DatabaseReader(view, whole=whole)


def _told(message_data: str, id: str, data: str, created: int, _updated: int) -> Iterator[Told]:
    for message, piece in zip(*(decoded([each.encode()], _OBJECT) for each in (message_data, data)), strict=False):
        at = _moment(created)
        if text(piece, "type") == "text" and not part(piece, "synthetic") and (said := text(piece, "text").strip()):
            yield ChatEntry(id=id, kind="prompt" if text(message, "role") == "user" else "said", at=at, text=said)
        elif text(piece, "type") == "tool":
            status, call_id = text(piece, "state", "status"), text(piece, "callID") or id
            yield call(call_id, text(piece, "tool"), part(piece, "state", "input"), at)
            if status in ("completed", "error"):
                output = text(piece, "state", "output") or text(piece, "state", "error")
                yield Result(call_id, output, status == "error")


def _failure(id: str, data: str, created: int, _updated: int) -> Iterator[ChatEntry]:
    for message in decoded([data.encode()], _OBJECT):
        reason = text(message, "error", "data", "message") or text(message, "error", "name")
        if reason:
            yield ChatEntry(id=f"{id}.error", kind="said", at=_moment(created), text=reason, state="failed")


def _moment(milliseconds: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
