"""Examples of the helps that need a team at work, a shell or a pipe, typed in one story as they stand there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.examples import of_the_helps
from tests.e2e.conftest import Team
from tests.waiting import STUCK

STORY = """\
pro0 team start alpha -m w1=shell -m w2=shell
pro0 member spawn w4 --agent shell
pro0 member spawn "Test Runner" --agent shell --task "run the tests"
pro0 team logs
pro0 member peek w1 -n 200
pro0 task claim 1 && pro0 task complete 1 "done"
git diff | pro0 send "Test Runner" -
pro0 broadcast - < notes.txt
eval "$(pro0 member env w1)"
pro0 role add tester --prompt - < tester.md
pro0 role edit engineer --prompt - < engineer.md
pro0 task create "build it" --run make --timeout 600
pro0 team wait alpha --timeout 600 || pro0 task list --status failed
pro0 agent list
pro0 delegate "run the checks" --agent shell --run "make check" && pro0 team wait
pro0 worker list --all --json
pro0 member shutdown w4
pro0 member shutdown w1
pro0 member restart w1
pro0 team resume alpha
pro0 team stop alpha && pro0 team cleanup alpha
pro0 team start beta --detach --mode headless -m "Test Runner=shell" --task "look around"
pro0 team stop
pro0 team resume
pro0 member show "Test Runner" --json
pro0 team stop alpha --timeout 5 --force
pro0 team cleanup alpha --force
"""
"""In this order; where the second team is the one of the project, the name of the first means nothing any more."""
GONE = {"pro0 team stop alpha --timeout 5 --force": 3}
"""How it ends where it is not 0: there is no such team then."""


@pytest.fixture
def typed(team: Team, scripts: None, monkeypatch: pytest.MonkeyPatch) -> Team:
    """A team that is not there yet, in a project with the files that examples name."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    (team.project / "Makefile").write_text("all check:\n\t@true\n")
    for name in ("notes.txt", "tester.md", "engineer.md"):
        (team.project / name).write_text("words\n")
    who = ("-c", "user.name=t", "-c", "user.email=t@t")
    for words in (("add", "-A"), (*who, "commit", "-qm", "one")):
        subprocess.run(["git", *words], cwd=team.project, check=True)
    (team.project / "notes.txt").write_text("other words\n")
    return team


def test_the_story_can_be_typed(typed: Team) -> None:
    known = {line for _, line in of_the_helps()}
    try:
        for line in STORY.splitlines():
            assert line in known, f"no help says {line!r}"
            done = subprocess.run(
                ["/bin/sh", "-c", line], cwd=typed.project, capture_output=True, text=True, timeout=STUCK, check=False
            )
            assert done.returncode == GONE.get(line, 0), (line, done)
            assert "Traceback" not in done.stderr
    finally:
        typed.cli("team", "cleanup", "beta", "--force", cwd=typed.project)
