"""How an idle Claude Code is woken without a key: a hook that waits (`waiter`), and the line put before it.

Claude starts the hook beside its turns, and begins a turn when the hook exits with a certain code. In the middle of a
turn the line comes after the next tool. Measured with 2.1.330.
"""

import shlex
import sys
from pathlib import Path

from pro0 import looking
from pro0.agents.adapter import SessionView
from pro0.agents.bridge import handing
from pro0.agents.claude import waiter

EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop")
"""The events that start a waiter when none waits; the end of a turn stopped by a person causes no event."""
LATER = "resume|clear|compact"
"""The starts of a session after its first prompt: a turn begun by a line before would not know the prompt."""
PATIENCE = 7 * 24 * 3600
"""Seconds for which Claude lets the hook wait."""


def hook(folder: str) -> dict[str, object]:
    """Return the settings of the hook."""
    line = shlex.join([sys.executable, "-I", "-S", waiter.__file__, folder])
    # async: a version that cannot be woken must not wait for the hook.
    return {"type": "command", "command": f"exec {line}", "timeout": PATIENCE, "async": True, "asyncRewake": True}


def hooks(folder: str, *, prompted: bool) -> dict[str, dict[str, object]]:
    """Return the settings of the hook by event; a session started with a prompt takes that prompt first."""
    own: dict[str, object] = {"hooks": [hook(folder)]}
    return {event: {"matcher": LATER, **own} if prompted and event == "SessionStart" else own for event in EVENTS}


def deliver(session_view: SessionView, line: str) -> bool:
    """Hand a line to the waiter, and remove it if it is not taken in time; return True when it was taken."""
    folder = Path(session_view.folder)
    if not looking.exists(folder / waiter.LOCK):
        return False
    return handing.hand_over(folder, folder / waiter.LINE, line.encode(), lambda: handing.ring_at(folder / waiter.PIPE))
