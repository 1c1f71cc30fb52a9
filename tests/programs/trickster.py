"""A member's agent that tries one way after the other to pass as somebody else: `trickster.py TABLE OUT`.

TABLE is a list of [name, script for sh, file that tells how it ended, seconds for it]. OUT gets, for each, the exit
code of the script and what it said on stderr.
"""

import json
import subprocess
import sys
import time
from pathlib import Path


def attempt(script: str, file: Path, seconds: float) -> tuple[int | None, str]:
    """Run a script until it has failed, or until it is over and what it started has told how that ended."""
    said = file.with_suffix(".err")
    with said.open("wb") as stderr:
        started = subprocess.Popen(
            ["sh", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr
        )
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        code = started.poll()
        if code or (code == 0 and file.exists()):
            break
        time.sleep(0.02)
    return started.poll(), said.read_text(errors="replace")


if __name__ == "__main__":
    table, out = Path(sys.argv[1]), Path(sys.argv[2])
    done = {name: attempt(script, Path(file), seconds) for name, script, file, seconds in json.loads(table.read_text())}
    out.write_text(json.dumps(done))
