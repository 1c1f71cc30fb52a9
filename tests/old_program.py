"""Version 0.1.0 of the program: this repository's commit 4e3d13b, in an environment of its own with our packages."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.conftest import Result
from tests.waiting import STUCK

ROOT = Path(__file__).parents[1]
COMMIT = "4e3d13b"


class Old:
    """The old program, installed as a person's environment has it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        [packages] = folder.glob("lib/python*/site-packages")
        self._named = packages / "pro0.pth"
        self._holds(folder / "source")

    def _holds(self, source: Path) -> None:
        self._named.write_text(f"{source}\n{sysconfig.get_path('purelib')}\n")

    def upgrade(self) -> None:
        """Let the same environment hold the present version from now on, as an upgrade in place does."""
        self._holds(ROOT)

    def __call__(self, *words: str, cwd: Path, codes: tuple[int, ...] = (0,), **environment: str) -> Result:
        done = subprocess.run(
            [self.python, "-m", "pro0", *words],
            cwd=cwd,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=STUCK,
        )
        assert done.returncode in codes, (words, done)
        return Result(done.returncode, done.stdout, done.stderr)


def old_program(folder: Path) -> Old:
    """Install it; a clone without its history has none."""
    (source := folder / "source").mkdir(parents=True)
    archive = subprocess.run(["git", "archive", COMMIT, "pro0"], cwd=ROOT, capture_output=True)
    if archive.returncode:
        pytest.skip(f"this clone has no commit {COMMIT}")
    subprocess.run(["tar", "x", "-C", source], input=archive.stdout, check=True)
    return Old(folder)
