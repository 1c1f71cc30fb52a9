"""A running pi: its bridge's reports, its inbox, and its transcript, sessions/{folder}/{time}_{id}.jsonl."""

import glob
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec

from pro0.agents import first_prompt
from pro0.agents.adapter import SessionView
from pro0.agents.memory import Memory
from pro0.agents.transcripts import FAR, decoded, last_words, shortened, tail, value
from pro0.model.need import AskedPermission, PermissionAnswer
from pro0.model.runtime import State
from pro0.model.screen import LastWords, Reading
from pro0.model.usage import Usage
from pro0.rules.screens.words import Words

FOLDER = "PRO0_BRIDGE"
"""The variable naming the session's folder to the bridge."""
SETTINGS = "bridge.json"
STATE = "state.json"
INBOX = "inbox"
ANSWERS = "answers"
HAND_OVER = 5.0
"""The time limit of the bridge to empty its inbox, in seconds; longer means pi is stuck."""
_PAUSE = 0.05
_TRANSCRIPT = "transcript"


class _Settled(msgspec.Struct):
    """The question answered last, and whether by us."""

    key: str = ""
    elsewhere: bool = False


class _Bridge(msgspec.Struct):
    """The bridge's report."""

    state: object = ""
    session: str = ""
    file: str = ""
    turns: int = 0
    error: str = ""
    note: str = ""
    asks: list[AskedPermission] = []
    settled: _Settled = msgspec.field(default_factory=_Settled)


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
    timestamp: datetime | None = None
    message: _Message | None = None


_BRIDGE = msgspec.json.Decoder(_Bridge)
_LINE = msgspec.json.Decoder(_Line)
_PARTS = msgspec.json.Decoder(list[_Part])
_FINAL = ("stop", "length")
"""Why an answer ended that ends its turn."""
STATES = Words(
    source="bridge",
    place="state",
    states={
        "starting": State.STARTING,
        "idle": State.IDLE,
        "working": State.WORKING,
        "waiting": State.WAITING,
    },
)


def look(session_view: SessionView, _memory: Memory) -> Reading | None:
    """Read the state from the bridge's report."""
    bridge = value(Path(session_view.folder, STATE), _BRIDGE)
    if not bridge:
        return None
    state = STATES.meaning(bridge.state)
    if state is None or state is State.UNKNOWN:
        return STATES.reading(bridge.state, bridge.session)
    rule, note = str(bridge.state), bridge.note
    if state is State.IDLE and bridge.error:
        state, rule, note = State.ERROR, "failed turn", shortened(bridge.error)
    elif state is State.IDLE and not bridge.turns and first_prompt.load(session_view.folder):
        state, rule = State.STARTING, "the first prompt is not taken yet"
    return Reading(state=state, source="bridge", rule=rule, note=note, session=bridge.session)


def asked(session_view: SessionView) -> tuple[AskedPermission, ...] | None:
    """Return the questions that the bridge asks now, None when it does not say."""
    bridge = value(Path(session_view.folder, STATE), _BRIDGE)
    return tuple(bridge.asks) if bridge else None


def reply(session_view: SessionView, key: str, answer: PermissionAnswer) -> bool:
    """Put an answer where the bridge takes it; return True when it counted, and take an untaken one back."""
    folder = Path(session_view.folder, ANSWERS)
    path, hidden = folder / key.encode().hex(), folder.parent / f"answer-{uuid.uuid4().hex}"
    try:
        hidden.write_bytes(msgspec.json.encode({"choice": answer.choice, "text": answer.text}))
        hidden.rename(path)
    except OSError:
        hidden.unlink(missing_ok=True)
        return False
    deadline = time.monotonic() + HAND_OVER
    while time.monotonic() < deadline:
        bridge = value(Path(session_view.folder, STATE), _BRIDGE)
        if bridge and bridge.settled.key == key:
            break
        time.sleep(_PAUSE)
    with suppress(OSError):
        path.unlink(missing_ok=True)
    bridge = value(Path(session_view.folder, STATE), _BRIDGE)
    return bridge is not None and bridge.settled.key == key and bridge.settled.elsewhere


def deliver(session_view: SessionView, line: str) -> bool:
    """Put a line into the bridge's inbox and wait until it is taken; take an untaken line back."""
    folder = Path(session_view.folder, INBOX)
    name = f"{time.time_ns():020d}-{uuid.uuid4().hex}"
    path, hidden = folder / name, folder.parent / name
    try:
        hidden.write_text(line, encoding="utf-8")
        hidden.rename(path)
    except OSError:
        hidden.unlink(missing_ok=True)
        return False
    deadline = time.monotonic() + HAND_OVER
    while path.exists() and time.monotonic() < deadline:
        time.sleep(_PAUSE)
    with suppress(FileNotFoundError):
        path.unlink()
        return False
    return True


def began(session_view: SessionView) -> bool:
    """Return True when the session has a transcript."""
    return bool(session_view.session) and _search(session_view) is not None


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
    """Return the session's usage since its start, as counted in its transcript."""
    transcript = find_transcript(session_view, memory)
    if transcript is None:
        return memory.total
    for line in memory.follow(transcript).read(_LINE):
        message = line.message
        if message and message.usage and not (line.timestamp and line.timestamp < session_view.started_at):
            memory.count(line.id, _used(message, message.usage))
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
    """Return the session\'s transcript, None while there is none."""
    transcript = memory.files.get(_TRANSCRIPT)
    if transcript is None or not transcript.stem.endswith(session_view.session):
        transcript = _search(session_view) if session_view.session else None
    if transcript:
        memory.files[_TRANSCRIPT] = transcript
    return transcript


def _search(session_view: SessionView) -> Path | None:
    name = f"*_{glob.escape(session_view.session)}.jsonl"
    return next(_sessions(session_view.environment).glob(f"*/{name}"), None)


def _sessions(environment: Mapping[str, str]) -> Path:
    home = Path(environment.get("PI_CODING_AGENT_DIR") or Path(environment.get("HOME", "/"), ".pi/agent"))
    return Path(environment.get("PI_CODING_AGENT_SESSION_DIR") or home / "sessions")
