"""The last output of a crashed agent: from its own terminal, its pane of tmux, or its log."""

import os
import select
import stat
import time

from pro0.guard.agent import SETTABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pro0.guard.terminal import AgentTerminal

PATIENCE = 2.0
"""Seconds for a terminal to answer; the end of the tree must not wait for one that hangs."""
LENGTH = 2048
LINES = 40


def last_output(terminal: "AgentTerminal | None") -> str:
    """Return the last of an ended agent's output, empty when nobody knows it."""
    if terminal:
        output = terminal.last_output(LINES, PATIENCE).encode(errors="replace")
    elif os.environ.get("TMUX_PANE"):
        output = _of_pane(os.environ.get("TMUX", "").rsplit(",", 2)[0], os.environ["TMUX_PANE"])
    else:
        output = _of_log()
    return output.strip()[-LENGTH:].decode(errors="replace")


def _of_pane(server: str, pane: str) -> bytes:
    """Return the screen of this guard's pane, without spaces at the ends of its lines."""
    ours, tmuxs_end = os.pipe()
    words = ["tmux", "-S", server, "capture-pane", "-p", "-J", "-t", pane]
    null = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0)
    streams = [null, (os.POSIX_SPAWN_DUP2, tmuxs_end, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]
    try:
        pid = os.posix_spawnp(words[0], words, os.environ, file_actions=streams, setsigmask=(), setsigdef=SETTABLE)
    except OSError:
        os.close(ours)
        return b""
    finally:
        os.close(tmuxs_end)
    output = _read(ours)
    os.close(ours)
    if output is None:
        os.kill(pid, 9)
    os.waitpid(pid, 0)
    return b"\n".join(line.rstrip() for line in (output or b"").splitlines())


def _read(descriptor: int) -> bytes | None:
    """Return all output of a pipe, None if its end takes too long."""
    data, deadline = b"", time.monotonic() + PATIENCE
    while select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(descriptor, 1 << 16)
        if not part:
            return data
        data += part
    return None


def _of_log() -> bytes:
    """Return the end of this guard's output if it goes to a readable file."""
    try:
        status = os.fstat(1)
        return os.pread(1, LENGTH, max(0, status.st_size - LENGTH)) if stat.S_ISREG(status.st_mode) else b""
    except OSError:
        return b""
