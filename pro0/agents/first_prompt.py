"""The first prompt of a session: in argv, or in a file when too long (behaviour 3.6)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from pro0 import looking
from pro0.agents.adapter import Brief, SessionView
from pro0.model.screen import Screen

IN_ARGV = 64 * 1024
"""The longest prompt passed whole in argv, in bytes; Linux takes 128 KiB in one word."""
FILE = "prompt.md"
"""The copy of the first prompt in the session's folder; it identifies a session with a late id."""
UNTAKEN = "the first prompt is not taken yet"
SHOWN = 24
"""Characters at a prompt's beginning by which it is recognized on a screen."""
TAKING = timedelta(minutes=2)
"""How long the first prompt may count as untaken; after that, it is never reported as untaken."""


def words(brief: Brief) -> tuple[str, dict[str, bytes]]:
    """Return the agent's first prompt, empty for none, and the file with its full text."""
    if not brief.prompt:
        return "", {}
    text = brief.prompt.encode(errors="replace")
    return _short(text, brief.folder), {FILE: text}


def load(folder: str) -> str:
    """Return the first prompt given to the agent of that folder, empty for none."""
    try:
        return _short(Path(folder, FILE).read_bytes(), folder)
    except OSError:
        return ""


def whole(folder: str) -> str:
    """Return the full text of the first prompt in that folder, even when argv held only its path; empty for none."""
    try:
        return Path(folder, FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def written(folder: str) -> datetime:
    """Return the moment when the first prompt of that folder was written; raises OSError for none."""
    return datetime.fromtimestamp(Path(folder, FILE).stat().st_mtime, UTC)


def was_given(folder: str) -> bool:
    """Return True when the session of that folder was started with a prompt."""
    return looking.is_file(Path(folder, FILE))


def awaited(session_view: SessionView) -> bool:
    """Return True when a session was started with a prompt recently and may not have taken it yet."""
    return was_given(session_view.folder) and datetime.now(UTC) - session_view.started_at < TAKING


def untaken(session_view: SessionView, screen: Screen | None) -> bool:
    """Return True when an idle screen shows nothing of the first prompt, which may not be taken yet."""
    if screen is None or not awaited(session_view):
        return False
    beginning = "".join(load(session_view.folder).split())[:SHOWN]
    return beginning not in "".join("".join(screen.rows).split())


def holds(session_view: SessionView, text: str) -> bool:
    """Return True when a text in a session's input is a part of its first prompt, which may not be taken yet."""
    return awaited(session_view) and "".join(text.split()) in "".join(load(session_view.folder).split())


def is_long(prompt: str) -> bool:
    """Return True when the agent reads this prompt from its file."""
    return len(prompt.encode(errors="replace")) > IN_ARGV


def _short(text: bytes, folder: str) -> str:
    if len(text) <= IN_ARGV:
        return text.decode(errors="replace")
    return f"Read the whole file {folder}/{FILE} and do what it says."
