"""Full-screen programs in a terminal of ours and in tmux: the same screens, row by row (must show 3, soak)."""

import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from pro0.rules.screens.escapes import plain
from pro0.terminals import protocol
from pro0.terminals.connection import Connection
from tests.guard.sessions import Session
from tests.guard.shown import Shown, typed
from tests.waiting import STUCK, wait_until

pytestmark = pytest.mark.soak

COLUMNS, LINES = 100, 30
TEXT = "".join(f"line {n} äöü 你好 \tof the file\n" for n in range(300))
PAINTS = r"""
import sys, tty
tty.setraw(0)
sys.stdout.write("\x1b[?1049h\x1b[2J")
for r in range(1, 31):
    for c in range(0, 100, 4):
        sys.stdout.write(f"\x1b[{r};{c + 1}H\x1b[48;5;{(r * c) % 256}m\x1b[38;2;{r * 8};{c};200m{(r * c) % 1000:03d} ")
sys.stdout.flush()
while True:
    key = sys.stdin.read(1)
    sys.stdout.write(f"\x1b[0m\x1b[15;40Hkey {key!r}\x1b[1;1H\x1b[L\x1b[5;20r\x1b[20;1H\n\n\x1b[r")
    sys.stdout.flush()
"""
PROGRAMS = {
    "vim": (["vim", "-u", "NONE", "-i", "NONE", "-n", "text"], ["15jdd", "ihello \x1b", ":set number\r", "G", "\x02"]),
    "less": (["less", "-R", "text"], [" ", "/line 200\r", "G", "b"]),
    "colours": ([sys.executable, "-c", PAINTS], ["a", "b", "c"]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_screens_are_those_of_tmux(name: str, session: Session) -> None:
    argv, keys = PROGRAMS[name]
    if not shutil.which(argv[0]):
        pytest.fail(f"this test needs {argv[0]}: install it")
    (session.cwd / "text").write_text(TEXT)
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "LESSHISTFILE": "-"}
    shown = Shown(session, argv, COLUMNS, LINES, env=environment)
    with shown.connect() as ours, Tmux(session.cwd, argv, environment) as theirs:
        same(ours, shown, theirs, "at the beginning")
        for key in keys:
            typed(ours, key)
            theirs.type(key)
            same(ours, shown, theirs, repr(key))
        ours.send(protocol.SIZE, b'{"columns":80,"lines":24}')
        theirs.ask("resize-window", "-x", "80", "-y", "24")
        if name != "colours":  # which does not draw itself anew
            same(ours, shown, theirs, "smaller")


class Tmux:
    """The same program in a pane."""

    def __init__(self, folder: Path, argv: list[str], environment: dict[str, str]) -> None:
        self._server = ("tmux", "-u", "-L", f"full-{uuid.uuid4().hex[:8]}", "-f", "/dev/null")
        settings = [word for name, value in environment.items() for word in ("-e", f"{name}={value}")]
        size = ("-x", str(COLUMNS), "-y", str(LINES))
        settings_of_tmux = ("set", "-g", "status", "off", ";", "set", "-g", "default-terminal", "xterm-256color", ";")
        session = ("new-session", "-d", *size, "-c", str(folder), *settings, "--", *argv)
        self.ask("start-server", ";", *settings_of_tmux, *session)

    def __enter__(self) -> "Tmux":
        return self

    def __exit__(self, *_: object) -> None:
        self.ask("kill-server")

    def ask(self, *words: str) -> str:
        return subprocess.run([*self._server, *words], check=True, capture_output=True, text=True, timeout=STUCK).stdout

    def type(self, text: str) -> None:
        self.ask("send-keys", "-l", text)

    def rows(self) -> list[str]:
        return [row.rstrip() for row in self.ask("capture-pane", "-p").removesuffix("\n").split("\n")]


def same(ours: Connection, shown: Shown, theirs: Tmux, when: str) -> None:
    """Wait until both show the same."""

    def equal() -> bool:
        rows = [plain(row).rstrip() for row in shown.rows(ours)]
        other = theirs.rows()
        return bool(rows) and any(rows) and rows == other + [""] * (len(rows) - len(other))

    try:
        wait_until(equal, 20, when)
    except AssertionError as error:
        mine = [plain(row).rstrip() for row in shown.rows(ours)]
        differ = [(n, *pair) for n, pair in enumerate(zip(mine, theirs.rows(), strict=False)) if pair[0] != pair[1]]
        raise AssertionError(f"{error}: {differ[:5]}") from None
