"""The film of the README: `make film` types commands into a real terminal, and strings together what it shows.

The lead, the view, the tasks and every word of pro0 are real. The agent is a stand-in on the PATH, which shows recorded
screens of the real one, since no model is asked here.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from tools.screenshots import PRO0, ROOT

COLUMNS, LINES = 120, 41
FILM = ROOT / "docs" / "film.svg"
SCREENS = ROOT / "tests" / "screens"
RECORDED = {"claude": "claude-2.1.330-120x40"}
TESTS = "for t in parse lexer errors; do echo test_$t passed; sleep 1; done; sleep 60"
STAND_IN = """#!/bin/sh
case "$*" in *--version*) echo "{version}"; exit;; esac
printf '\\033[2J\\033[H%s' "$(cat {working})"
while [ ! -e {signal} ]; do sleep 0.2; done
printf '\\033[2J\\033[H%s' "$(cat {permission})"
exec sleep 3600
"""
LARGEST = 1 << 20
ANSI = re.compile(r"\x1b\[[0-9;]*m")
PATIENCE = 40
"""Seconds for one scene."""


class Scene(NamedTuple):
    """What is typed, what the terminal then shows, and how many seconds it stays."""

    keys: tuple[str, ...]
    until: str
    seconds: float


SCENES = (
    Scene(("pro0 team start parser -m ada=claude -m ben=shell --detach",), "team start parser", 2.0),
    Scene(("Enter",), "pro0 team attach", 3.5),
    Scene(("pro0 task create 'Read names as Unicode' --assignee ada", "Enter"), "task-1", 2.0),
    Scene((f"pro0 task create 'Run the tests' --run '{TESTS}'", "Enter"), "task-2", 2.5),
    Scene(("pro0 team attach", "Enter"), "ada working", 3.5),
    Scene(("S-Down",), "test_errors", 3.0),
    Scene(("S-Up", "ask"), "ada waiting", 3.5),
    Scene(("C-t",), "MEMBERS", 4.5),
    Scene(("q", "clear", "Enter", "pro0 needs", "Enter"), "pro0 member", 4.5),
)


def main() -> int:
    """Write docs/film.svg."""
    with tempfile.TemporaryDirectory(prefix="pro0-", dir="/tmp") as name:
        folder = Path(name)
        environment = stage(folder)
        server = ["tmux", "-S", f"{folder}/outer", "-f", "/dev/null"]
        shell = [*server, "new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES), "bash", "--norc"]
        subprocess.run(shell, check=True, env=environment, cwd=folder / "parser")
        try:
            pictures = list(played(server, folder))
        finally:
            subprocess.run([*server, "kill-server"], check=True)
            cleanup = [PRO0, "team", "cleanup", "parser", "--force"]
            subprocess.run(cleanup, check=False, cwd=folder / "parser", env=environment)
    film = spliced(pictures, [scene.seconds for scene in SCENES])
    assert len(film.encode()) < LARGEST, "too large for a README"
    FILM.write_text(film, encoding="utf-8")
    print(f"{len(pictures)} scenes, {len(film) >> 10} KiB in docs/film.svg")
    return 0


def stage(folder: Path) -> dict[str, str]:
    """Make a home, a project and the stand-ins, and return the environment of the shell."""
    programs = folder / "bin"
    for place in (folder / "parser", programs, folder / "home"):
        place.mkdir(mode=0o700)
    for agent, recorded in RECORDED.items():
        words = {"version": recorded.split("-")[1], "signal": folder / f"{agent}.ask"}
        words |= {kind: SCREENS / f"{recorded}-{kind}.txt" for kind in ("working", "permission")}
        (programs / agent).write_text(STAND_IN.format(**words))
        (programs / agent).chmod(0o755)
    path = os.pathsep.join((str(programs), str(Path(PRO0).parent), os.environ["PATH"]))
    own = {
        "PRO0_HOME": f"{folder}/home",
        "HOME": str(folder),
        "PATH": path,
        "PS1": "$ ",
        "PRO0_TEAMMATE_MODE": "in-process",
    }
    return {name: value for name, value in os.environ.items() if not name.startswith(("PRO0_", "TMUX"))} | own


def played(server: list[str], folder: Path) -> Iterator[str]:
    """Play the scenes, and yield what the terminal shows at the end of each."""
    for scene in SCENES:
        for keys in scene.keys:
            if keys == "ask":
                (folder / "claude.ask").touch()
            else:
                subprocess.run([*server, "send-keys", keys], check=True)
        yield waited_for(server, scene.until)


def waited_for(server: list[str], text: str) -> str:
    """Return what the terminal shows once it shows this text; raises SystemExit when it never does."""
    for _ in range(PATIENCE * 5):
        found = subprocess.run([*server, "capture-pane", "-ep"], check=True, capture_output=True, text=True).stdout
        if text in ANSI.sub("", found):
            time.sleep(0.4)  # what belongs to it may still be drawn
            return subprocess.run([*server, "capture-pane", "-ep"], check=True, capture_output=True, text=True).stdout
        time.sleep(0.2)
    raise SystemExit(f"{text!r} is not shown, but:\n{found}")


def spliced(pictures: list[str], seconds: list[float]) -> str:
    """Return one picture that shows these, each for its time, again and again."""
    whole, begun, frames, rules = sum(seconds), 0.0, list[str](), list[str]()
    for number, (picture, stay) in enumerate(zip(pictures, seconds, strict=True)):
        console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
        rows = re.sub(r"/tmp/pro0-\w+", "~", picture).splitlines()
        console.print(Text.from_ansi("\n".join([*rows, *[""] * (LINES - len(rows))])), end="")
        drawn = console.export_svg(title="pro0", unique_id=f"f{number}")
        drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
        frames.append(drawn.replace("<svg ", f'<svg id="scene{number}" ', 1))
        start, end = 100 * begun / whole, 100 * (begun + stay) / whole
        begun += stay
        rules.append(
            f"@keyframes scene{number} {{ 0%, {start:.2f}% {{ visibility: hidden }} {start + 0.01:.2f}%, {end:.2f}% "
            f"{{ visibility: visible }} {min(end + 0.01, 100):.2f}%, 100% {{ visibility: hidden }} }}\n"
            f"#scene{number} {{ visibility: hidden; animation: scene{number} {whole:g}s step-end infinite }}"
        )
    boxes = [re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', frame) for frame in frames]
    width, height = (max(float(box[side]) for box in boxes if box) for side in (1, 2))
    sized = [re.sub(r'viewBox="0 0 [\d.]+ [\d.]+"', f'viewBox="0 0 {width} {height}"', frame) for frame in frames]
    style = "<style>\n" + "\n".join(rules) + "\n</style>"
    head = f'<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">'
    return (
        f'{head}\n{style}\n<rect width="100%" height="100%" rx="8" fill="#292929"/>\n' + "\n".join(sized) + "\n</svg>\n"
    )


if __name__ == "__main__":
    sys.exit(main())
