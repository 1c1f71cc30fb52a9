"""tmux as a terminal: what a member shows and is typed arrives unchanged; and the main pane keeps its share."""

import os
import select
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from pro0.ops.tasks.drafts import SeatDraft
from pro0.sessions import backend_named
from pro0.sessions.backend import Opening, Place
from tests.elsewhere import machine_for
from tests.engine.crew import crew
from tests.forks import start_in_terminal
from tests.waiting import STUCK, wait_until

SHOWS = r"""
import os, sys, tty
tty.setraw(0)
shown = "\x1b[>4;1m\x1b[38;2;255;100;7mtrue\x1b[0m \x1b[3mitalic\x1b[0m \x1b[4:3mcurl\x1b[0m"
os.write(1, f"{shown} TERM={os.environ['TERM']}.\r\n".encode())
while True:
    with open(sys.argv[1], "ab") as typed:
        typed.write(os.read(0, 4096))
"""


BORDERS = 3
"""Lines or columns that borders and rounding may take from a share."""


class Client:
    """A terminal of the person's, by the bytes that come out of it and go into it."""

    def __init__(self, argv: tuple[str, ...]) -> None:
        kind = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        self._pid, self._descriptor = start_in_terminal(argv, os.environ | kind)
        self.seen = b""

    def sees(self, text: bytes) -> bool:
        """Take in what has come, and return whether this is in it."""
        while select.select([self._descriptor], [], [], 0.05)[0]:
            try:
                self.seen += os.read(self._descriptor, 1 << 16)
            except OSError:
                break
        return text in self.seen

    def type(self, data: bytes) -> None:
        os.write(self._descriptor, data)

    def close(self) -> None:
        os.close(self._descriptor)
        os.waitpid(self._pid, 0)


@contextmanager
def client(*argv: str) -> Iterator[Client]:
    made = Client(argv)
    try:
        yield made
    finally:
        made.close()


MODIFIED = (b"\x1b[13;2u", b"\x1b[13;5u", b"\x1b[9;5u", b"\x1b[127;5u")


@pytest.mark.parametrize(("mode", "term"), [("tmux", b"tmux-256color"), ("tmux@build1", b"xterm-256color")])
def test_what_a_member_shows_and_is_typed_arrives_unchanged(
    mode: str, term: bytes, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Must show 7, measured at both ends; the team was started in a terminal that tmux does not know."""
    monkeypatch.setenv("TERM", "xterm-kitty")
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.setenv("PRO0_REVIVE_LEAD", "0")
    typed = tmp_path / "typed"
    with machine_for(mode, tmp_path, monkeypatch) as machine, crew(home, tmp_path, "tmux", machine) as alpha:
        alpha.lead()
        (state,) = alpha.spawn(SeatDraft(name="w1", agent="command", argv=(sys.executable, "-c", SHOWS, str(typed))))
        assert state.handle
        with client(str(Path(sys.executable).with_name("pro0")), "team", "attach", "alpha") as person:
            wait_until(lambda: person.sees(b"TERM=" + term + b"."), STUCK, "the member shows what it is to show")
            for shown in (b"38;2;255;100;7m", b"\x1b[3mitalic", b"C-b d leaves"):
                assert person.sees(shown), shown
            assert person.sees(b"[4:3m") or person.sees(b"[4::3m")
            for data in (*MODIFIED, "é".encode()):
                person.type(data)
                wait_until(lambda data=data: typed.read_bytes().endswith(data), STUCK, f"{data!r} arrives")  # type: ignore[misc]


def opened(place: Place, count: int, folder: Path) -> tuple[tuple[str, ...], object]:
    """Open so many panes; return how to ask their server, and the handles."""
    panes = [Opening(f"inc-{n}", f"w{n}", ("/bin/sh", "-c", "cat"), folder / "log") for n in range(count)]
    handles = backend_named("tmux").open(place, panes)
    return ("tmux", "-S", handles[0].socket), handles


@pytest.mark.parametrize(("layout", "side"), [("main-vertical", "width"), ("main-horizontal", "height")])
def test_the_main_pane_keeps_its_share(layout: str, side: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))
    monkeypatch.delenv("TMUX", raising=False)
    place = Place("share", uuid.uuid4().hex, tmp_path, layout=layout)
    ask, _ = opened(place, 3, tmp_path)
    outer = ("tmux", "-L", f"outer-{uuid.uuid4().hex[:8]}", "-f", "/dev/null")

    def share() -> tuple[int, int]:
        form = f"#{{window_width}} #{{window_height}} #{{pane_{side}}}"
        said = subprocess.check_output([*ask, "list-panes", "-F", form], text=True).split()
        whole = int(said[0 if side == "width" else 1])
        return whole, int(said[2])

    def is_kept(columns: int, lines: int) -> bool:
        whole, main = share()
        return whole == (columns if side == "width" else lines) and abs(main - 0.6 * whole) <= BORDERS

    try:
        attach = f"env -u TMUX {' '.join(ask)} attach-session"
        subprocess.run([*outer, "new-session", "-d", "-x", "120", "-y", "40", attach], check=True)
        wait_until(lambda: is_kept(120, 39), STUCK, "60 % when a client attaches")
        subprocess.run([*outer, "resize-window", "-x", "90", "-y", "60"], check=True)
        wait_until(lambda: is_kept(90, 59), STUCK, "60 % when it is resized")
    finally:
        subprocess.run([*outer, "kill-server"], check=False)
        backend_named("tmux").dismantle(place)


def test_the_status_line_says_who_waits_and_how_to_leave_by_the_persons_prefix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("TMUX", raising=False)
    (tmp_path / ".tmux.conf").write_text("set -g prefix C-a\n")
    place, tmux = Place("alpha", uuid.uuid4().hex, tmp_path), backend_named("tmux")
    handles = tmux.open(place, [Opening("inc-1", "w1", ("/bin/sh", "-c", "cat"), tmp_path / "log")])
    try:
        with client("tmux", "-S", handles[0].socket, "attach-session") as person:
            wait_until(lambda: person.sees(b"C-a d leaves"), STUCK, "how to leave is said")
            assert b"w1 waits" not in person.seen
            tmux.mark({handles[0]: True}, 1)
            wait_until(lambda: person.sees(b"w1 waits"), STUCK, "who waits is said")
            person.type(b"\x01d")
            wait_until(lambda: person.sees(b"[detached"), STUCK, "the person's own prefix leaves")
    finally:
        tmux.dismantle(place)


ODD = """
set -g base-index 1
set -g status off
set -g prefix C-a
set -g default-terminal screen
set -s escape-time 77
set -s extended-keys off
set -gw pane-base-index 1
set -gw synchronize-panes on
set -gw remain-on-exit on
set -gw main-pane-width 33
set -gw pane-border-status bottom
set-hook -g window-resized 'set -g @resized yes'
bind -n S-Left display-message mine
setenv -g COLORTERM odd
"""
DUMPS = (
    *(("show-options", "-g"), ("show-options", "-s"), ("show-options", "-gw"), ("show-hooks", "-g"), ("list-keys",)),
    *(("show-environment", "-g"), ("show-options",), ("show-options", "-w"), ("list-windows", "-a"), ("list-panes",)),
)


def test_a_persons_tmux_is_byte_identical_before_and_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Must show 7: with odd options, a layout with a main pane, borders and marks."""
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))
    mine = ("tmux", "-L", "mine", "-f", str(tmp_path / "odd.conf"))
    (tmp_path / "odd.conf").write_text(ODD)
    subprocess.run([*mine, "new-session", "-d", "-s", "work", "cat"], check=True)

    def dumps() -> list[bytes]:
        return [subprocess.check_output([*mine, *words]) for words in DUMPS]

    try:
        before, form = dumps(), "#{socket_path},#{pid},#{session_id}"
        inside = subprocess.check_output([*mine, "display-message", "-p", "-t", "work", form], text=True)
        place = Place("odd", uuid.uuid4().hex, tmp_path, inside.strip().replace(",$", ","), layout="main-vertical")
        tmux = backend_named("tmux")
        panes = [Opening(f"inc-{n}", f"w{n}", ("/bin/sh", "-c", "cat"), tmp_path / "log") for n in range(3)]
        handles = tmux.open(place, panes)
        tmux.label(dict.fromkeys(handles, "waiting"))
        tmux.mark(dict.fromkeys(handles, True), 3)
        terms = [subprocess.check_output([*mine, "show-options", "-gv", "default-terminal"])]
        assert terms == [b"screen\n"]
        assert dumps() != before
        tmux.dismantle(place)
        wait_until(lambda: dumps() == before, STUCK, "all is as it was")
    finally:
        with suppress(subprocess.CalledProcessError):
            subprocess.run([*mine, "kill-server"], check=True)
