"""The transcripts of Claude Code: projects/{folder}/{session}.jsonl below its configuration."""

import glob
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from pro0.agents import turn_end
from pro0.agents.adapter import SessionView
from pro0.agents.memory import Memory
from pro0.agents.transcripts import FAR, Moment, decoded, head, is_there, last_words, matching, shortened, tail
from pro0.decoding import decoder
from pro0.model.screen import LastWords
from pro0.model.usage import Usage

FIRST = 1 << 20
"""How far into a transcript to look for its first message, in bytes."""
_NOT_A_MODEL = "<synthetic>"
"""The model name in messages written by Claude Code itself."""
_OF_A_COMMAND = (b'"<command-name>', b'"<local-command-')
"""The beginnings of the content in a line about a person's command."""


class _Written(msgspec.Struct):
    for_an_hour: int | None = msgspec.field(default=0, name="ephemeral_1h_input_tokens")


class _Counts(msgspec.Struct):
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    cache_creation: _Written | None = None


class _Message(msgspec.Struct):
    id: str = ""
    model: str = ""
    usage: _Counts | None = None
    content: msgspec.Raw = msgspec.Raw(b"[]")
    stop_reason: str | None = None


class _Line(msgspec.Struct, rename="camel"):
    type: str
    uuid: str = ""
    timestamp: Moment | None = None
    request_id: str = ""
    is_sidechain: bool = False
    is_meta: bool = False
    is_api_error_message: bool = False
    message: _Message | None = None


class _Part(msgspec.Struct):
    type: str = ""
    text: str = ""


_LINE = decoder(_Line)
_PARTS = decoder(list[_Part])


def config_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of Claude Code's files."""
    return Path(environment.get("CLAUDE_CONFIG_DIR") or Path(environment.get("HOME", "/"), ".claude"))


def transcript(folder: Path, session: str, cwd: str, *, surely: bool = False) -> Path:
    """Return the transcript of a session; its folder is named after the project. Raises OSError as `matching` does."""
    projects, name = folder / "projects", f"{Path(session).name}.jsonl"
    path = projects / re.sub(r"[^a-zA-Z0-9]", "-", cwd) / name
    return path if is_there(path) else next(matching(projects, "*", glob.escape(name), surely=surely), path)


def began(session_view: SessionView) -> bool:
    """Return True when the session has a message to resume from; just after `/clear` it has only that command."""
    if not session_view.session:
        return False
    folder = config_folder(session_view.environment)
    path = transcript(folder, session_view.session, session_view.cwd, surely=True)
    return any(not _is_of_a_command(line) for line in _first_messages(path))


def has_message(path: Path) -> bool:
    """Return True when a transcript has a message: Claude creates it before it takes its first prompt."""
    return bool(_first_messages(path))


def _first_messages(path: Path) -> list[_Line]:
    lines = decoded(head(path, FIRST).split(b"\n"), _LINE)
    return [line for line in lines if line.type in ("user", "assistant") and not line.is_sidechain]


def _is_of_a_command(line: _Line) -> bool:
    """Return True for a user's line about a command: it is no message for the model to answer."""
    content = bytes(line.message.content) if line.message else b""
    return line.type == "user" and (line.is_meta or content.startswith(_OF_A_COMMAND))


def last_error(path: Path) -> str:
    """Return the error of a transcript's last turn, empty when it succeeded."""
    lines = tail(path, _LINE)
    messages = [line for line in lines if line.type in ("user", "assistant") and not line.is_sidechain]
    if not messages or not messages[-1].is_api_error_message:
        return ""
    return _text(messages[-1].message) or "API error"


def read_last_words(session_view: SessionView, memory: Memory) -> LastWords | None:
    """Return the last words of the newest turn; in a conversation opened again, only turns since then count.

    Older versions of Claude Code do not write why an answer ended: then only Claude's state tells if the turn is over.
    """
    session, folder = session_view.session, Path(session_view.folder)
    path = transcript(config_folder(session_view.environment), session, session_view.cwd)

    def read() -> LastWords | None:
        return _last_words(path, turn_end.ended_in_another(folder, session) or session_view.started_at)

    return memory.words(read, path, folder / turn_end.WORDS) if session else None


def _last_words(path: Path, since: datetime) -> LastWords | None:
    lines = [line for line in tail(path, _LINE, FAR) if line.type in ("user", "assistant") and not line.is_sidechain]
    for line in reversed(lines):
        if line.timestamp and line.timestamp < since:
            return None
        if words := _final(line, newest=line is lines[-1]):
            return words
    return None


def _final(line: _Line, *, newest: bool) -> LastWords | None:
    """Return the words of a line that ends a turn, None for another line."""
    message = line.message
    if message is None or line.type != "assistant" or line.is_api_error_message:
        return None
    parts, over = [part for found in decoded([message.content], _PARTS) for part in found], bool(message.stop_reason)
    calls = message.stop_reason == "tool_use" or any(part.type == "tool_use" for part in parts)
    if calls or not (over or newest):
        return None
    return last_words("\n\n".join(part.text for part in parts if part.text), line.uuid or message.id, over=over)


def usage(session_view: SessionView, memory: Memory) -> Usage | None:
    """Return the usage of the session and its subagents since its start, in all its conversations.

    Claude repeats an answer's usage on several lines. The last line is complete, and each answer counts once.
    """
    if not session_view.session:
        return None
    folder = config_folder(session_view.environment)
    for session in (*session_view.earlier, session_view.session):
        main = transcript(folder, session, session_view.cwd)
        for path in (main, *sorted(matching(main.with_suffix(""), "subagents", "*.jsonl"))):
            for line in memory.follow(path).read(_LINE):
                _count(line, session_view.started_at, memory)
    return memory.total


def _count(line: _Line, since: datetime, memory: Memory) -> None:
    message = line.message
    if not message or not message.usage or message.model == _NOT_A_MODEL:
        return
    if line.timestamp and line.timestamp < since:
        return
    counts = message.usage
    used = Usage(
        input_tokens=counts.input_tokens or 0,
        output_tokens=counts.output_tokens or 0,
        cache_read_tokens=counts.cache_read_input_tokens or 0,
        cache_write_tokens=counts.cache_creation_input_tokens or 0,
        models=(message.model,) if message.model else (),
    )
    for_an_hour = (counts.cache_creation and counts.cache_creation.for_an_hour) or 0
    memory.count(f"{message.id} {line.request_id}", used, line.timestamp, for_an_hour)


def _text(message: _Message | None) -> str:
    parts = decoded([message.content], _PARTS) if message else []
    return shortened(" ".join(part.text for part in parts[0])) if parts else ""
