"""What an agent of our own says: to its guard its state, to whoever looks at its pane what it does."""

import os
import sys
from contextlib import suppress

import msgspec

from pro0.model.runtime import State
from pro0.rules.text import visible

STATE_DESCRIPTOR = "PRO0_STATE_FD"
"""The variable with which a guard names the pipe that states go to."""


class Voice:
    """Speaks to the guard and to the pane; neither may be there."""

    def __init__(self) -> None:
        number = os.environ.pop(STATE_DESCRIPTOR, "")
        self._guard = int(number) if number.isdigit() else None
        if self._guard is not None:
            os.set_inheritable(self._guard, False)

    def state(self, state: State, task: str | None = None, note: str = "") -> None:
        """Report what this session does now."""
        if self._guard is not None:
            line = msgspec.json.encode({"state": state, "task": task, "note": note}) + b"\n"
            with suppress(OSError):
                os.write(self._guard, line)

    def say(self, text: str) -> None:
        """Show one line of pro0's own in the pane, control characters made visible."""
        self.pass_on(f"── {visible(text)}\n".encode())

    def pass_on(self, output: bytes) -> None:
        """Show a command's output as it is."""
        with suppress(OSError):
            sys.stdout.buffer.write(output)
            sys.stdout.buffer.flush()
