"""Who this process passes for: `probe.py TASK FILE` tries to give a verdict on a task, and to make itself a grant.

FILE has one line of JSON: who it is taken for, and how the two acts ended: an exit code, or that a PIN was asked for.
"""

import json
import os
import signal
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from pro0.cli.main import main
from pro0.errors import Pro0Error
from pro0.ops.context import caller_of
from pro0.store.paths import home

ASKED = "asked for the PIN"


def who() -> str:
    """Return the agent id that this process is taken for, or why it is taken for nobody."""
    try:
        return caller_of(os.environ, home(os.environ))[0].agent_id
    except Pro0Error as error:
        return error.code


def attempt(*words: str) -> int | str:
    """Run a command of pro0; leave it when it asks for a PIN, which shows by a terminal that echoes no more."""
    terminal = _terminal()
    if terminal is not None:
        _echo(terminal)
    child = os.fork()
    if child == 0:
        silent = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(silent, descriptor)
        os._exit(main([*words]))
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if terminal is not None and not termios.tcgetattr(terminal)[3] & termios.ECHO:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return ASKED
        time.sleep(0.02)


def _terminal() -> int | None:
    with suppress(OSError):
        return os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    return None


def _echo(terminal: int) -> None:
    values = termios.tcgetattr(terminal)
    values[3] |= termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, values)


if __name__ == "__main__":
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    task, file = sys.argv[1], Path(sys.argv[2])
    found = {"who": who(), "approve": attempt("task", "approve", task, "-t", "alpha")}
    found["env"] = attempt("member", "env", "w2", "-t", "alpha")
    file.with_suffix(".new").write_text(json.dumps(found))
    file.with_suffix(".new").rename(file)
