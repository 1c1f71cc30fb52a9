"""The person's own terminal: check for it, and ask a question on it without showing the answer.

Nothing else will do: arguments, the environment and stdin may come from anybody.
"""

import os
import termios
from contextlib import suppress

TERMINAL = "/dev/tty"
LONGEST = 1024


def has_terminal() -> bool:
    """Return True when this process has a controlling terminal; cron, hooks and `tmux run-shell` have none."""
    with suppress(OSError):
        os.close(_opened())
        return True
    return False


def hidden(question: str) -> str:
    """Ask on the terminal, hide the typed answer, and return it; raises OSError without a terminal."""
    terminal = _opened()
    try:
        before = termios.tcgetattr(terminal)
        quiet = [*before]
        quiet[3] &= ~termios.ECHO
        try:
            termios.tcsetattr(terminal, termios.TCSAFLUSH, quiet)  # keys typed before the question are no answer
            os.write(terminal, question.encode())
            return _line(terminal)
        finally:
            termios.tcsetattr(terminal, termios.TCSANOW, before)
            os.write(terminal, b"\n")
    except termios.error as error:
        raise OSError(*error.args) from None
    finally:
        os.close(terminal)


def _opened() -> int:
    return os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)


def _line(terminal: int) -> str:
    data = b""
    while not data.endswith(b"\n") and len(data) < LONGEST:
        part = os.read(terminal, LONGEST)
        if not part:
            break
        data += part
    return data.decode(errors="surrogateescape").rstrip("\r\n")
