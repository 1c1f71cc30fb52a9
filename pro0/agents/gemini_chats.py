"""The transcripts of Gemini CLI: tmp/{project}/chats/session-{time}-{first letters of the id}.jsonl below ~/.gemini."""

import glob
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from pro0.agents.adapter import Sight
from pro0.agents.memory import Memory
from pro0.agents.transcripts import decoded, head, shortened, tail
from pro0.model.runtime import State
from pro0.model.screen import Reading, Usage

_LETTERS = 8
"""Of a session's id, so many are in the name of its file."""
_FIRST = 4096
_CHAT = "chat"


class _Tokens(msgspec.Struct):
    input: int = 0
    output: int = 0
    cached: int = 0
    thoughts: int = 0


class _Line(msgspec.Struct, rename={"session": "sessionId"}):
    """A message, or in the first line the session; all else are patches of what was written before."""

    id: str = ""
    type: str = ""
    session: str = ""
    timestamp: datetime | None = None
    content: msgspec.Raw = msgspec.Raw(b'""')
    tokens: _Tokens | None = None
    model: str = ""


_LINE = msgspec.json.Decoder(_Line)
_TEXT = msgspec.json.Decoder(str)


def began(sight: Sight) -> bool:
    """Return whether there is a transcript of the session."""
    return _search(sight) is not None


def look(sight: Sight, memory: Memory) -> Reading | None:
    """Return that the last turn failed, when it did; its title tells everything else."""
    path = _chat(sight, memory)
    said = [line for line in tail(path, _LINE) if line.type in ("user", "gemini", "error")] if path else []
    if not said or said[-1].type != "error" or _before(said[-1], sight):
        return None
    note = shortened("".join(decoded([said[-1].content], _TEXT)))
    return Reading(state=State.ERROR, source="transcript", rule="failed turn", note=note, session=sight.session)


def usage(sight: Sight, memory: Memory) -> Usage | None:
    """Return what the session has used since it was started; of a message that is written again the last counts."""
    path = _chat(sight, memory)
    for line in memory.follow(path).read(_LINE) if path else ():
        if line.tokens and not _before(line, sight):
            memory.count(line.id, _used(line, line.tokens))
    return memory.total


def _before(line: _Line, sight: Sight) -> bool:
    return line.timestamp is not None and line.timestamp < sight.started_at


def _used(line: _Line, tokens: _Tokens) -> Usage:
    return Usage(
        input_tokens=max(0, tokens.input - tokens.cached),
        output_tokens=tokens.output + tokens.thoughts,
        cache_read_tokens=tokens.cached,
        models=(line.model,) if line.model else (),
    )


def _chat(sight: Sight, memory: Memory) -> Path | None:
    found = memory.found.get(_CHAT) or _search(sight)
    if found:
        memory.found[_CHAT] = found
    return found


def _search(sight: Sight) -> Path | None:
    name = f"session-*-{glob.escape(sight.session[:_LETTERS])}.jsonl"
    chats = _home(sight.environment).glob(f"tmp/*/chats/{name}") if sight.session else ()
    return next((path for path in chats if _is_of(path, sight.session)), None)


def _is_of(path: Path, session: str) -> bool:
    first = decoded(head(path, _FIRST).split(b"\n")[:1], _LINE)
    return bool(first) and first[0].session == session


def _home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("GEMINI_CLI_HOME") or environment.get("HOME", "/"), ".gemini")
