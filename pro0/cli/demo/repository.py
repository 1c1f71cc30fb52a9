"""The git repository of the demo, and the few tools for its tasks."""

import shlex
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from pro0 import looking
from pro0.cli.demo.plan import EXPECTED, PROGRAM, SAMPLE
from pro0.cli.demo.scratch import Scratch
from pro0.git.commands import Git

TEMPLATE = ".in"
"""The suffix of every file shipped for the demo, so that no tool takes it for a part of this project."""
LONGEST = 30


class Commit(msgspec.Struct, frozen=True):
    """One commit: who made it, and its subject."""

    author: str
    subject: str


def make(scratch: Scratch) -> None:
    """Make the repository with its first commit, and the tools beside it."""
    _unpack(scratch)
    scratch.project.mkdir()
    git = Git(scratch.project)
    git.run("init", "--quiet", "--template=")
    git.run("symbolic-ref", "HEAD", "refs/heads/main")
    git.run("config", "user.name", "human")
    git.run("config", "user.email", "human@demo.invalid")
    (scratch.project / ".gitignore").write_text("__pycache__/\n", encoding="utf-8")
    git.run("add", ".gitignore")
    git.run("commit", "--quiet", "-m", "start")


def commits(scratch: Scratch) -> list[Commit]:
    """Return the commits, oldest first."""
    lines = Git(scratch.project).run("log", "--reverse", "--format=%an%x09%s").splitlines()
    return [Commit(author, subject) for author, _, subject in (line.partition("\t") for line in lines)]


def tagged(scratch: Scratch, tag: str) -> bool:
    """Return True when the tag names the newest commit, and nothing is uncommitted."""
    git = Git(scratch.project)
    return git.run("tag", "--points-at", "HEAD", "--list", tag) == tag and not git.run("status", "--porcelain")


def output(scratch: Scratch) -> str:
    """Run the team's program and return its output, or its failure."""
    argv = [sys.executable, "-I", PROGRAM, SAMPLE]
    done = subprocess.run(argv, cwd=scratch.project, capture_output=True, text=True, errors="replace", timeout=LONGEST)
    return done.stdout if done.returncode == 0 else done.stderr


def expected() -> str:
    """Return the expected output of the program."""
    return (files(__package__) / "material" / f"{EXPECTED}{TEMPLATE}").read_text(encoding="utf-8")


def lingering(scratch: Scratch) -> bool:
    """Return True when the long task has begun."""
    return looking.exists(scratch.material / "bin" / "lingered")


def _unpack(scratch: Scratch) -> None:
    """Copy the shipped files to their places, and make the tools executable."""
    with as_file(files(__package__) / "material") as shipped:
        for source in shipped.rglob(f"*{TEMPLATE}"):
            target = scratch.material / source.relative_to(shipped)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    scratch.bin.mkdir()
    _program(scratch.bin / "python3", sys.executable)
    _program(scratch.bin / "pro0", sys.executable, "-I", "-m", "pro0")
    for tool in (scratch.material / "bin").iterdir():
        _program(scratch.bin / tool.name.removesuffix(TEMPLATE), sys.executable, "-I", "-S", str(tool))


def _program(path: Path, *argv: str) -> None:
    path.write_text(f'#!/bin/sh\nexec {shlex.join(argv)} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
