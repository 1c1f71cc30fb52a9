"""The film of the README: `make film` types commands into a real terminal, and strings together what it shows.

The lead, the view, the tasks and every word of pro0 are real. The agents are stand-ins on the PATH, which show recorded
screens of the real programs, since no model is asked here.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import NamedTuple

from tools.pictures import drawing
from tools.pictures.scenes import MEMBERS, fixed
from tools.pictures.stage import ROOT, Stage, Terminal, staged, until

COLUMNS, LINES = 104, 24
FILM = ROOT / "docs" / "film.svg"
LARGEST = 1 << 17
STROKE, LETTERS = 0.09, 3
"""Seconds of a frame, and the typed letters that each frame adds."""
CHECKS = """#!/bin/sh
for t in parse lexer names unicode; do sleep 0.2; printf '  test_%-10s \\033[32mpassed\\033[0m\\n' $t; done
"""
JOBS = {
    "Read names as Unicode": {"until": "ada.asks", "asks": "make names"},
    "Document the grammar": {"until": "ben.done"},
}
PASSING, LAST = "ada has your answer", "said: It is done."
_TEAM = " ".join(f"-m {name}={agent}" for name, agent in MEMBERS.items())


class Scene(NamedTuple):
    """The input of a scene, the text that the terminal then shows, and the seconds for which it stays."""

    shows: str
    seconds: float
    line: str = ""
    keys: tuple[str, ...] = ()
    signal: str = ""
    also: str = ""
    without: tuple[str, ...] = ()
    """Texts that must no longer be shown."""


class Frame(NamedTuple):
    """One picture of the film, and how many seconds it stays."""

    rows: tuple[drawing.Row, ...]
    seconds: float


SCENES = (
    Scene("pro0 team cleanup", 2.5, line=f"pro0 team start parser {_TEAM} --detach"),
    Scene("task-1 created", 0.8, line='pro0 task create "Read names as Unicode" --assignee ada'),
    Scene("task-2 created", 0.8, line='pro0 task create "Document the grammar" --assignee ben'),
    Scene("task-3 created", 1.2, line='pro0 task create "Run the tests" --run ./check --blocked-by 1'),
    Scene("ada working", 2.5, line="pro0 team attach"),
    Scene("Document the grammar", 2.0, keys=("S-Down",)),
    Scene("1 waits", 2.0, signal="ada.asks"),
    Scene("permission: Bash", 3.0, keys=("C-t",)),
    Scene("y or n", 2.0, keys=("a",)),
    Scene("2 completed", 2.5, keys=("y",), also=LAST, without=(PASSING,)),
    Scene("test_unicode", 2.5, keys=("C-t", "S-Down"), without=(PASSING,)),
    Scene("All done", 3.0, keys=("C-t",), signal="ben.done", also=LAST, without=(PASSING, "working")),
    Scene("the team parser goes on", 0.8, keys=("q",)),
    Scene("is removed", 4.0, line="pro0 team stop && pro0 team cleanup parser"),
)


def main() -> int:
    """Write docs/film.svg."""
    film = spliced(list(played()))
    assert len(film.encode()) < LARGEST, "too large for a README"
    FILM.write_text(film, encoding="utf-8")
    print(f"docs/film.svg: {len(film) >> 10} KiB")
    return 0


def played() -> Iterator[Frame]:
    """Play the scenes, and yield their frames."""
    with staged(JOBS) as stage:
        stage.program("check", CHECKS)
        with closing(Terminal(stage, COLUMNS, LINES, "env -u TMUX -u TMUX_PANE 'PS1=$ ' bash --norc")) as terminal:
            until(lambda: "$" in terminal.screen(), "a prompt", terminal.screen)
            for scene in SCENES:
                yield from _played(scene, stage, terminal)


def _played(scene: Scene, stage: Stage, terminal: Terminal) -> Iterator[Frame]:
    if scene.line:
        yield from _typed(scene.line, terminal)
        terminal.press("Enter")
    terminal.press(*scene.keys)
    if scene.signal:
        stage.signal(scene.signal)
    yield Frame(drawing.rows(settled(terminal, scene), LINES), scene.seconds)


def _typed(line: str, terminal: Terminal) -> Iterator[Frame]:
    for end in range(0, len(line) + LETTERS, LETTERS):
        terminal.type(line[max(0, end - LETTERS) : end])
        shown = f"$ {line[:end]}".rstrip()
        until(partial(_ends, terminal, shown), shown, terminal.screen)
        yield Frame(drawing.rows(fixed(terminal.screen()), LINES), STROKE)


def _ends(terminal: Terminal, text: str) -> bool:
    return plain(terminal.screen()).rstrip().endswith(text)


def settled(terminal: Terminal, scene: Scene) -> str:
    """Return the screen of the terminal once it shows the texts of the scene and has stopped changing."""
    seen = [""]

    def still() -> bool:
        seen.append(fixed(terminal.screen()))
        words = plain(seen[-1])
        passing = any(text in words for text in scene.without)
        return scene.shows in words and scene.also in words and not passing and len(set(seen[-8:])) == 1

    until(still, scene.shows, terminal.screen)
    return seen[-1]


def plain(screen: str) -> str:
    """Return a screen without its colours."""
    return re.sub(r"\x1b\[[0-9;:]*m", "", screen)


def spliced(frames: list[Frame]) -> str:
    """Return one animated picture that repeats the frames, each for its time: a strip of frames that moves on.

    Most rows occur in many frames, so each row is drawn once and reused.
    """
    known = dict[drawing.Row, int]()
    strip, rules, whole, begun = list[str](), list[str](), sum(frame.seconds for frame in frames), 0.0
    width = COLUMNS * drawing.CELL
    for number, frame in enumerate(frames):
        for at, row in enumerate(frame.rows):
            if row:
                name = known.setdefault(row, len(known))
                strip.append(f'<use href="#r{name}" x="{number * width:g}" y="{at * drawing.ROW}"/>')
        rules.append(f"{100 * begun / whole:.3f}% {{ transform: translateX({-number * width:g}px) }}")
        begun += frame.seconds
    drawn = [f'<g id="r{name}">{"".join(drawing.inked(row))}</g>' for row, name in known.items()]
    style = (
        f"@keyframes film {{ {' '.join(rules)} }}\n"
        f"#film {{ animation: film {whole:g}s step-end infinite }}\n"
        f"@media (prefers-reduced-motion) {{ #film {{ animation: none; {rules[-1].partition('{ ')[2]} }}\n"
    )
    inside = "\n".join(["<defs>", *drawn, "</defs>", '<g id="film">', *strip, "</g>"])
    return drawing.framed(inside, COLUMNS, LINES, "pro0", style)


if __name__ == "__main__":
    sys.exit(main())
