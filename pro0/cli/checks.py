"""The checks of `pro0 doctor` on this machine: Python, tmux, git, settings."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import msgspec

from pro0.cli import project
from pro0.config import load
from pro0.errors import Pro0Error

OLDEST_PYTHON = (3, 11)
OLDEST_TMUX = (3, 0)


class Verdict(StrEnum):
    """How a check came out; only a fail makes the exit code 1."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Check(msgspec.Struct, frozen=True):
    """One thing that was looked at, and what to do about it."""

    name: str
    verdict: Verdict
    found: str
    mend: str = ""


def machine() -> Iterator[Check]:
    """Check what pro0 runs on."""
    version = ".".join(map(str, sys.version_info[:3]))
    old = sys.version_info[:2] < OLDEST_PYTHON
    yield Check("python", Verdict.FAIL if old else Verdict.OK, version, "install Python 3.11 or newer" if old else "")
    yield _program("tmux", "-V", OLDEST_TMUX, "install tmux 3.0 or newer; without it only the mode headless works")
    yield _program("git", "--version", (2, 0), "install git; without it members cannot have worktrees")


def settings(home: Path, folder: Path) -> Check:
    """Check that the settings in force in a folder can be read and are allowed."""
    try:
        load(home, project.root(folder), os.environ, {})
    except Pro0Error as error:
        return Check("settings", Verdict.FAIL, error.message, error.hint or "correct it; `pro0 config` shows them all")
    return Check("settings", Verdict.OK, "can be read")


def _program(name: str, argument: str, oldest: tuple[int, int], mend: str) -> Check:
    path = shutil.which(name)
    if path is None:
        return Check(name, Verdict.WARN, "not installed", mend)
    try:
        said = subprocess.run([path, argument], capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        return Check(name, Verdict.WARN, f"{path} does not answer: {error}", mend)
    found = re.search(r"(\d+)\.(\d+)", said)
    if found and (int(found[1]), int(found[2])) < oldest:
        return Check(name, Verdict.WARN, said, mend)
    return Check(name, Verdict.OK, said)
