"""Git repositories for tests."""

import shutil
import subprocess
from pathlib import Path

import pytest


def git(at: Path, *words: str) -> str:
    """What git prints; it must succeed."""
    done = subprocess.run(["git", *words], cwd=at, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def put(at: Path, name: str, text: str) -> None:
    """Write a file, and the folders that it needs."""
    path = at / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def commit(at: Path, name: str, text: str) -> str:
    """Write a file and commit everything; returns the commit."""
    put(at, name, text)
    git(at, "add", "--all")
    git(at, "commit", "-qm", f"{name}: {text}")
    return git(at, "rev-parse", "HEAD")


def repository_in(project: Path) -> Path:
    """Make a repository with one commit of a folder that is there, which git does not tidy beside a test."""
    git(project, "init", "-q", "-b", "main")
    git(project, "config", "maintenance.auto", "false")
    git(project, "config", "user.name", "a person")
    git(project, "config", "user.email", "person@localhost")
    commit(project, "README", "hello\n")
    return project


def let_git_die(folder: Path, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kill the next git that is asked this word, as a system without memory does; every other one goes on to work."""
    mark, program = folder / "next", folder / "git"
    folder.mkdir()
    mark.touch()
    dies = f'case " $* " in *" {word} "*) rm "{mark}" 2>/dev/null && kill -9 $$;; esac'
    program.write_text(f'#!/bin/sh\n{dies}\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
