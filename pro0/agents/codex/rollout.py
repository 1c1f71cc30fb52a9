"""The rollouts of Codex: sessions/{year}/{month}/{day}/rollout-{time}-{id}.jsonl below CODEX_HOME, one event a line."""

import glob
import os
import re
import uuid
from collections.abc import Iterator, Mapping
from datetime import MAXYEAR, UTC, datetime, timedelta
from pathlib import Path

import msgspec

from pro0 import looking
from pro0.agents import first_prompt
from pro0.agents.adapter import SessionView
from pro0.agents.memory import Memory
from pro0.agents.transcripts import FAR, Moment, head, last_words, matching, shortened, tail
from pro0.decoding import decoder
from pro0.model.runtime import State
from pro0.model.screen import LastWords, Reading
from pro0.rules.screens.words import Words

_ID = re.compile(r"rollout-.*-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl")
_CANDIDATES = 20
_LAST_YEAR = datetime(MAXYEAR, 1, 1, tzinfo=UTC).timestamp()
"""An id may have a later time, too late for a `datetime`."""
_ROLLOUT = "rollout"


class _Error(msgspec.Struct):
    message: str = ""


class _Payload(msgspec.Struct):
    type: str = ""
    error: _Error | None = None
    reason: str = ""
    turn_id: str = ""
    last_agent_message: str | None = None


class _Line(msgspec.Struct):
    type: str
    timestamp: Moment
    payload: _Payload


_LINE = decoder(_Line)
EVENTS = Words(
    source=_ROLLOUT,
    place="event",
    states={
        **dict.fromkeys(("task_started", "turn_started"), State.WORKING),
        **dict.fromkeys(("task_complete", "turn_complete", "turn_aborted"), State.IDLE),
        **dict.fromkeys(
            (
                *("token_count", "item_completed", "user_message", "agent_message", "agent_reasoning", "plan_update"),
                *("agent_reasoning_raw_content", "exec_command_end", "patch_apply_end", "mcp_tool_call_end"),
                *("web_search_end", "image_generation_end", "view_image_tool_call", "sub_agent_activity"),
                *("thread_settings_applied", "thread_name_updated", "thread_goal_updated", "thread_rolled_back"),
                *("context_compacted", "undo_completed", "entered_review_mode", "exited_review_mode"),
                *("error", "warning", "stream_error", "deprecation_notice", "hook_started", "hook_completed"),
                *("model_reroute", "model_verification", "mcp_startup_complete", "turn_diff"),
                *("shutdown_complete", "realtime_conversation_closed", "background_event"),
            ),
            None,
        ),
    },
)
"""Events beginning or ending a turn, and neutral events; the latter come at any time, even after the end."""
_EVENT = "event_msg"


def began(session_view: SessionView) -> bool:
    """Return True when the session has a rollout."""
    session = session_view.session
    return bool(session) and _by_id(session_view, session, surely=True) is not None


def look(session_view: SessionView, memory: Memory) -> Reading | None:
    """Read the state from the last event of a turn; permissions are only in the title."""
    path = rollout(session_view, memory)
    if path is None:
        return None
    session, last_event = id_of(path), _last_turn(path)
    if last_event is None:
        going_on = Reading(state=State.WORKING, source=_ROLLOUT, rule="a turn goes on", session=session)
        return going_on if _reaches_further(path) else None
    line, state = last_event
    if line.timestamp < session_view.started_at:  # of an earlier session, maybe killed in its turn
        return None
    if state is State.UNKNOWN:
        return EVENTS.reading(line.payload.type, session)
    if line.payload.error:
        note = shortened(line.payload.error.message)
        return Reading(state=State.ERROR, source=_ROLLOUT, rule="failed turn", note=note, session=session)
    return Reading(state=state, source=_ROLLOUT, rule=line.payload.type, session=session)


def _last_turn(path: Path) -> tuple[_Line, State] | None:
    """Return the event deciding the turn's state; None when it is too far back, or nothing can be read."""
    for size in (64 << 10, FAR):
        events = [line for line in tail(path, _LINE, size) if line.type == _EVENT]
        if any(EVENTS.states.get(line.payload.type) for line in events):
            return EVENTS.state_entry(events, lambda line: line.payload.type)
    return None


def _reaches_further(path: Path) -> bool:
    """Return True for a readable rollout longer than the part read: its turn still runs."""
    try:
        return bool(head(path, 1)) and path.stat().st_size > FAR
    except FileNotFoundError:
        return False


def read_last_words(session_view: SessionView, memory: Memory) -> LastWords | None:
    """Return the last words of the newest turn: the event at its end names them."""
    path = rollout(session_view, memory)
    return memory.words(lambda: _last_words(path, session_view.started_at), path) if path else None


def _last_words(path: Path, since: datetime) -> LastWords | None:
    for line in reversed(tail(path, _LINE, FAR)):
        if line.type == _EVENT and line.payload.last_agent_message and line.timestamp >= since:
            return last_words(line.payload.last_agent_message, line.payload.turn_id or line.timestamp.isoformat())
    return None


def rollout(session_view: SessionView, memory: Memory) -> Path | None:
    """Return the rollout of the present conversation, by its id, or by its first prompt while the id is unknown."""
    return rollout_of(session_view, memory, memory.conversation or session_view.session)


def rollout_of(session_view: SessionView, memory: Memory, conversation: str) -> Path | None:
    """Return the rollout of a conversation; with an empty id, the one that has the first prompt."""
    name = f"{_ROLLOUT} {conversation}"
    if (remembered := memory.files.get(name)) and looking.exists(remembered):
        return remembered
    path = _by_id(session_view, conversation) if conversation else _begun(session_view)
    if path:
        memory.files[name] = path
    return path


def _by_id(session_view: SessionView, conversation: str, *, surely: bool = False) -> Path | None:
    far = matching(_sessions(session_view.environment), "*", "*", "*", _name(conversation), surely=surely)
    return next(near(session_view, conversation, surely=surely), None) or next(far, None)


def near(session_view: SessionView, conversation: str, *, surely: bool = False) -> Iterator[Path]:
    """Yield the rollout of a conversation in the folders of the days around its creation."""
    root, day = _sessions(session_view.environment), creation_time(conversation)
    days = [_folder(root, day + timedelta(days=n)) for n in (0, -1, 1)] if day else []
    return (path for folder in days for path in matching(folder, _name(conversation), surely=surely))


def _name(conversation: str) -> str:
    return f"rollout-*-{glob.escape(conversation)}.jsonl"


def creation_time(session: str) -> datetime | None:
    """Return the creation time in a UUID of version 7; None for any other id."""
    try:
        id = uuid.UUID(session)
    except ValueError:
        return None
    seconds = (id.int >> 80) / 1000
    return datetime.fromtimestamp(seconds, UTC) if id.version == 7 and seconds < _LAST_YEAR else None


def _begun(session_view: SessionView) -> Path | None:
    """Return the first rollout since the session's start with its folder and its first prompt."""
    prompt = first_prompt.load(session_view.folder)
    if not prompt:
        return None
    prompt_text, *places = [
        msgspec.json.encode(text)[1:-1]
        for text in (prompt.strip(), session_view.cwd, os.path.realpath(session_view.cwd))
    ]
    root, since = _sessions(session_view.environment), session_view.started_at
    days = [_folder(root, since + timedelta(days=n)) for n in (-1, 0, 1)]
    fresh = sorted(path for folder in days for path in folder.glob("rollout-*.jsonl") if _since(path, since))
    for path in fresh[-_CANDIDATES:]:
        begin = head(path, FAR)
        if prompt_text in begin and any(place in begin for place in places):
            return path
    return None


def _since(path: Path, moment: datetime) -> bool:
    begun_at = creation_time(id_of(path))
    return begun_at is not None and begun_at >= moment


def id_of(path: Path) -> str:
    """Return the id of a rollout's conversation, empty for another file."""
    match = _ID.fullmatch(path.name)
    return match[1] if match else ""


def _sessions(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("CODEX_HOME") or Path(environment.get("HOME", "/"), ".codex"), "sessions")


def _folder(root: Path, day: datetime) -> Path:
    return root / f"{day:%Y}" / f"{day:%m}" / f"{day:%d}"
