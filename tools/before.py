"""Faults of an older version, then and now: `python -m tools.before [COMMIT]` runs tests/breaks against both.

The older version is installed below build/before, with an environment of its own. Each test is one line of the table.
"""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIRST = "4e3d13b"
"""The commit that people tried by hand."""
WORDS = {"failure": "fails", "error": "error", "skipped": "left out"}


def main() -> int:
    """Print the table; exit 1 when a test does not pass now."""
    commit = sys.argv[1] if len(sys.argv) > 1 else FIRST
    then, now = outcomes(made_ready(commit)), outcomes(None)
    for test in sorted({*then, *now}):
        print(f"{then.get(test, 'not run'):9} {now.get(test, 'not run'):9} {test}")
    fails = sum(outcome == "fails" for outcome in then.values())
    print(f"{fails} of {len(then)} fail at {commit}; {sum(map('passes'.__eq__, now.values()))} of {len(now)} pass now")
    return int(set(now.values()) != {"passes"})


def made_ready(commit: str) -> Path:
    """Return pro0 of another commit, installed in a clone of its own."""
    clone = ROOT / "build" / "before" / commit
    if not clone.is_dir():
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        subprocess.run(["git", "checkout", "--quiet", commit], cwd=clone, check=True)
    subprocess.run(["make", "setup"], cwd=clone, check=True, stdout=sys.stderr)
    return clone / ".venv" / "bin" / "pro0"


def outcomes(program: Path | None) -> Mapping[str, str]:
    """Return test → its outcome, against a program, or against this installation for None."""
    report = ROOT / "build" / "breaks.xml"
    argv = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "-p", "no:cacheprovider", "tests/breaks"]
    chosen = {"PRO0_BREAKS_PROGRAM": str(program)} if program else {}
    subprocess.run([*argv, f"--junitxml={report}"], cwd=ROOT, check=False, stdout=sys.stderr, env=os.environ | chosen)
    cases = ElementTree.parse(report).iter("testcase")
    return {f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}": outcome(case) for case in cases}


def outcome(case: ElementTree.Element) -> str:
    """Return the outcome of one test in a word."""
    return next((WORDS[part.tag] for part in case if part.tag in WORDS), "passes")


if __name__ == "__main__":
    sys.exit(main())
