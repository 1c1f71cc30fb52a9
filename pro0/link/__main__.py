"""`python -m pro0.link RECORD`: the program of a session whose agent is on another machine."""

import os
import resource
import signal
import sys
from pathlib import Path
from typing import NoReturn

from pro0.errors import Pro0Error
from pro0.link.near import Link
from pro0.link.screen import LinkScreen, raw
from pro0.model.runtime import Hosted
from pro0.ssh import LOST, NOT_BEGUN
from pro0.store.files import File

STOPS = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
"""Signals that end no program, whatever another machine says: after one the link would wait for SIGCONT for ever."""


def main(words: list[str]) -> NoReturn:
    """Run the link of a record, and end with the code or signal of the agent there."""
    record, screen = Path(words[0]), LinkScreen()
    try:
        hosted = File(record.parent, record.name, Hosted).read()
        with raw():
            over = Link(hosted, record, screen).run()
    except Pro0Error as error:
        over = {"code": NOT_BEGUN, "reason": error.message}
    if isinstance(reason := over.get("reason"), str) and reason:
        screen.tell(reason[:1000])
    sys.stdout.flush()
    number, code = over.get("signal"), over.get("code")
    if isinstance(number, int) and number in signal.valid_signals() and number not in STOPS:
        _die_of(number)
    os._exit(code if isinstance(code, int) and 0 <= code < 256 else LOST)


def _die_of(number: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


if __name__ == "__main__":
    main(sys.argv[1:])
