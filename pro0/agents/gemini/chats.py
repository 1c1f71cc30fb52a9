"""The transcripts of Gemini CLI: tmp/{project}/chats/session-{time}-{first letters of the id}.jsonl below ~/.gemini."""

import glob
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from pro0.agents import first_prompt
from pro0.agents.adapter import SessionView
from pro0.agents.gemini import conversations, home
from pro0.agents.gemini.memory import begins_with, has_answered, name_of, of_session, session_of
from pro0.agents.memory import Memory
from pro0.agents.transcripts import FAR, Moment, changed, decoded, last_words, matching, shortened, tail
from pro0.decoding import decoder
from pro0.model.runtime import State
from pro0.model.screen import LastWords, Reading
from pro0.model.usage import Usage
from pro0.rules.screens.words import Words

_LOADED = "loaded"
"""The key in a session's memory for the transcript that a resumed session has loaded."""


class _Tokens(msgspec.Struct):
    input: int = 0
    output: int = 0
    cached: int = 0
    thoughts: int = 0


class _Line(msgspec.Struct, rename={"calls": "toolCalls"}):
    """A message; all other lines are the header, or patches of earlier ones."""

    id: str = ""
    type: str = ""
    timestamp: Moment | None = None
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
    return any(map(has_answered, _chats(session_view, surely=True)))


def look(session_view: SessionView, memory: Memory) -> Reading | None:
    """Report an untaken first prompt, an unloaded conversation or a failed turn; the title tells everything else.

    It also reports, once each, an id chosen by Gemini itself, as soon as it is known, and the id of each conversation
    that the hooks have noted.
    """
    ids = conversations.known(session_view.folder)
    session = ids[-1] if ids else session_view.session
    reading = _look(replace(session_view, session=session), memory, is_another=len(ids) > 1)
    if reading is None and session != session_view.session:  # only the id is news
        return Reading(state=State.UNKNOWN, source="process", session=session)
    return reading


def _look(session_view: SessionView, memory: Memory, *, is_another: bool) -> Reading | None:
    """Read the present conversation; only a session's first one can wait for its first prompt, or still load."""
    chats = _chats(session_view)
    if chats and (session := session_of(chats[-1])) != session_view.session:
        rule = "it has taken its first prompt"
        return Reading(state=State.WORKING, source="transcript", rule=rule, session=session)
    if not is_another and _loads(session_view, chats, memory):
        rule = "its conversation is not loaded yet"
        return Reading(state=State.STARTING, source="transcript", rule=rule, session=session_view.session)
    lines = [line for path in chats[-1:] for line in tail(path, _LINE)]
    last_line = KINDS.state_entry(lines, lambda line: line.type)
    if not last_line and not is_another and first_prompt.awaited(session_view):
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


def _loads(session_view: SessionView, chats: Sequence[Path], memory: Memory) -> bool:
    """Return True while a resumed session has not loaded its conversation: it would forget a turn that begins now.

    The title already says ready. Nothing changes the earlier transcript before it is loaded.
    """
    since = session_view.started_at
    resumed = session_view.session != Path(session_view.folder).name and not first_prompt.was_given(session_view.folder)
    if not resumed or _LOADED in memory.files or datetime.now(UTC) - since >= first_prompt.TAKING:
        return False
    lately = [path for path in chats if changed(path) >= since.timestamp()]
    for path in filter(has_answered, lately):
        memory.files[_LOADED] = path
    return bool(chats) and _LOADED not in memory.files


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
    """Return the usage of all its conversations and their subagents since its start.

    Of a rewritten message the last version counts. The subagents' transcripts are in a folder named by the session.
    """
    earlier = dict.fromkeys((*session_view.earlier, *conversations.known(session_view.folder)))
    chats = (*(path for session in earlier for path in _of(session_view, session)), *_chats(session_view))
    ids = dict.fromkeys((path.parent, session_of(path)) for path in chats)
    subagents = (path for folder, id in ids if id for path in sorted(matching(folder, glob.escape(id), "*.jsonl")))
    for line in (line for path in (*chats, *subagents) for line in memory.follow(path).read(_LINE)):
        if line.tokens and not _before(line, session_view):
            memory.count(line.id, _used(line, line.tokens), line.timestamp)
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


def _chats(session_view: SessionView, *, surely: bool = False) -> list[Path]:
    """Return the transcripts of the session, newest last; a resumed session leaves a second, almost empty one.

    When no hook has noted the conversation, and Gemini has chosen its id, the transcript is found by the first prompt.
    After a restart of Gemini this is another transcript.
    """
    if ids := conversations.known(session_view.folder):
        return _of(session_view, ids[-1], surely=surely)
    chosen = session_view.session == Path(session_view.folder).name
    chats_of_session = _of(session_view, session_view.session, surely=surely)
    return chats_of_session if chosen and chats_of_session else _told_first(session_view) or chats_of_session


def _of(session_view: SessionView, session: str, *, surely: bool = False) -> list[Path]:
    """Return the transcripts of one conversation, newest last."""
    data, name = home.data(session_view.environment), name_of(session)
    return of_session(matching(data, "tmp", "*", "chats", name, surely=surely) if session else (), session)


def _told_first(session_view: SessionView) -> list[Path]:
    """Return the newest transcript since the session's start with its first prompt at the beginning."""
    prompt = first_prompt.load(session_view.folder) if session_view.folder else ""
    since = session_view.started_at.timestamp()
    chats = matching(home.data(session_view.environment), "tmp", "*", "chats", "session-*.jsonl") if prompt else ()
    lately = sorted((path for path in chats if changed(path) >= since), key=changed)
    return [path for path in lately if begins_with(path, prompt)][-1:]
