"""How an idle Claude Code is woken without a key: a hook that waits (`waiter`), and the line put before it.

Claude starts the hook beside its turns and begins a turn when it exits with a certain code; in the middle of a turn the
line comes after the next tool. Measured with 2.1.330.
"""

import os
import shlex
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path

from pro0.agents.adapter import SessionView
from pro0.agents.claude import waiter

EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop")
"""What starts a waiter where none waits; no event tells of the end of a turn that a person stopped."""
PATIENCE = 7 * 24 * 3600
"""Seconds for which Claude lets the hook wait."""
HAND_OVER = 5.0
"""Seconds for a line to be taken: a waiter may just be starting."""
_PAUSE = 0.05


def hook(folder: str) -> dict[str, object]:
    """Return the settings of the hook."""
    line = shlex.join([sys.executable, "-I", "-S", waiter.__file__, folder])
    # async: a version that cannot be woken must not wait for the hook.
    return {"type": "command", "command": f"exec {line}", "timeout": PATIENCE, "async": True, "asyncRewake": True}


def deliver(session_view: SessionView, line: str) -> bool:
    """Put a line before the waiter and wait until it is taken; take an untaken one back."""
    folder = Path(session_view.folder)
    path, hidden = folder / waiter.LINE, folder / f"line-{uuid.uuid4().hex}"
    if not (folder / waiter.LOCK).exists():
        return False
    try:
        hidden.write_text(line, encoding="utf-8")
        hidden.rename(path)
    except OSError:
        hidden.unlink(missing_ok=True)
        return False
    deadline = time.monotonic() + HAND_OVER
    while path.exists() and time.monotonic() < deadline:
        _ring(folder / waiter.PIPE)
        time.sleep(_PAUSE)
    with suppress(FileNotFoundError):
        path.unlink()
        return False
    return True


def _ring(pipe: Path) -> None:
    """Let the waiter look, if one sleeps."""
    with suppress(OSError):
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW))
