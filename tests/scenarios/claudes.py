"""A stand-in for Claude Code on the PATH, for teams that are driven through the program alone."""

import os
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "programs" / "claude.py"


@pytest.fixture
def claudes(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let `claude` be a stand-in, and return its folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "claude").write_text(f'#!/bin/sh\nexec {sys.executable} -I {SCRIPT} "$@"\n')
    (folder / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    found = tmp_path / "user" / "claudes"
    found.mkdir()
    return found
