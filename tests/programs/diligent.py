#!/usr/bin/env python3
"""A stand-in for an agent that works, with pro0 on its path: `diligent.py [OPTION|PROMPT]…`.

It reads its mail, agrees to its shutdown, takes the tasks that are ready for it, commits one file for each, completes
it, and tells Claude Code's files what it does. In between it is idle. On TERM it ends.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

CONFIG = Path(os.environ["HOME"], ".claude")
PAUSE = 1.0


def option(name: str) -> str:
    """Return the word behind an option, empty without it."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else ""


def replace(path: Path, text: str) -> None:
    """Write a file whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_text(text)
    new.rename(path)


def tell(status: str) -> None:
    """Tell what it does, as Claude Code does."""
    session = option("--session-id") or option("--resume")
    state = {"sessionId": session, "status": status, "startedAt": 1, "statusUpdatedAt": 10**13}
    turn = {"type": "assistant", "message": {"content": [{"type": "text", "text": "done"}]}}
    if session:
        replace(CONFIG / "projects" / "all" / f"{session}.jsonl", json.dumps(turn) + "\n")
        replace(CONFIG / "sessions" / f"{os.getpid()}.json", json.dumps(state))


def pro0(*words: str) -> str:
    """Run a command of pro0 and return what it printed, empty when it failed."""
    done = subprocess.run(["pro0", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.stdout if done.returncode == 0 else ""


def work(task: str) -> None:
    """Claim a task, commit a file, and complete it."""
    if not pro0("task", "claim", task):
        return
    Path(f"{task}.txt").write_text(f"{task}\n")
    subprocess.run(["git", "add", f"{task}.txt"], capture_output=True)
    subprocess.run(["git", "commit", "-qm", task], capture_output=True)
    pro0("task", "complete", task, "committed")


def main() -> None:
    """Work until ended."""
    while True:
        tell("busy")
        if "shutdown_request" in pro0("inbox", "--ack", "--json"):
            pro0("shutdown", "approve")
        for task in pro0("task", "ready", "-o", "name").split():
            work(task)
        tell("idle")
        time.sleep(PAUSE)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    main()
