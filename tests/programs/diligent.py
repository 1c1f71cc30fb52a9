#!/usr/bin/env python3
"""A stand-in for an agent that works, with pro0 on its path: `diligent.py [OPTION|PROMPT]…`.

It reads its mail, agrees to its shutdown, takes the tasks that are ready for it, commits one file for each, completes
it, and tells Claude Code's files what it does. In between it is idle. On TERM it ends.

STAND_IN names the agent whose documented options it takes; without it, it takes any.

HOME/jobs.json may say, by the title of a task, what it does there: {"file", "text", "result", "asks"}. With "asks", the
event of a permission, it asks leave as its settings say, and gives the task up when it gets none.
"""

import json
import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

CONFIG = Path(os.environ["HOME"], ".claude")
JOBS = Path(os.environ["HOME"], "jobs.json")
PAUSE = 1.0
TURNS: list[dict[str, object]] = []


def option(name: str) -> str:
    """Return the word behind an option, empty without it."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else ""


def replace(path: Path, text: str) -> None:
    """Write a file whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_text(text)
    new.rename(path)


def say(words: str) -> None:
    """Have a turn end with these words."""
    usage = {"input_tokens": 1200, "output_tokens": 340}
    message = {"id": f"m{len(TURNS)}", "model": "claude-sonnet-4-5", "usage": usage}
    TURNS.append({"type": "assistant", "message": {**message, "content": [{"type": "text", "text": words}]}})


def tell(status: str) -> None:
    """Tell what it does, as Claude Code does."""
    session = option("--session-id") or option("--resume")
    state = {"sessionId": session, "status": status, "startedAt": 1, "statusUpdatedAt": 10**13}
    if session:
        replace(CONFIG / "projects" / "all" / f"{session}.jsonl", "".join(json.dumps(turn) + "\n" for turn in TURNS))
        replace(CONFIG / "sessions" / f"{os.getpid()}.json", json.dumps(state))


def pro0(*words: str) -> str:
    """Run a command of pro0 and return what it printed, empty when it failed."""
    done = subprocess.run(["pro0", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.stdout if done.returncode == 0 else ""


def job(task: str) -> dict[str, object]:
    """Return what is to be done for a task."""
    jobs = json.loads(JOBS.read_text()) if JOBS.exists() else {}
    title = json.loads(pro0("task", "show", task, "--json") or "{}").get("title", task)
    return {"file": f"{task}.txt", "text": f"{task}\n", "result": "committed", **jobs.get(title, {"title": task})}


def allowed(event: object) -> bool:
    """Ask the person for leave, through the hook of the settings."""
    settings = json.loads(Path(option("--settings")).read_text())
    command = settings["hooks"]["PermissionRequest"][0]["hooks"][0]["command"]
    tell("waiting")
    hook = subprocess.run(["sh", "-c", command], input=json.dumps(event), capture_output=True, text=True)
    tell("busy")
    return '"allow"' in hook.stdout


def work(task: str) -> None:
    """Claim a task that is not its own already, commit a file, and complete it."""
    if task != os.environ.get("PRO0_TASK_ID") and not pro0("task", "claim", task):
        return
    now = job(task)
    if "asks" in now and not allowed(now["asks"]):
        pro0("task", "fail", task, "the permission was refused")
        return
    Path(str(now["file"])).write_text(str(now["text"]))
    subprocess.run(["git", "add", str(now["file"])], capture_output=True)
    subprocess.run(["git", "commit", "-qm", str(now.get("title", now["result"]))], capture_output=True)
    pro0("task", "complete", task, str(now["result"]))
    say(str(now["result"]))


def main() -> None:
    """Work until ended."""
    if agent := os.environ.get("STAND_IN"):
        sys.path.insert(0, str(Path(__file__).parent))
        import_module("obeying").refuse_unknown(agent, sys.argv[1:])
    if "--version" in sys.argv:
        print("2.1.332 (Claude Code)")
        return
    say("I am ready.")
    if task := os.environ.get("PRO0_TASK_ID"):
        work(task)
    while True:
        tell("idle")
        time.sleep(PAUSE)
        mail = pro0("inbox", "--ack", "--json").strip()
        tasks = pro0("task", "ready", "-o", "name").split()
        if tasks or mail not in ("", "[]"):
            tell("busy")
        if "shutdown_request" in mail:
            pro0("shutdown", "approve")
        for task in tasks:
            work(task)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    main()
