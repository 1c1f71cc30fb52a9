"""A project for the program under test, in which nothing is left behind, whatever its version leaves."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.breaks.program import NAMED, PRO0, Program
from tests.leftovers import end, processes_under
from tests.repositories import repository_in


@pytest.fixture
def pro0(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    """The program in a git repository; its team goes at the end."""
    (project := tmp_path / "project").mkdir()
    monkeypatch.setenv("PATH", os.pathsep.join((str(tmp_path / "bin"), str(PRO0.parent), os.environ["PATH"])))
    monkeypatch.setenv("PRO0_END_GRACE_SECONDS", "1")
    program = Program(repository_in(project))
    yield program
    ended = program.run("team", "cleanup", "alpha", "--force")
    if NAMED:
        end(processes_under(tmp_path, Path(os.environ["TMUX_TMPDIR"])))
    else:
        assert ended.code in (0, 7), ended  # 7 when a branch that nobody merged is kept
