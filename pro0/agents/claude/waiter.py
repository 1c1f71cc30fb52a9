"""The hook process that waits for a line of the lead and wakes an idle Claude Code with it.

`python -I -S .../waiter.py FOLDER`: it holds the session's lock, so one waits at a time; it sleeps in the opening of a
named pipe; it takes the line by renaming its file, prints it, and exits with the code that begins a turn. It imports
nothing of pro0, since one waits beside each session.
"""

import fcntl
import os
import sys

LOCK = "waiter.lock"
"""The file in the session's folder that the waiting process locks; it is missing until a waiter has started."""
PIPE = "waiter.pipe"
LINE = "waiter.line"
"""The file with the line, there until it is taken."""
TAKEN = "waiter.taken"
WAKE = 2
"""The exit code on which Claude begins a turn with what the hook printed."""


def main(folder: str) -> int:
    """Wait for a line; return the exit code: 0 when another process waits already."""
    os.chdir(folder)
    lock = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return 0
    try:
        os.mkfifo(PIPE, 0o600)
    except FileExistsError:
        pass
    while not (line := _taken()):
        os.close(os.open(PIPE, os.O_RDONLY))
    os.write(2, line)
    return WAKE


def _taken() -> bytes:
    try:
        os.rename(LINE, TAKEN)  # noqa: PTH104 - pathlib costs more memory than all the rest
    except FileNotFoundError:
        return b""
    descriptor = os.open(TAKEN, os.O_RDONLY | os.O_NOFOLLOW)
    return os.read(descriptor, 1 << 16)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
