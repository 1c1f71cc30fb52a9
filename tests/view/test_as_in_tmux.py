"""Programs in the view are shown as in tmux, row by row and colour by colour (issue 5, must show 3).

tests/streams has what vim, less and htop printed on 100 columns and 30 lines while keys were pressed.
"""

import subprocess
import sys
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import pytest

from pro0.ops.team.members import SeatDraft
from tests.engine.crew import Crew
from tests.view.cells import Cell, cells
from tests.view.person import SECONDS, Person
from tests.view.test_driven import ATTACH
from tests.waiting import wait_until

COLUMNS, LINES = 100, 30
RECORDED = {path.name: path.read_bytes() for path in sorted((Path(__file__).parents[1] / "streams").iterdir())}
PAINTED = "".join(
    f"\x1b[{line};{column + 1}H\x1b[48;5;{line * column % 256}m\x1b[38;2;{line * 8};{column};200m{line * column:03d} "
    for line in range(1, 31)
    for column in range(0, 96, 4)
)
WRITTEN = {
    "a full-screen agent": f"\x1b[?1049h\x1b[2J{PAINTED}\x1b[0m\x1b[15;40H\x1b[1;4;35mdone\x1b[0m\x1b[1;1H\x1b[L",
    "a region": f"\x1b[?1049h{PAINTED}\x1b[0m\x1b[5;20r\x1b[20;1H\n\n\x1b[5;1H\x1b[2M\x1b[r\x1b[1;1H\x1b[3@",
    "emoji": "👍 🚀 ok\r\n🎉🎉🎉|\r\nx👀y\r\n" + "🙂" * 60 + "\r\n|",
    "wide": "你好 世界 한글 テスト\r\n|é ñ ü ß|\r\n" + "漢" * 60 + "\r\n\x1b[31m赤\x1b[44m青\x1b[0m\x1b[3;10H字",
    "alternate and back": "before\r\n\x1b[?1049h\x1b[2J\x1b[5;5Hinside\x1b[?1049lafter",
    "blank but coloured": "\x1b[44m\x1b[2J\x1b[3;5Htext\x1b[41m\x1b[5;1H\x1b[2K\x1b[0m\x1b[7;1H\x1b[42m\x1b[J",
    "attributes": "".join(f"\x1b[{n}mattribute {n}\x1b[0m\r\n" for n in (1, 2, 3, 4, 7, 9, 31, 97, 42, 103)),
    "scrolled": "".join(f"\x1b[{31 + n % 7}mline {n}\x1b[0m\r\n" for n in range(200)),
}
STREAMS = {**RECORDED, **{name: text.encode() for name, text in WRITTEN.items()}}
INNER = "set -g status off; set -as terminal-features ',*:256:RGB'; set -g set-titles on; set -g set-titles-string '#T'"
"""A tmux that draws in a terminal, as the view does: what it keeps for itself says nothing of blanks in colours."""
PLAYER = r"""
import os, pathlib, sys, tty
tty.setraw(0)
streams = sorted(pathlib.Path(sys.argv[1]).iterdir())
os.write(1, b"ready")
while key := os.read(0, 1):
    at = ord(key) - ord("a")
    data = b"\x1b[?1049l\x1bc" + streams[at].read_bytes() + b"\x1b]2;played %d\x07" % at
    while data:
        data = data[os.write(1, data):]
"""


@pytest.fixture
def both(alpha: Crew, tmp_path: Path) -> Iterator[tuple[Person, Person]]:
    """The same player in the view, and in a pane of that size."""
    streams = tmp_path / "played"
    streams.mkdir()
    for number, data in enumerate(STREAMS.values()):
        (streams / f"{number:02}").write_bytes(data)
    (tmp_path / "player.py").write_text(PLAYER)
    argv = (sys.executable, str(tmp_path / "player.py"), str(streams))
    alpha.spawn(SeatDraft(name="w1", agent="command", argv=argv))
    (tmp_path / "inner.conf").write_text(INNER)
    inner = f"env -u TMUX tmux -u -L inner -f {tmp_path}/inner.conf"
    view = Person(tmp_path, ATTACH, COLUMNS, LINES + 1)
    pane = Person(tmp_path, f"{inner} new-session {' '.join(argv)}", COLUMNS, LINES)
    try:
        with view, pane:
            view.sees(lambda rows: rows[0] == "ready" and "w1 running" in rows[-1])
            pane.sees("ready")
            yield view, pane
    finally:
        subprocess.run(["tmux", "-L", "inner", "kill-server"], capture_output=True, check=False)


def test_final_screens_are_those_of_tmux(both: tuple[Person, Person]) -> None:
    view, pane = both
    for number, name in enumerate(STREAMS):
        for one in both:
            one.type(chr(ord("a") + number))
        wait_until(lambda number=number: pane.ask("#{pane_title}") == f"played {number}", SECONDS, name)  # type: ignore[misc]
        same(view, pane, name)


def same(view: Person, pane: Person, name: str) -> None:
    """Wait until the view shows what the pane shows."""
    try:
        wait_until(lambda: shown(view) == shown(pane), SECONDS, name)
    except AssertionError:
        rows = enumerate(zip(shown(view), shown(pane), strict=True))
        pairs = [(line, column, pair) for line, both in rows for column, pair in enumerate(zip_longest(*both))]
        differ = [place for place in pairs if place[2][0] != place[2][1]]
        raise AssertionError(f"{name}: line, column, (view, tmux): {differ[:5]}") from None


def shown(person: Person) -> list[list[Cell]]:
    rows: list[list[Cell]] = cells(person.rows("-e", "-N"))[:LINES]
    return [*rows, *([] for _ in range(LINES - len(rows)))]
