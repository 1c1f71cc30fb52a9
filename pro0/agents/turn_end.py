"""What agents call when a turn ends: it says that there is mail, so that they go on and read it.

`python -I -m pro0.agents.turn_end MAILBOX FOLDER`, the session's identity in the environment. It speaks the language of
the hooks of claude (Stop) and gemini (AfterAgent, which `gemini_hooks` takes). Each message is told of once, so an
agent that does not read its mail can end its turn nevertheless.
"""

import os
import shlex
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from pro0.model.message import Mailbox
from pro0.rules import mail
from pro0.rules.words import prompts

TOLD = "told"
"""The file in the session's folder with the seq of the newest message that was told of."""
_INCARNATION = "PRO0_INCARNATION"


def command(mailbox: str, folder: str) -> str:
    """Return the shell command of the hook."""
    return shlex.join([sys.executable, "-I", "-m", __name__, mailbox, folder])


def answer(mailbox: Path, folder: Path, incarnation: str) -> bytes:
    """Return what the hook prints: nothing, or that the turn must not end yet."""
    try:
        box = msgspec.json.decode(mailbox.read_bytes(), type=Mailbox)
    except (OSError, msgspec.MsgspecError):
        return b""
    news = mail.news(box, incarnation)
    if news.newest <= told(folder / TOLD):
        return b""
    (folder / TOLD).write_text(str(news.newest), encoding="ascii")
    return msgspec.json.encode({"decision": "block", "reason": prompts.unread_line(news.count)})


def told(path: Path) -> int:
    """Return the seq that a file of a session's folder names, 0 when there is none."""
    with suppress(OSError, ValueError):
        return int(path.read_text(encoding="ascii"))
    return 0


if __name__ == "__main__":
    with suppress(OSError):
        sys.stdin.buffer.read()  # what the agent says of the turn; it would wonder if nobody took it
        sys.stdout.buffer.write(answer(Path(sys.argv[1]), Path(sys.argv[2]), os.environ.get(_INCARNATION, "")))
