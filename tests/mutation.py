"""For every small mistake in the store, the rules and what knows and ends processes: does a test fail? `make mutants`.

mutmut makes the mistakes, mypy refuses those that do not fit their types, and the tests are run against the rest
(`trying.py`; in the guard and in who is who `rewriting.py`), all in a process name space of its own: a mistake in what
ends processes must not reach anybody else's.
What lives is on a page with the reason why no test can notice it; whatever is not there is named, and fails.
"""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests import rewriting
from tests.crash.figures import MUTATED
from tests.crash.lanes import SOAK, counted
from tests.trying import CHILDREN, NAMES, NOTICED
from tests.verdicts import REFUSED, TYPED, Mutant, Verdicts

ROOT = Path(__file__).parents[1]
PLACE = ROOT / "mutants"
PAGE = ROOT / "docs" / "mutants.md"
BIN = Path(sys.executable).parent
GOAL = 0.9
ALONE = ("--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", '"$@"; exit $?', "sh")
"""The shell is the first process there, which waits for whoever has lost its parent."""
NOT_ROOT = ("--user", "--map-current-user")


def make(children: int) -> None:
    """Make all mutants anew where the code has changed, and take out those that mypy refuses."""
    from mutmut.__main__ import create_mutants
    from mutmut.mutation.file_mutation import filter_mutants_with_type_checker
    from mutmut.utils.file_utils import copy_also_copy_files, copy_src_dir

    from tests.decorated import mutate_them

    mutate_them()
    PLACE.mkdir(exist_ok=True)
    shutil.rmtree(PLACE / "tests", ignore_errors=True)
    copy_src_dir()
    copy_also_copy_files()
    create_mutants(children)
    verdicts = Verdicts(PLACE)
    if new := [one.name for one in verdicts if one.code is None]:
        refused = filter_mutants_with_type_checker()
        for name in new:
            verdicts.put(name, REFUSED if name in refused else TYPED)


def try_all(names: list[str], children: int) -> int:
    """Try those that no test has noticed yet, or some by patterns of their names; returns the exit code."""
    from mutmut.configuration import config

    chosen = [*config().pytest_add_cli_args, *config().pytest_add_cli_args_test_selection]
    command = [sys.executable, "-m", "pytest", "-s", "-p", "tests.trying", *chosen]
    environment = os.environ | {NAMES: " ".join(names), CHILDREN: str(children)}
    return subprocess.run(command, cwd=PLACE, env=environment, stdin=subprocess.DEVNULL).returncode


def alone(names: list[str]) -> int:
    """Do all that in a process name space of its own; returns the exit code."""
    if not shutil.which("unshare"):
        sys.exit("mutants need unshare, which is part of util-linux")
    apart = ["unshare", *(NOT_ROOT if os.geteuid() else ()), *ALONE]
    environment = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run([*apart, sys.executable, "-m", __spec__.name, "--inside", *names], env=environment).returncode


def told(mutant: Mutant) -> str:
    """Return where a mutant is and what it changes, as the page shows it."""
    from mutmut.mutation.diff_apply import get_diff_for_mutant

    changed = [line for line in get_diff_for_mutant(mutant.name).splitlines() if line[:1] in "+-"]
    lines = [f"{line[0]} {line[1:].strip()}" for line in changed if line[:3] not in ("+++", "---")]
    return place_of(mutant) + "".join(f"    {line}\n" for line in lines)


def place_of(mutant: Mutant) -> str:
    """Return the line in which the page says where a mutant is."""
    function = mutant.name.rpartition("__mutmut_")[0].rpartition(".")[2].removeprefix("x_").removeprefix("xǁ")
    return f"    {mutant.file} {function.replace('ǁ', '.')}\n"


def first_line(shown: str) -> str:
    """Return the line in which the page says where a mistake is."""
    return shown.splitlines(keepends=True)[0]


def noticed_by(found: Verdicts) -> dict[str, str]:
    """Return which test has noticed each mutant, by what the page would show of it."""
    path = PLACE / NOTICED
    lines = path.read_text().splitlines() if path.exists() else []
    tests = dict(line.split(" ", 1) for line in lines)
    return {told(one): tests.get(one.name, "its end") for one in found if one.kind == "killed"}


def compare(found: Verdicts, rewritten: dict[str, str]) -> bool:
    """Name who lives and is not on the page, and who is there but does not live; true when there are none."""
    page = PAGE.read_text(encoding="utf-8")
    living = {told(one) for one in found if one.kind == "lives"}
    living |= {shown for shown, kind in rewritten.items() if kind == "lives"}
    tried = (*{place_of(one) for one in found if one.kind in ("killed", "lives")}, *map(first_line, rewritten))
    listed = {block for block in re.findall(r"(?:^    .*\n)+", page, re.MULTILINE) if block.startswith(tried)}
    for block in sorted(living - listed):
        print(f"lives, and nobody has said why:\n\n{block}")
    by = noticed_by(found) if listed - living else {}
    for block in sorted(listed - living):
        print(f"is noticed by {by.get(block, 'none that is there')}:\n\n{block}")
    return living == listed


def judge(found: Verdicts, rewritten: dict[str, str]) -> bool:
    """Print each area's score, and count its mutants; true when every area reaches the goal."""
    good = True
    for area, folder in MUTATED.items():
        there = [one.kind for one in found if one.file.startswith(folder)]
        there += [kind for shown, kind in rewritten.items() if shown.strip().startswith(folder)]
        kinds = Counter(there)
        score = kinds["killed"] / max(1, kinds["killed"] + kinds["lives"])
        good = good and score >= GOAL and not kinds["untried"]
        print(f"{area}: {len(there)} mutants, {kinds['refused']} refused by mypy, {kinds['killed']} killed, "
              f"{kinds['lives']} live: {score:.1%}")  # fmt: skip
        for kind in ("killed", "lives", "refused") if there else ():
            counted(SOAK, f"mutants {kind}", area, kinds[kind])
    return good


def main(arguments: list[str]) -> int:
    """Make, try and judge; `--report` judges what was tried before, `--files WORD` tries files of the second way."""
    os.chdir(ROOT)
    if arguments[:2] == ["--inside", "--files"]:
        rewriting.try_all(arguments[2:])
        return 0
    if arguments[:1] == ["--inside"]:
        children = int(os.environ.get(CHILDREN) or os.cpu_count() or 1)
        make(children)
        code = try_all(arguments[1:], children)
        if not arguments[1:]:
            rewriting.try_all([])
        return code
    code = 0 if arguments == ["--report"] else alone(arguments)
    found = Verdicts(PLACE)
    rewritten = rewriting.verdicts()
    return code or int(not all([compare(found, rewritten), judge(found, rewritten)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
