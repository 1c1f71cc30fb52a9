"""A running pi: its transcript, sessions/{folder}/{time}_{id}.jsonl."""

import glob
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from pro0.agents.adapter import SessionView
from pro0.agents.bridge.reports import report_of
from pro0.agents.memory import Memory
from pro0.agents.transcripts import FAR, Moment, decoded, last_words, matching, tail
from pro0.decoding import decoder
from pro0.model.screen import LastWords
from pro0.model.usage import Usage

FOLDER = "PRO0_BRIDGE"
"""The variable naming the session's folder to the bridge."""
SETTINGS = "bridge.json"


class _Cost(msgspec.Struct):
    total: float = 0


class _Counts(msgspec.Struct, rename="camel"):
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: _Cost = msgspec.field(default_factory=_Cost)


class _Message(msgspec.Struct):
    role: str = ""
    model: str = ""
    usage: _Counts | None = None
    stop_reason: str = msgspec.field(default="", name="stopReason")
    content: msgspec.Raw = msgspec.Raw(b"[]")


class _Part(msgspec.Struct):
    type: str = ""
    text: str = ""


class _Line(msgspec.Struct):
    id: str = ""
    timestamp: Moment | None = None
    message: _Message | None = None


_LINE = decoder(_Line)
_PARTS = decoder(list[_Part])
_FINAL = ("stop", "length")
"""The stop reasons of an answer that ends its turn."""


def began(session_view: SessionView) -> bool:
    """Return True when the session has a transcript."""
    return bool(session_view.session) and _search(session_view, session_view.session, surely=True) is not None


def read_last_words(session_view: SessionView, memory: Memory) -> LastWords | None:
    """Return the last words of the newest turn: the text of the last answer that ended one."""
    path = find_transcript(session_view, memory)
    return memory.words(lambda: _last_words(path, session_view.started_at), path) if path else None


def _last_words(path: Path, since: datetime) -> LastWords | None:
    for line in reversed(tail(path, _LINE, FAR)):
        message = line.message
        if message and message.role == "assistant" and message.stop_reason in _FINAL:
            if line.timestamp and line.timestamp < since:
                return None
            parts = [part.text for found in decoded([message.content], _PARTS) for part in found if part.type == "text"]
            return last_words("\n\n".join(parts), line.id)
    return None


def usage(session_view: SessionView, memory: Memory) -> Usage | None:
    """Return the session's usage since its start, as counted in the transcripts of all its conversations.

    A fork begins with a copy of its origin, which counts once. The bridge also reports conversations that ended before
    the first look.
    """
    report = report_of(session_view)
    earlier = (*session_view.earlier, *(report.earlier if report else ()))
    for conversation in dict.fromkeys((*earlier, session_view.session)):
        transcript = _transcript(session_view, memory, conversation)
        for line in memory.follow(transcript).read(_LINE) if transcript else ():
            message = line.message
            if message and message.usage and not (line.timestamp and line.timestamp < session_view.started_at):
                memory.count(f"{line.id} {line.timestamp}", _used(message, message.usage), line.timestamp)
    return memory.total


def _used(message: _Message, counts: _Counts) -> Usage:
    return Usage(
        input_tokens=counts.input,
        output_tokens=counts.output,
        cache_read_tokens=counts.cache_read,
        cache_write_tokens=counts.cache_write,
        cost_usd=counts.cost.total or None,  # 0 for a model without a known price
        models=(message.model,) if message.model else (),
    )


def find_transcript(session_view: SessionView, memory: Memory) -> Path | None:
    """Return the session's transcript, None while there is none."""
    return _transcript(session_view, memory, session_view.session)


def _transcript(session_view: SessionView, memory: Memory, conversation: str) -> Path | None:
    name = f"transcript {conversation}"
    path = memory.files.get(name) or (_search(session_view, conversation) if conversation else None)
    if path:
        memory.files[name] = path
    return path


def _search(session_view: SessionView, conversation: str, *, surely: bool = False) -> Path | None:
    """Return a conversation's transcript.

    A person may choose the folder: by pi's settings, which only the bridge knows, or by a variable. Then pi makes no
    folders in it.
    """
    name, root = f"*_{glob.escape(conversation)}.jsonl", _sessions(session_view.environment)
    report = report_of(session_view)
    beside = ((Path(report.file).parent, name),) if report and report.file else ()
    places = (*beside, (root, name), (root, "*", name))
    return next((path for place in places for path in matching(*place, surely=surely)), None)


def _sessions(environment: Mapping[str, str]) -> Path:
    home = Path(environment.get("PI_CODING_AGENT_DIR") or Path(environment.get("HOME", "/"), ".pi/agent"))
    return Path(environment.get("PI_CODING_AGENT_SESSION_DIR") or home / "sessions")
