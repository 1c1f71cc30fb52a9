"""For every small mistake in the store, the rules and what knows and ends processes: does a test fail? `make mutants`.

mutmut makes the mistakes, mypy refuses those that do not fit their types, and the unit tests are run against the rest;
all in a process name space of its own, since a mistake in what ends processes must not reach those of anybody else.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.crash.lanes import SOAK, counted

ROOT = Path(__file__).parents[1]
PLACE = ROOT / "mutants"
BIN = Path(sys.executable).parent
GOAL = 0.9
ALONE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
NOT_ROOT = ("--user", "--map-current-user")
REFUSED = 37
SURVIVED, UNTESTED, UNTRIED = 0, (5, 33), (None, 2)
AREAS = {"the store and its locks": "pro0/store", "the rules": "pro0/rules", "processes": "pro0/processes"}


class Mutant(NamedTuple):
    """One mistake: in which file, under which name, and how the run against it ended."""

    file: str
    name: str
    code: int | None

    @property
    def lives(self) -> bool:
        """Whether no test noticed it."""
        return self.code == SURVIVED or self.code in UNTESTED


def make(names: list[str]) -> int:
    """Make all mutants and try those that are untried, or some by their names; returns the exit code."""
    if not shutil.which(ALONE[0]):
        sys.exit("mutants need unshare, which is part of util-linux")
    alone = [*ALONE, *(NOT_ROOT if os.geteuid() else ())]
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run([*alone, BIN / "mutmut", "run", *names], cwd=ROOT, env=environment).returncode


def results() -> Iterator[Mutant]:
    """Yield every mutant that was made."""
    for path in sorted(PLACE.glob("pro0/**/*.meta")):
        codes: dict[str, int | None] = json.loads(path.read_bytes())["exit_code_by_key"]
        file = str(path.relative_to(PLACE)).removesuffix(".meta")
        yield from (Mutant(file, name, code) for name, code in codes.items())


def change(mutant: Mutant) -> str:
    """Return what a mutant changes, as the line before and after."""
    shown = subprocess.run([BIN / "mutmut", "show", mutant.name], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [line for line in shown.stdout.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return "\n".join(f"    {line[0]} {line[1:].strip()}" for line in lines if "def x" not in line)


def judge(found: list[Mutant]) -> bool:
    """Print each area's score and whoever survived, and count them; true when every area reaches the goal."""
    good = True
    for area, folder in AREAS.items():
        there = [mutant for mutant in found if mutant.file.startswith(folder)]
        kinds = Counter("refused" if one.code == REFUSED else "lives" if one.lives else "killed" for one in there)
        score = kinds["killed"] / max(1, kinds["killed"] + kinds["lives"])
        good = good and score >= GOAL and not any(one.code in UNTRIED for one in there)
        print(f"{area}: {len(there)} mutants, {kinds['refused']} refused by mypy, {kinds['killed']} killed, "
              f"{kinds['lives']} live: {score:.1%}")  # fmt: skip
        for kind in ("killed", "lives", "refused"):
            counted(SOAK, f"mutants {kind}", area, kinds[kind])
    return good


def main(arguments: list[str]) -> int:
    """Make, try and judge; `--report` judges what was tried before, and names who lives."""
    report = "--report" in arguments
    code = 0 if report else make(arguments)
    found = list(results())
    for mutant in found if report else ():
        if mutant.lives:
            print(f"{mutant.file}  {mutant.name.rpartition('.')[2]}\n{change(mutant)}")
    return code or (0 if judge(found) else 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
