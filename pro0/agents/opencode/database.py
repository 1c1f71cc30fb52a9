"""The database of opencode, read only: its sessions and their messages."""

import errno
import os
import sqlite3
import time
from collections.abc import Collection, Mapping
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from pro0.agents import first_prompt
from pro0.agents.adapter import SessionView
from pro0.agents.memory import Memory
from pro0.agents.transcripts import decoded, is_there, last_words, shortened
from pro0.decoding import convert, decoder
from pro0.model.runtime import State
from pro0.model.screen import LastWords, Reading
from pro0.model.usage import Usage
from pro0.rules.screens.words import Words

PATIENCE = 0.3
"""The time limit of one look, in seconds."""
_STEPS = 10_000
"""SQLite steps between two checks of the clock."""
_INTERRUPTED = "MessageAbortedError"
"""The error of a turn stopped by a person."""
ROLES = Words(source="database", place="role", states={"user": State.WORKING, "assistant": State.WORKING})
"""The authors of the last message; a turn goes on until a finished answer."""
FINISHES = Words(
    source="database",
    place="finish",
    states={
        "tool-calls": State.WORKING,
        **dict.fromkeys(("", "stop", "length", "content-filter", "error", "other", "unknown"), State.IDLE),
    },
)
"""The ways an answer finishes; after tool calls the turn goes on."""

_MINE = """
    select s.id, m.data, p.data from session s
    join message m on m.session_id = s.id join part p on p.message_id = m.id
    where s.directory in (?, ?) and s.time_created >= ? and s.parent_id is null
    order by s.time_created, m.time_created, p.id limit 200
"""
_LAST = """
    select data from message where session_id = ? and time_created >= ? order by time_created desc, id desc limit 1
"""
_ANSWERS = """
    select id, data from message where session_id = ? and time_created >= ? order by time_created desc, id desc limit 20
"""
_PARTS = "select data from part where message_id = ? order by id limit 200"
_USED = """
    with recursive tree(id) as (select ? union select s.id from session s join tree on s.parent_id = tree.id)
    select m.id, m.data, m.time_updated
    from message m join tree on m.session_id = tree.id join session s on s.id = m.session_id
    where m.time_created >= max(?, s.time_created) and m.time_updated >= ?
"""
_ROOTS = """
    with recursive up(id, ancestor) as (
        select value, value from json_each(?)
        union select up.id, s.parent_id from up join session s on s.id = up.ancestor where s.parent_id is not null
    )
    select up.id, s.id from up join session s on s.id = up.ancestor where s.parent_id is null
"""
_SPOKEN = """
    select m.session_id from message m join session s on s.id = m.session_id
    where s.id in (select value from json_each(?)) and s.directory in (?, ?) and m.time_created >= ?
    and json_extract(m.data, '$.role') = 'user' and exists (
        select 1 from part p where p.message_id = m.id and json_extract(p.data, '$.type') = 'text'
        and not coalesce(json_extract(p.data, '$.synthetic'), 0) and json_extract(p.data, '$.metadata.pro0') is null
    )
    order by m.time_created desc, m.id desc limit 1
"""
_LATER = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_IOERR)
"""The failures that say nothing about the contents of the database."""
OURS = {"pro0": True}
"""The metadata of prompts posted by pro0 itself, not by a person."""
_KNOWN = "select 1 from session where id = ?"


Row = TypeVar("Row")


class _Cache(msgspec.Struct):
    read: int = 0
    write: int = 0


class _Tokens(msgspec.Struct):
    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache: _Cache = msgspec.field(default_factory=_Cache)


class _Told(msgspec.Struct):
    message: str = ""


class _Error(msgspec.Struct):
    name: str = ""
    data: _Told = msgspec.field(default_factory=_Told)


class _Time(msgspec.Struct):
    completed: float = 0


class _Message(msgspec.Struct, rename={"model": "modelID"}):
    role: str = ""
    finish: str = ""
    time: _Time = msgspec.field(default_factory=_Time)
    model: str = ""
    cost: float = 0
    tokens: _Tokens | None = None
    error: _Error | None = None


class _Part(msgspec.Struct):
    type: str = ""
    text: str = ""


_MESSAGE = decoder(_Message)
_PART = decoder(_Part)


def began(session_view: SessionView) -> bool:
    """Return True when the session is in the database."""
    return bool(session_view.session) and bool(sure_rows(session_view, _KNOWN, tuple[int], session_view.session))


def learned(session_view: SessionView) -> str:
    """Return the id of the first session since the start with its folder and first prompt, empty for none."""
    prompt = first_prompt.load(session_view.folder).strip()
    where = _own(session_view)
    for session, message, part in rows(session_view, _MINE, tuple[str, str, str], *where) if prompt else ():
        if _is_prompt(message, part, prompt):
            return session
    return ""


def roots(session_view: SessionView, sessions: Collection[str]) -> dict[str, str]:
    """Return the topmost session above each of these, or itself; unknown sessions are left out."""
    ids = msgspec.json.encode(sorted(sessions)).decode()
    return dict(rows(session_view, _ROOTS, tuple[str, str], ids)) if sessions else {}


def spoken_in(session_view: SessionView, session: str, others: Collection[str]) -> str:
    """Return the one of these sessions, in its folder, with a person's last prompt since the start, else `session`."""
    ids = msgspec.json.encode([session, *others]).decode()
    newest = rows(session_view, _SPOKEN, tuple[str], ids, *_own(session_view)) if others else []
    return newest[0][0] if newest else session


def turn(session_view: SessionView, session: str) -> Reading | None:
    """Read the turn's state from the last message since the start; None when there is none."""
    for (data,) in rows(session_view, _LAST, tuple[str], session, _milliseconds(session_view)) if session else ():
        for message in decoded([data.encode()], _MESSAGE):
            return replace(_turn(message), session=session)
    return None


def _turn(message: _Message) -> Reading:
    if message.error and message.error.name != _INTERRUPTED:
        note = shortened(message.error.data.message) or message.error.name
        return Reading(state=State.ERROR, source="database", rule="failed turn", note=note)
    over = message.role == "assistant" and message.time.completed
    words, word = (FINISHES, message.finish) if over else (ROLES, message.role)
    state = State.IDLE if message.error else words.meaning(word) or State.UNKNOWN
    if state is State.UNKNOWN:
        return words.reading(word)
    rule = "answered" if state is State.IDLE else "not answered yet"
    return Reading(state=state, source="database", rule=rule)


def read_last_words(session_view: SessionView, memory: Memory) -> LastWords | None:
    """Return the last words of the newest turn: the text of the last finished answer."""
    path = database(session_view.environment)
    files = (path, path.with_name(f"{path.name}-wal"))
    return memory.words(lambda: _last_words(session_view), *files) if session_view.session else None


def _last_words(session_view: SessionView) -> LastWords | None:
    since = _milliseconds(session_view)
    for id, data in sure_rows(session_view, _ANSWERS, tuple[str, str], session_view.session, since):
        for message in decoded([data.encode()], _MESSAGE):
            over = message.role == "assistant" and message.time.completed and not message.error
            if over and FINISHES.meaning(message.finish) is State.IDLE:
                parts = decoded((part.encode() for (part,) in sure_rows(session_view, _PARTS, tuple[str], id)), _PART)
                return last_words("\n\n".join(part.text for part in parts if part.type == "text"), id)
    return None


def usage(session_view: SessionView, memory: Memory) -> Usage | None:
    """Return the usage of the session, of those before it, and of their child sessions, since its start.

    A fork begins with a copy of what was said before it, which counts once.
    """
    for session in filter(None, (*session_view.earlier, session_view.session)):
        since = (_milliseconds(session_view), memory.changes.get(session, 0))
        for name, data, changed in sure_rows(session_view, _USED, tuple[str, str, int], session, *since):
            for message in decoded([data.encode()], _MESSAGE):
                if message.role == "assistant" and message.tokens:
                    memory.count(name, _used(message, message.tokens))
            memory.changes[session] = max(memory.changes.get(session, 0), changed)
    return memory.total


def _used(message: _Message, tokens: _Tokens) -> Usage:
    return Usage(
        input_tokens=tokens.input,
        output_tokens=tokens.output + tokens.reasoning,
        cache_read_tokens=tokens.cache.read,
        cache_write_tokens=tokens.cache.write,
        cost_usd=message.cost or None,  # 0 for a model without a known price
        models=(message.model,) if message.model else (),
    )


def _is_prompt(message: str, part: str, prompt: str) -> bool:
    messages = decoded([message.encode()], _MESSAGE)
    texts = decoded([part.encode()], _PART)
    return bool(messages and texts) and messages[0].role == "user" and texts[0].text.strip() == prompt


def _own(session_view: SessionView) -> tuple[str, str, int]:
    """Return the session's folder, with and without symbolic links, and its start in milliseconds."""
    return session_view.cwd, os.path.realpath(session_view.cwd), _milliseconds(session_view)


def _milliseconds(session_view: SessionView) -> int:
    return int(session_view.started_at.timestamp() * 1000)


def rows(session_view: SessionView, query: str, row: type[Row], *values: object) -> list[Row]:
    """Return the rows of a query, none when the database is slow, unreadable or of another schema."""
    try:
        return sure_rows(session_view, query, row, *values)
    except OSError:
        return []


def sure_rows(session_view: SessionView, query: str, row: type[Row], *values: object) -> list[Row]:
    """Return the rows of a query, none for another schema; raises OSError when the database cannot be read now."""
    deadline, path = time.monotonic() + PATIENCE, database(session_view.environment)
    try:
        address = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=PATIENCE)) as connection:
            connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
            return convert(connection.execute(query, values).fetchall(), list[row])  # type: ignore[valid-type]
    except sqlite3.OperationalError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _LATER or (code == sqlite3.SQLITE_CANTOPEN and is_there(path)):
            raise OSError(errno.EAGAIN, str(error), str(path)) from error
        return []
    except (sqlite3.Error, msgspec.MsgspecError, ValueError, OverflowError):
        return []


def database(environment: Mapping[str, str]) -> Path:
    """Return the place of the database."""
    share = environment.get("XDG_DATA_HOME") or Path(environment.get("HOME", "/"), ".local/share")
    return Path(share, "opencode", environment.get("OPENCODE_DB") or "opencode.db")
