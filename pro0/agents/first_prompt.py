"""The first prompt of a session: in argv, or in a file when it is too long for that (behaviour 3.6)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from pro0.agents.adapter import Brief, Sight

IN_ARGV = 64 * 1024
"""Bytes of a prompt that goes into argv whole; Linux takes 128 KiB in one word."""
FILE = "prompt.md"
"""Every first prompt is in the session's folder too: by it a session is known again that got its id later."""
TAKING = timedelta(minutes=2)
"""How long a session may take until it takes its first prompt: one that has not by then says so nowhere."""


def words(brief: Brief) -> tuple[str, dict[str, bytes]]:
    """Return what the agent gets as its first prompt, empty for none, and the file with the whole of it."""
    if not brief.prompt:
        return "", {}
    text = brief.prompt.encode(errors="replace")
    return _short(text, brief.folder), {FILE: text}


def given(folder: str) -> str:
    """Return what the agent of that folder got as its first prompt, empty for none."""
    try:
        return _short(Path(folder, FILE).read_bytes(), folder)
    except OSError:
        return ""


def was_given(folder: str) -> bool:
    """Return whether the session of that folder was started with a prompt."""
    return Path(folder, FILE).is_file()


def awaited(sight: Sight) -> bool:
    """Return whether a session was started with a prompt, so lately that it may not have taken it yet."""
    return was_given(sight.folder) and datetime.now(UTC) - sight.started_at < TAKING


def is_long(prompt: str) -> bool:
    """Return whether a prompt is read from its file."""
    return len(prompt.encode(errors="replace")) > IN_ARGV


def _short(text: bytes, folder: str) -> str:
    if len(text) <= IN_ARGV:
        return text.decode(errors="replace")
    return f"Read the whole file {folder}/{FILE} and do what it says."
