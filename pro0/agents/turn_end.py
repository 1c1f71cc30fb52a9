"""The hook agents call at a turn's end: it reports new mail, so the agent goes on and reads it.

`python -I -m pro0.agents.turn_end MAILBOX FOLDER`, the session's identity in the environment. It speaks the hook
protocol of claude (Stop) and gemini (AfterAgent, by `gemini.hooks`). Each message is announced once, so an agent
ignoring its mail can still end its turn.
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
"""The file in the session's folder with the seq of the newest announced message."""
_INCARNATION = "PRO0_INCARNATION"


def command(mailbox: str, folder: str) -> str:
    """Return the shell command of the hook."""
    return shlex.join([sys.executable, "-I", "-m", __name__, mailbox, folder])


def answer(mailbox: Path, folder: Path, incarnation: str) -> bytes:
    """Return the hook's output: empty, or an order to go on."""
    try:
        box = msgspec.json.decode(mailbox.read_bytes(), type=Mailbox)
    except (OSError, msgspec.MsgspecError):
        return b""
    news = mail.news(box, incarnation)
    if news.newest <= announced_seq(folder / TOLD):
        return b""
    (folder / TOLD).write_text(str(news.newest), encoding="ascii")
    return msgspec.json.encode({"decision": "block", "reason": prompts.unread_line(news.count)})


def announced_seq(path: Path) -> int:
    """Return the seq in a file of a session's folder, 0 for no such file."""
    with suppress(OSError, ValueError):
        return int(path.read_text(encoding="ascii"))
    return 0


if __name__ == "__main__":
    with suppress(OSError):
        sys.stdin.buffer.read()  # the agent's event, drained for a clean end of its write
        sys.stdout.buffer.write(answer(Path(sys.argv[1]), Path(sys.argv[2]), os.environ.get(_INCARNATION, "")))
