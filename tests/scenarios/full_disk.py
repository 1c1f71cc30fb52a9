"""A team whose own member fills the disk and goes on filling it, and one command that ends it.

`python -m tests.scenarios.full_disk HOME MODE WHAT COMMAND...`: HOME is on a small disk, WHAT is `bytes` or `inodes`.
"""

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.leftovers import processes_under
from tests.waiting import STUCK

PATIENCE = STUCK
FILL = {
    "bytes": 'while :; do cat /dev/zero >> "$0/filler" 2> /dev/null; sleep 0.01; done',
    "inodes": 'n=0; while :; do n=$((n + 1)); touch "$0/filler-$n" 2> /dev/null || sleep 0.01; done',
}
PRO0 = (sys.executable, "-m", "pro0")


def pro0(*words: str) -> tuple[int, str]:
    """Call the program as a person does."""
    done = subprocess.run([*PRO0, *words], capture_output=True, text=True, timeout=PATIENCE)
    said = done.stdout + done.stderr
    assert "Traceback" not in said, said
    return done.returncode, said


def well(*words: str) -> str:
    """Call the program, which is to work."""
    code, said = pro0(*words)
    assert code == 0, (words, code, said)
    return said


def shown(noun: str, name: str, field: str) -> object:
    """Return what the program shows of something."""
    return json.loads(well(noun, "show", name, "-t", "alpha", "--json"))[field]


def until(what: str, holds: Callable[[], object]) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def is_full(home: Path) -> bool:
    """Say whether the disk takes nothing more."""
    try:
        (home / "probe").write_bytes(b"x")
    except OSError:
        return True
    finally:
        (home / "probe").unlink(missing_ok=True)
    return False


def members(home: Path) -> list[str]:
    """Return the processes of members, their guards too."""
    return [str(one) for one in processes_under(home) if "lead" not in one.argv[-2:]]


def begin(home: Path, mode: str, what: str) -> None:
    """Start the team, give its member a task, and let it fill the disk."""
    well("team", "start", "alpha", "--mode", mode, "--detach")
    well("task", "create", "a task", "-t", "alpha")
    claim = shlex.join([*PRO0, "task", "claim", "1"])
    script = f'{claim} && : > "$1/claimed"; until [ -e "$1/seen" ]; do sleep 0.01; done; {FILL[what]}'
    well("member", "spawn", "w1", "--agent", "command", "-t", "alpha", "--", "sh", "-c", script, str(home), os.getcwd())
    until("it has claimed", Path("claimed").exists)
    Path("seen").touch()
    until("the disk is full", lambda: is_full(home))


def judge(home: Path, command: list[str], code: int, said: str) -> None:
    """Check that nobody is left, and that all comes right with room."""
    left = members(home)
    assert code in (0, 5), (code, said)
    assert left == [], (left, said)
    for filler in home.glob("filler*"):
        filler.unlink()
    if command[1] == "cleanup":
        if code:
            well(*command)
        assert not (home / "teams" / "alpha").exists(), said
        well("doctor")
        kept = [path.name for path in home.glob("archive/*")]
        assert not [name for name in kept if name.startswith(".")], kept
        assert bool(kept) != ("no archive of alpha is kept" in said) or code, (kept, said)
        if kept:
            assert json.loads(well("team", "show", "alpha", "--archived", "--json"))["tasks"][0]["title"] == "a task"
        return
    if command[0] == "team":
        well(*command)
    until("the task is given back", lambda: shown("task", "1", "status") == "pending")
    until("its end is recorded", lambda: shown("member", "w1", "state") in ("shutdown", "exited", "crashed"))
    assert shown("member", "w1", "state") == "shutdown", said
    assert members(home) == [], "nobody comes back"
    well("doctor")
    well("team", "cleanup", "alpha", "--force")


def main(home: Path, mode: str, what: str, command: list[str]) -> None:
    """Do it all."""
    begin(home, mode, what)
    judge(home, command, *pro0(*command))
    until("nothing is left", lambda: not processes_under(home))
    print("held")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:])
