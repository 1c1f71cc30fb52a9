"""The hook agents call at a turn's end: it keeps the agent's last words, and reports new mail, so the agent reads it.

`python -I -m pro0.agents.turn_end MAILBOX FOLDER`, the session's identity in the environment. It speaks the hook
protocol of claude (Stop) and gemini (AfterAgent, by `gemini.hooks`). Each message is announced once, so an agent
ignoring its mail can still end its turn.
"""

import os
import shlex
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import asdict

from pro0.agents.transcripts import last_words, value
from pro0.decoding import decode, decoder
from pro0.model.message import Mailbox
from pro0.model.screen import LastWords
from pro0.rules import mail
from pro0.rules.words import prompts

TOLD = "told"
"""The file in the session's folder with the seq of the newest announced message."""
WORDS = "last-words.json"
"""The file in the session's folder with the last words of its newest turn."""
_INCARNATION = "PRO0_INCARNATION"


class _Kept(LastWords, frozen=True, kw_only=True):
    conversation: str = ""
    """The agent's own id of the conversation, empty for an agent with one conversation for each session."""
    in_another: str = ""
    """The id of the newest turn that ended in another conversation before; empty for none."""


_WORDS = decoder(LastWords)
_KEPT = decoder(_Kept)


def command(mailbox: str, folder: str) -> str:
    """Return the shell command of the hook."""
    return shlex.join([sys.executable, "-I", "-m", __name__, mailbox, folder])


_NAMES = {"claude": "last_assistant_message", "gemini": "prompt_response", "conversation": "session_id"}


class _Event(msgspec.Struct, rename=_NAMES):
    """The fields of a turn's end with the agent's words. Each program has its own name for them."""

    claude: str = ""
    gemini: str = ""
    conversation: str = ""


def keep_words(event: bytes, folder: Path) -> None:
    """Keep the agent's words that came with its event."""
    try:
        event_fields = decode(event, _Event)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return
    if words := last_words(event_fields.claude or event_fields.gemini, str(time.time_ns()), source="hook"):
        new = folder / f"{WORDS}.{os.getpid()}"
        conversation = event_fields.conversation if event_fields.claude else ""
        in_another = _newest_in_another(value(folder / WORDS, _KEPT), conversation)
        new.write_bytes(msgspec.json.encode(_Kept(**asdict(words), conversation=conversation, in_another=in_another)))
        new.replace(folder / WORDS)


def kept_words(folder: Path, conversation: str = "") -> LastWords | None:
    """Return the last words kept by the hook, None for none, or for those of another conversation."""
    record = value(folder / WORDS, _KEPT)
    return None if record and _is_of_another(record, conversation) else value(folder / WORDS, _WORDS)


def ended_in_another(folder: Path, conversation: str) -> datetime | None:
    """Return when the newest turn of any other conversation ended; None when unknown."""
    id = _newest_in_another(value(folder / WORDS, _KEPT), conversation)
    if not id.isdecimal():
        return None
    with suppress(ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(int(id) / 1e9, UTC)
    return None


def _newest_in_another(kept: _Kept | None, conversation: str) -> str:
    if kept is None:
        return ""
    return kept.id if _is_of_another(kept, conversation) else kept.in_another


def _is_of_another(kept: _Kept, conversation: str) -> bool:
    return bool(conversation) and kept.conversation not in ("", conversation)


def answer(mailbox: Path, folder: Path, incarnation: str) -> bytes:
    """Return the hook's output: empty, or an order to go on."""
    try:
        box = decode(mailbox.read_bytes(), Mailbox)
    except (OSError, msgspec.MsgspecError):
        return b""
    news = mail.news(box, incarnation)
    if news.newest <= announced_seq(folder / TOLD):
        return b""
    (folder / TOLD).write_text(str(news.newest), encoding="ascii")
    return msgspec.json.encode({"decision": "block", "reason": prompts.unread_line(news.count)})


def announced_seq(path: Path) -> int:
    """Return the seq in a file of a session's folder, 0 for no such file."""
    with suppress(OSError, ValueError):
        return int(path.read_text(encoding="ascii"))
    return 0


if __name__ == "__main__":
    with suppress(OSError):  # words that cannot be kept must not hide new mail
        keep_words(sys.stdin.buffer.read(), Path(sys.argv[2]))
    with suppress(OSError):
        sys.stdout.buffer.write(answer(Path(sys.argv[1]), Path(sys.argv[2]), os.environ.get(_INCARNATION, "")))
