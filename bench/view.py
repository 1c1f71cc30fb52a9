"""The view: keys, switches, its start, and what it costs; and how fast terminals process the output of programs."""

import fcntl
import os
import pty
import select
import statistics
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pyte

from bench.figure import Figure, milliseconds
from bench.scratch import PRO0, TEAM, add_tasks, make_team, run, world
from pro0.engine import outcomes
from pro0.ops.team import members
from pro0.ops.team.members import SeatDraft

COLUMNS, LINES = 200, 50
KEYS, SWITCHES, STARTS = 40, 20, 5
CROWD, CROWD_TASKS = 50, 500
MOVES = (b"j", b"k", b"\x1b[6~", b"\x1b[5~", b"\x1b[F", b"\x1b[H")
"""Moves by a line, by a page, and to the end, each forward and back."""
MEGABYTES = 8
SECONDS = 5.0
ECHO = ("sh", "-c", "stty raw -echo; exec cat")
GIGABYTE = 1 << 30
FLOOD = f"read x; yes 'a line of many, each with a text like this one in it' | head -c {GIGABYTE}; touch $0; exec cat"
HERE = ("sh", "-c", "echo here is the quiet one; stty raw -echo; exec cat")
REPAINT = r"""
import sys, time
n = 0
while True:
    n += 1
    rows = "".join(f"\x1b[{r};1H\x1b[38;5;{(n + r) % 256}mrow {r} of frame {n} {'.' * 40}" for r in range(1, 40))
    sys.stdout.write(f"\x1b[?2026h{rows}\x1b[?2026l")
    sys.stdout.flush()
    time.sleep(0.1)
"""
STREAMS = {
    "plain": b"a line of plain text, as a build prints it, with a number: 12345\r\n",
    "colour": b"\x1b[32m  ok \x1b[0m \x1b[38;5;240mtests/test_parser.py\x1b[0m \x1b[1;31m3 failed\x1b[0m\r\n",
    "repaint": b"\x1b[H" + b"".join(b"\x1b[%d;1H\x1b[38;5;%dma row %s" % (n, n, b"." * 70) for n in range(1, 49)),
}


def figures() -> Iterator[Figure]:
    """Measure the view on a pseudo-terminal of its own, and terminals with the same streams."""
    with world() as folder:
        make_team(folder, "in-process")
        run(PRO0, "team", "resume", "-t", TEAM)
        _spawn("a", ECHO)
        _spawn("b", ECHO)
        with Screen(folder) as screen:
            yield Figure("key to redraw", screen.key(), "ms", 20, "ms")
            yield Figure("switch to a full screen", screen.switch(), "ms", 50, "ms")
        bare = statistics.median(milliseconds(lambda: run(sys.executable, "-I", "-c", "pass")) for _ in range(STARTS))
        yield Figure("start of the view", statistics.median(_starts(folder)), "ms", 20, "x", bare, "python -I -c pass")
    with world() as folder:
        make_team(folder, "in-process")
        run(PRO0, "team", "resume", "-t", TEAM)
        for number in range(10):
            _spawn(f"w{number}", (sys.executable, "-c", REPAINT))
        with Screen(folder) as screen:
            yield Figure("10 members repaint 10/s, view and guards", screen.cost(), "% of a core", 5, "% of a core")
    yield from _crowded()
    yield from _flooded()
    for name, piece in STREAMS.items():
        yield from _throughput(name, (piece * (1 + (1 << 20) // len(piece)))[: 1 << 20])


def _crowded() -> Iterator[Figure]:
    """Yield the slowest key on the board of a large team, in a usual terminal and in a tiny one."""
    with world() as folder:
        context = make_team(folder, "in-process")
        add_tasks(context, CROWD_TASKS)
        run(PRO0, "team", "resume", "-t", TEAM)
        drafts = [SeatDraft(name=f"w{n}", agent="command", argv=("cat",)) for n in range(CROWD)]
        outcomes.started(context.team, members.spawn(context, drafts, CROWD), lambda _text: None)
        with Screen(folder, sign=b"w0") as screen:
            for columns, lines in ((80, 24), (20, 5)):
                what = (
                    f"key to redraw, board of {CROWD_TASKS} tasks and {CROWD} members, {columns}x{lines}, the slowest"
                )
                yield Figure(what, max(screen.board(columns, lines)), "ms", 50, "ms")


def _flooded() -> Iterator[Figure]:
    """Yield the slowest answer to a key while a member prints a gigabyte, and the memory of its guard afterwards."""
    with world() as folder:
        make_team(folder, "in-process")
        run(PRO0, "team", "resume", "-t", TEAM)
        _spawn("a", HERE)
        over = folder / "over"
        _spawn("flood", ("sh", "-c", FLOOD, str(over)))
        with Screen(folder) as screen:
            slowest = max(screen.answers(over))
            yield Figure("a key or a switch while a member prints 1 GB, the slowest", slowest, "ms", 100, "ms")
        guards = [one.memory_info().rss / 1e6 for one in psutil.process_iter() if _is_guard(one)]
        yield Figure("memory of the guard of that member", max(guards), "MB", 128, "MB")


def _spawn(name: str, argv: tuple[str, ...]) -> None:
    run(PRO0, "member", "spawn", name, "--agent", "command", "-t", TEAM, "--", *argv)


def _starts(folder: Path) -> list[float]:
    found = []
    for _ in range(STARTS):
        start = time.perf_counter()
        with Screen(folder):
            found.append((time.perf_counter() - start) * 1000)
    return found


class Screen:
    """A view of the team, and the terminal around it."""

    def __init__(self, folder: Path, sign: bytes = b"Ctrl+T") -> None:
        self._sign = sign
        self._pid, self._terminal = pty.fork()
        if not self._pid:
            os.chdir(folder)
            os.environ["TERM"] = "xterm-256color"
            os.execv(PRO0, [str(PRO0), "team", "attach", TEAM])
        self._resize(COLUMNS, LINES)

    def __enter__(self) -> "Screen":
        self._until(self._sign)
        return self

    def __exit__(self, *_: object) -> None:
        os.write(self._terminal, b"\x14q")
        self._until(b"\x1b[?1049l")
        os.close(self._terminal)
        os.waitpid(self._pid, 0)

    def _resize(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def type(self, data: bytes) -> None:
        """Send typed bytes to the view."""
        os.write(self._terminal, data)

    def key(self) -> float:
        """Return the median milliseconds from a key to its redraw."""
        return statistics.median(self._times(KEYS, lambda n: bytes([97 + n % 26])))

    def switch(self) -> float:
        """Return the median milliseconds from a switch to the full screen of the other member."""
        return statistics.median(self._times(SWITCHES, lambda _n: b"\x1b[1;2B"))

    def board(self, columns: int, lines: int) -> list[float]:
        """Return the milliseconds from each key to its redraw, on the board in a terminal of that size."""
        self._resize(columns, lines)
        self.drain(1.0)
        self.type(b"\x14\t\t")
        self._until(b"task-")
        self.drain(1.0)
        moved = self._times(KEYS, lambda n: MOVES[n % len(MOVES)])
        self.type(b"t")
        typed = self._times(SWITCHES, lambda n: bytes([97 + n]))
        self.type(b"\x1b")
        self.drain(1.0)
        self.type(b"\x1b")
        self.drain(1.0)
        return moved + typed

    def answers(self, over: Path) -> Iterator[float]:
        """Yield the milliseconds of switches to the first member and of keys, while the second prints."""
        self.type(b"\x1b[1;2B\r")
        while not over.exists():
            self.drain(0.2)
            start = time.perf_counter()
            self.type(b"\x1b[1;2A")
            self._until(b"here is the quiet one")
            yield (time.perf_counter() - start) * 1000
            yield from self._times(1, lambda _n: b"x")
            self.type(b"\x1b[1;2B")

    def cost(self) -> float:
        """Return the CPU use of the view and the guards, in percent of one core."""
        everyone = [psutil.Process(self._pid), *filter(_is_guard, psutil.process_iter())]
        assert len(everyone) == 11, "every guard is counted"
        self.drain(1.0)
        before = sum(_used(one) for one in everyone)
        self.drain(SECONDS)
        return (sum(_used(one) for one in everyone) - before) / SECONDS * 100

    def _times(self, count: int, keys: Callable[[int], bytes]) -> list[float]:
        found = []
        for number in range(count):
            self.drain(0.1)
            start = time.perf_counter()
            os.write(self._terminal, keys(number))
            self._until(b"\x1b[?2026l", rows=True)
            found.append((time.perf_counter() - start) * 1000)
        return found

    def _until(self, text: bytes, *, rows: bool = False) -> None:
        """Read until `text` has come, and with `rows` until a row was drawn, too."""
        data = b""
        while text not in data or (rows and b";1H" not in data):
            data += os.read(self._terminal, 1 << 16)

    def drain(self, seconds: float) -> None:
        """Read the output of the view for so many seconds."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if select.select([self._terminal], [], [], left)[0]:
                os.read(self._terminal, 1 << 16)


def _throughput(name: str, megabyte: bytes) -> Iterator[Figure]:
    """Yield the time for a megabyte through a guard's watched terminal, beside those of pyte and of a tmux pane."""
    pyte_screen = pyte.ByteStream(pyte.Screen(COLUMNS, LINES))
    part = megabyte[: 1 << 18]
    by_pyte = milliseconds(lambda: pyte_screen.feed(part)) * 4
    with world() as folder, _printed(folder, megabyte) as (ours, tmux):
        what = f"1 MB of {name}, terminal to view"
        yield Figure(what, ours, "ms", 0.05, "x", by_pyte, "pyte")
        yield Figure(what, ours, "ms", 1.0, "x", tmux, "a tmux pane")


@contextmanager
def _printed(folder: Path, megabyte: bytes) -> Iterator[tuple[float, float]]:
    """Print MEGABYTES in a member's terminal, then in a tmux pane; yield the milliseconds per megabyte of both."""
    (folder / "stream").write_bytes(megabyte * MEGABYTES)
    script = f"while read x; do cat {folder}/stream; touch {folder}/done; done"
    make_team(folder, "in-process")
    run(PRO0, "team", "resume", "-t", TEAM)
    _spawn("cat", ("sh", "-c", script))
    with Screen(folder) as screen:
        ours = _until_done(folder, lambda: screen.type(b"\r"), screen.drain)
    server = ["tmux", "-S", f"{folder}/pane", "-f", "/dev/null"]
    run(*server, "new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES), script)
    try:
        theirs = _until_done(folder, lambda: run(*server, "send-keys", "Enter"), time.sleep)
    finally:
        run(*server, "kill-server")
    yield ours / MEGABYTES, theirs / MEGABYTES


def _until_done(folder: Path, begin: Callable[[], object], wait: Callable[[float], None]) -> float:
    done = folder / "done"
    done.unlink(missing_ok=True)
    start = time.perf_counter()
    begin()
    while not done.exists():
        wait(0.001)
    return (time.perf_counter() - start) * 1000


def _argv(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def _is_guard(process: psutil.Process) -> bool:
    argv = _argv(process)
    return len(argv) > 1 and argv[-2].endswith("guard/__main__.py") and argv[-1].startswith(os.environ["PRO0_HOME"])


def _used(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
