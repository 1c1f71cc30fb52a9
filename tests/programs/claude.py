#!/usr/bin/env python3
"""A stand-in for Claude Code, standard library only: it keeps the files by which pro0 knows what it does.

FOLDER/told.jsonl has argv of every start. Its turn goes on while FOLDER/NAME.busy is there, and fails with the text in
FOLDER/NAME.error if that is there. On TERM it ends.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

FOLDER = Path(os.environ["HOME"], "claudes")
CONFIG = Path(os.environ["HOME"], ".claude")
PAUSE = 0.05


def option(name: str) -> str:
    """Return the word behind an option, empty without it."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else ""


def replace(path: Path, text: str) -> None:
    """Write a file whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_text(text)
    new.rename(path)


def turn(error: str) -> str:
    """Return a transcript whose last turn ended so."""
    said = {
        "type": "assistant",
        "isApiErrorMessage": bool(error),
        "message": {"content": [{"type": "text", "text": error}]},
    }
    return "".join(json.dumps(line) + "\n" for line in ({"type": "user", "message": {"content": "do it"}}, said))


def main() -> None:
    """Be idle until ended, after a turn that went well or failed."""
    session = option("--session-id") or option("--resume")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / "told.jsonl", "a") as told:
        told.write(json.dumps(sys.argv[1:]) + "\n")
    trouble, busy = (FOLDER / f"{os.environ['PRO0_AGENT_ID']}.{kind}" for kind in ("error", "busy"))
    before = None
    while True:
        now = (trouble.read_text() if trouble.exists() else "", "busy" if busy.exists() else "idle")
        if now != before:
            state = {"sessionId": session, "status": now[1], "startedAt": 1, "statusUpdatedAt": 10**13}
            replace(CONFIG / "projects" / "all" / f"{session}.jsonl", turn(now[0]))
            replace(CONFIG / "sessions" / f"{os.getpid()}.json", json.dumps(state))
            before = now
        time.sleep(PAUSE)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    main()
