"""Reports of pro0's own agents: states to the guard, text to the pane."""

import os
import sys
from contextlib import suppress

import msgspec

from pro0.model.runtime import State
from pro0.rules.text import visible

STATE_DESCRIPTOR = "PRO0_STATE_FD"
"""The variable with the number of the guard's state pipe."""


class AgentOutput:
    """Reports to the guard and the pane. Either may be missing."""

    def __init__(self) -> None:
        number = os.environ.pop(STATE_DESCRIPTOR, "")
        self._guard = int(number) if number.isdigit() else None
        if self._guard is not None:
            os.set_inheritable(self._guard, False)

    def state(self, state: State, task: str | None = None, note: str = "") -> None:
        """Report this session's current state."""
        if self._guard is not None:
            line = msgspec.json.encode({"state": state, "task": task, "note": note}) + b"\n"
            with suppress(OSError):
                os.write(self._guard, line)

    def say(self, text: str) -> None:
        """Show one line of pro0's own in the pane, with control characters made visible."""
        self.pass_on(f"── {visible(text)}\n".encode())

    def pass_on(self, output: bytes) -> None:
        """Show a command's output unchanged."""
        with suppress(OSError):
            sys.stdout.buffer.write(output)
            sys.stdout.buffer.flush()
