"""The transcripts of Gemini CLI: tmp/{project}/chats/session-{time}-{first letters of the id}.jsonl below ~/.gemini."""

import glob
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from pro0.agents import first_prompt
from pro0.agents.adapter import SessionView
from pro0.agents.gemini.memory import begins_with, conversation
from pro0.agents.memory import Memory
from pro0.agents.transcripts import FAR, changed, decoded, head, last_words, shortened, tail
from pro0.decoding import decoder
from pro0.model.runtime import State
from pro0.model.screen import LastWords, Reading
from pro0.model.usage import Usage
from pro0.rules.screens.words import Words

_LETTERS = 8
"""The number of id letters in the file name."""
_FIRST = 4096


class _Tokens(msgspec.Struct):
    input: int = 0
    output: int = 0
    cached: int = 0
    thoughts: int = 0


class _Line(msgspec.Struct, rename={"session": "sessionId", "calls": "toolCalls"}):
    """A message, or the session in the first line; all other lines are patches of earlier ones."""

    id: str = ""
    type: str = ""
    session: str = ""
    timestamp: datetime | None = None
    content: msgspec.Raw = msgspec.Raw(b'""')
    tokens: _Tokens | None = None
    model: str = ""
    calls: tuple[msgspec.Raw, ...] = ()


KINDS = Words(
    source="transcript",
    place="type",
    states={
        **dict.fromkeys(("user", "gemini"), State.RUNNING),
        "error": State.ERROR,
        **dict.fromkeys(("info", "warning", ""), None),
    },
)
"""The kinds of messages; after a message without failure the title tells if the turn goes on."""
_LINE = decoder(_Line)
_TEXT = decoder(str)


def began(session_view: SessionView) -> bool:
    """Return True when the model has said something and still knows it; otherwise a resume fails or knows nothing."""
    return any(author == "gemini" for path in _chats(session_view) for author, _ in conversation(path))


def look(session_view: SessionView, _memory: Memory) -> Reading | None:
    """Report an untaken first prompt or a failed turn; the title tells everything else.

    It also reports, once, the id of a session with a self-chosen id, as soon as it is known.
    """
    chats = _chats(session_view)
    if chats and (session := _session_of(chats[-1])) != session_view.session:
        rule = "it has taken its first prompt"
        return Reading(state=State.WORKING, source="transcript", rule=rule, session=session)
    lines = [line for path in chats[-1:] for line in tail(path, _LINE)]
    last_line = KINDS.state_entry(lines, lambda line: line.type)
    if not last_line and first_prompt.awaited(session_view):
        # The title says ready while gemini still starts its MCP servers and only queues prompts.
        rule = "the first prompt is not taken yet"
        return Reading(state=State.STARTING, source="transcript", rule=rule, session=session_view.session)
    if not last_line or last_line[1] is State.RUNNING or _before(last_line[0], session_view):
        return None
    line, state = last_line
    if state is State.UNKNOWN:
        return KINDS.reading(line.type, session_view.session)
    note = shortened("".join(decoded([line.content], _TEXT)))
    return Reading(state=State.ERROR, source="transcript", rule="failed turn", note=note, session=session_view.session)


def read_last_words(session_view: SessionView, memory: Memory) -> LastWords | None:
    """Return the last words of the newest turn: an answer without calls of tools, before the next prompt or the end."""
    chats = _chats(session_view)[-1:]
    return memory.words(lambda: _last_words(chats[0], session_view), chats[0]) if chats else None


def _last_words(path: Path, session_view: SessionView) -> LastWords | None:
    answer, over = None, False
    for line in tail(path, _LINE, FAR):
        if line.type == "gemini":
            answer, over = line, False
        elif line.type == "user":
            over = True
    if answer is None or answer.calls or _before(answer, session_view):
        return None
    return last_words("".join(decoded([answer.content], _TEXT)), answer.id, over=over)


def newest_chat(session_view: SessionView) -> Path | None:
    """Return the session's newest transcript, None while there is none."""
    return next(iter(_chats(session_view)[-1:]), None)


def usage(session_view: SessionView, memory: Memory) -> Usage | None:
    """Return the session's usage since its start; of a rewritten message the last version counts."""
    for line in (line for path in _chats(session_view) for line in memory.follow(path).read(_LINE)):
        if line.tokens and not _before(line, session_view):
            memory.count(line.id, _used(line, line.tokens))
    return memory.total


def _before(line: _Line, session_view: SessionView) -> bool:
    return line.timestamp is not None and line.timestamp < session_view.started_at


def _used(line: _Line, tokens: _Tokens) -> Usage:
    return Usage(
        input_tokens=max(0, tokens.input - tokens.cached),
        output_tokens=tokens.output + tokens.thoughts,
        cache_read_tokens=tokens.cached,
        models=(line.model,) if line.model else (),
    )


def _chats(session_view: SessionView) -> list[Path]:
    """Return the transcripts of the session, newest last; a resumed session leaves a second, almost empty one.

    A session with a self-chosen id is found by its first prompt. After a restart of Gemini it is another transcript.
    """
    chosen = session_view.session == Path(session_view.folder).name
    name = f"session-*-{glob.escape(session_view.session[:_LETTERS])}.jsonl"
    chats = _home(session_view.environment).glob(f"tmp/*/chats/{name}") if session_view.session else ()
    chats_of_session = sorted((path for path in chats if _session_of(path) == session_view.session), key=changed)
    return chats_of_session if chosen and chats_of_session else _told_first(session_view) or chats_of_session


def _told_first(session_view: SessionView) -> list[Path]:
    """Return the newest transcript since the session's start beginning with its first prompt."""
    prompt = first_prompt.load(session_view.folder) if session_view.folder else ""
    since = session_view.started_at.timestamp()
    chats = _home(session_view.environment).glob("tmp/*/chats/session-*.jsonl") if prompt else ()
    lately = sorted((path for path in chats if changed(path) >= since), key=changed)
    return [path for path in lately if begins_with(path, prompt)][-1:]


def _session_of(path: Path) -> str:
    header = decoded(head(path, _FIRST).split(b"\n")[:1], _LINE)
    return header[0].session if header else ""


def _home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("GEMINI_CLI_HOME") or environment.get("HOME", "/"), ".gemini")
