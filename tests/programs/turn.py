"""An agent that does one turn as a script says: `turn.py FOLDER`, standard library only.

It keeps its prompt in FOLDER/prompts/TASK.NUMBER and notes in FOLDER/log when it begins and ends. In FOLDER/script.json
is for each task, by id, a list of turns, the last of which is repeated; "*" is for all others. A turn is what it says,
or an object: say, exit, until (a file to wait for), run (a command), hang (never ends), deaf (not even on TERM).
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

DONE = "It is done.\n<promise>COMPLETE</promise>"


def main(folder: Path) -> int:
    task, prompt = os.environ["PRO0_TASK_ID"], sys.stdin.read()
    number = 1 + len(list((folder / "prompts").glob(f"{task}.*")))
    (folder / "prompts" / f"{task}.{number}").write_text(prompt, encoding="utf-8")
    note(folder, f"begin {task} {os.getpid()}")
    turn = script(folder, task, number)
    if turn.get("deaf"):
        for ignored in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(ignored, signal.SIG_IGN)
    if "run" in turn:
        subprocess.run(["/bin/sh", "-c", str(turn["run"])], check=False)
    while turn.get("hang") or turn.get("deaf"):
        time.sleep(60)
    while "until" in turn and not (folder / str(turn["until"])).exists():
        time.sleep(0.01)
    print(turn.get("say", ""))
    note(folder, f"end {task} {os.getpid()}")
    return int(str(turn.get("exit", 0)))


def script(folder: Path, task: str, number: int) -> dict[str, object]:
    path = folder / "script.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    turns = known.get(task, known.get("*", [DONE]))
    turn = turns[min(number, len(turns)) - 1]
    return {"say": turn} if isinstance(turn, str) else dict(turn)


def note(folder: Path, line: str) -> None:
    with (folder / "log").open("ab") as log:
        log.write(f"{line}\n".encode())


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
