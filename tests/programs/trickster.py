"""A member's agent that tries one way after the other to pass as somebody else: `trickster.py TABLE OUT`.

TABLE is a list of [name, script for sh, file that tells how it ended, seconds until that file is there]. OUT gets, for
each, the exit code of the script and what it said on stderr.
"""

import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

STUCK = 120


def attempt(script: str, file: Path, seconds: float) -> tuple[int | None, str]:
    """Run a script to its end, and wait until what it started has told how that ended."""
    said = file.with_suffix(".err")
    with said.open("wb") as stderr:
        started = subprocess.Popen(
            ["sh", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr
        )
    with suppress(subprocess.TimeoutExpired):
        started.wait(STUCK)
    end = time.monotonic() + seconds
    while started.returncode == 0 and not file.exists() and time.monotonic() < end:
        time.sleep(0.02)
    return started.poll(), said.read_text(errors="replace")


if __name__ == "__main__":
    table, out = Path(sys.argv[1]), Path(sys.argv[2])
    done = {name: attempt(script, Path(file), seconds) for name, script, file, seconds in json.loads(table.read_text())}
    out.write_text(json.dumps(done))
