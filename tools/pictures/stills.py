"""The pictures of terminals in docs/: `python -m tools.pictures.stills` starts a team and photographs what is shown.

Each is made of the cells that a terminal shows, so the same screen is the same file, byte for byte, on any machine.
"""

import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from tools.pictures import drawing
from tools.pictures.scenes import at_work, fixed
from tools.pictures.stage import PATIENCE, PRO0, PROJECT, ROOT, Terminal

SETTLED = 5
"""How many looks in a row must be alike before a new picture is taken."""


class Still(NamedTuple):
    """One picture: the keys that lead to it, and words by which it is known."""

    name: str
    keys: tuple[str, ...]
    shows: str

    @property
    def path(self) -> Path:
        """Return the file of the picture."""
        return ROOT / "docs" / f"{self.name}.svg"


class Sitting(NamedTuple):
    """Pictures of one team: its mode, and the size of the terminal."""

    mode: str
    columns: int
    lines: int
    stills: tuple[Still, ...]


SITTINGS = (
    Sitting("in-process", 104, 28, (Still("view", (), "proceed?"), Still("board", ("C-t",), "MESSAGES"))),
    Sitting("tmux", 120, 38, (Still("tmux", (), "ada waits"),)),
)
Take = Callable[[Still, Callable[[], str]], None]


def main() -> int:
    """Write the pictures anew."""
    for sitting in SITTINGS:
        sit(sitting, lambda still, picture: write(still, settled(still, picture)))
    return 0


def sit(sitting: Sitting, take: Take) -> None:
    """Start the team and call `take` for each picture; it may look as often as it likes."""
    with at_work(sitting.mode) as stage:
        terminal = Terminal(stage, sitting.columns, sitting.lines, f"{PRO0} team attach {PROJECT}")
        with closing(terminal):
            for still in sitting.stills:
                terminal.press(*still.keys)
                take(still, lambda: picture(terminal.screen(), sitting))


def picture(screen: str, sitting: Sitting) -> str:
    """Return what a terminal shows as a picture."""
    return drawing.still(fixed(screen), sitting.columns, sitting.lines, f"pro0 team attach {PROJECT}")


def settled(still: Still, picture: Callable[[], str]) -> str:
    """Return a picture once it shows its text and has stopped changing; raises SystemExit when it never does."""
    seen, deadline = list[str](), time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        seen = [*seen[1 - SETTLED :], picture()]
        if still.shows in seen[-1] and len(seen) == SETTLED and len(set(seen)) == 1:
            return seen[-1]
        time.sleep(0.2)
    raise SystemExit(f"{still.name}: {still.shows!r} is not shown, or goes on changing")


def write(still: Still, picture: str) -> None:
    """Keep a picture."""
    still.path.write_text(picture, encoding="utf-8")
    print(f"docs/{still.name}.svg: {len(picture) >> 10} KiB")


if __name__ == "__main__":
    sys.exit(main())
