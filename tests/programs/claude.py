#!/usr/bin/env python3
"""A stand-in for Claude Code, standard library only: it keeps the files by which pro0 knows what it does.

FOLDER/told.jsonl has argv of every start. Its turn goes on while FOLDER/NAME.busy is there, and fails with the text in
FOLDER/NAME.error if that is there. It asks leave with the event in FOLDER/NAME.asks, as its settings say; the hook's
answer goes to FOLDER/NAME.answer, unless FOLDER/NAME.pane is there first. On TERM it ends.
"""

import json
import os
import signal
import subprocess
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


def show(session: str, status: str) -> None:
    """Tell what it does."""
    state = {"sessionId": session, "status": status, "startedAt": 1, "statusUpdatedAt": 10**13}
    replace(CONFIG / "sessions" / f"{os.getpid()}.json", json.dumps(state))


def ask(session: str, event: Path, answer: Path, pane: Path) -> None:
    """Wait for leave: from the hook, or in the pane, whichever comes first; the hook goes on by itself then."""
    settings = json.loads(Path(option("--settings")).read_text())
    [group] = settings["hooks"]["PermissionRequest"]
    show(session, "waiting")
    with event.open() as file:
        hook = subprocess.Popen(["sh", "-c", group["hooks"][0]["command"]], stdin=file, stdout=subprocess.PIPE)
    while hook.poll() is None and not pane.exists():
        time.sleep(PAUSE)
    event.unlink()
    show(session, "busy")
    if hook.poll() is not None and hook.stdout:
        replace(answer, hook.stdout.read().decode())


def main() -> None:
    """Be idle until ended, after a turn that went well or failed."""
    session = option("--session-id") or option("--resume")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / "told.jsonl", "a") as told:
        told.write(json.dumps(sys.argv[1:]) + "\n")
    trouble, busy, asks = (FOLDER / f"{os.environ['PRO0_AGENT_ID']}.{kind}" for kind in ("error", "busy", "asks"))
    before = None
    while True:
        if asks.exists():
            ask(session, asks, asks.with_suffix(".answer"), asks.with_suffix(".pane"))
            before = None
        now = (trouble.read_text() if trouble.exists() else "", "busy" if busy.exists() else "idle")
        if now != before:
            replace(CONFIG / "projects" / "all" / f"{session}.jsonl", turn(now[0]))
            show(session, now[1])
            before = now
        time.sleep(PAUSE)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    main()
