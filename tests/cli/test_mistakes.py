"""What somebody sees who has mistyped, or asks for what cannot be: the thing, and one next step."""

from pathlib import Path

import pytest

from pro0.ops.context import Context
from tests.cli.conftest import Pro0, tree

MISTAKES = {
    "taks list": (2, "there is no command pro0 taks", "did you mean pro0 task?"),
    "task lst": (2, "there is no command pro0 task lst", "did you mean pro0 task list?"),
    "task ad": (2, "there is no command pro0 task ad", "did you mean pro0 task add?"),
    "status": (2, "there is no command pro0 status", "did you mean pro0 team status?"),
    "list": (2, "there is no command pro0 list", "did you mean pro0 team list or pro0 member list or pro0 task list"),
    "rm w1": (2, "there is no command pro0 rm", "pro0 team cleanup or pro0 member shutdown or pro0 task delete"),
    "info": (2, "there is no command pro0 info", "did you mean pro0 team show or pro0 member show"),
    "team create x": (2, "there is no command pro0 team create", "did you mean pro0 team start?"),
    "team kill x": (2, "there is no command pro0 team kill", "did you mean pro0 team stop?"),
    "team delete x": (2, "there is no command pro0 team delete", "did you mean pro0 team cleanup?"),
    "member kill w1": (2, "there is no command pro0 member kill", "did you mean pro0 member shutdown?"),
    "member logs w1": (2, "there is no command pro0 member logs", "did you mean pro0 member peek?"),
    "config ge bell": (2, "there is no command pro0 config ge", "did you mean pro0 config get?"),
    "help team kill": (2, "there is no command pro0 team kill", "did you mean pro0 team stop?"),
    "completion": (2, "missing argument '{bash|zsh|fish}'. Choose from: bash, zsh, fish", "pro0 completion --help"),
    "zzz": (2, "there is no command pro0 zzz", "pro0 --help"),
    "--nope": (2, "no such option", "pro0 --help"),
    "task create x --parent": (2, "option '--parent' requires an argument", "pro0 task create --help"),
    "run --agent": (2, "option '--agent' requires an argument", "pro0 run --help"),
    "task list --jsn": (2, "no such option", "pro0 task list --help"),
    "config get maxTeamates": (3, "there is no setting 'maxTeamates'", "did you mean maxTeammates?"),
    "config get zzz": (3, "there is no setting 'zzz'", "pro0 config shows them all"),
    "config get hooks": (3, "there is no setting 'hooks'", "they stand in config.yaml itself: pro0 man hooks"),
    "config set maxTeamates 3": (3, "there is no setting 'maxTeamates'", "did you mean maxTeammates?"),
    "config unset zzz": (3, "there is no setting 'zzz'", "pro0 config shows them all"),
    "plan hello": (4, "you may not hand in a plan: only a member may", 'eval "$(pro0 member env NAME)"'),
    "shutdown approve": (4, "you may not answer a request to shut down", 'eval "$(pro0 member env NAME)"'),
    "delegate look --agent codex": (6, "codex, which the agent codex runs, is not installed", "npm install"),
    "delegate look --agent runner": (2, "a runner is started by `pro0 run`", "pro0 run --help"),
    "task start 1 --agent runner": (2, "a runner is started by `pro0 run`", "pro0 run --help"),
    "send all hello": (3, "all is nobody's name", "pro0 broadcast TEXT"),
    "task update 3": (2, "there is nothing to change", "pro0 task update 3 --title TEXT"),
    "delegate look": (6, "no agent for this work is installed", "--agent shell --run"),
}
"""What is typed: exit code, what is wrong, and the next step."""


@pytest.mark.parametrize("typed", MISTAKES)
def test_a_mistake_is_named_with_one_next_step(
    typed: str, pro0: Pro0, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin/nothing")
    before = tree(team.team.paths.home)
    code, wrong, step = MISTAKES[typed]
    called = pro0(*typed.split())
    assert (called.code, called.out) == (code, "")
    said, hint = called.err.splitlines()
    assert said.startswith(f"pro0: {wrong}")
    assert hint.startswith("hint: ")
    assert step in hint
    assert tree(team.team.paths.home) == before


def test_a_layout_that_cannot_be_read_is_named_once(pro0: Pro0, project: Path) -> None:
    (project / "mine.yaml").write_text("members: {a: [")
    called = pro0("team", "start", "beta", "-l", "./mine.yaml")
    assert called.code == 2
    assert called.err.startswith("pro0: ./mine.yaml is neither YAML nor JSON: ")
    assert called.err.count("mine.yaml") == 1


def test_a_run_names_the_agent_that_there_is(
    pro0: Pro0, team: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claude Code is what a run takes; who has only Codex is told how, not what to install."""
    (tmp_path / "codex").write_text("#!/bin/sh\n")
    (tmp_path / "codex").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    called = pro0("run")
    assert called.code == 6
    assert called.err.splitlines() == [
        "pro0: claude, the default agent of pro0 run, is not installed",
        "hint: pro0 run --agent codex",
    ]


def test_a_run_of_an_epic_makes_no_team(pro0: Pro0, home: Path, project: Path) -> None:
    """A team that is made for it has no epic."""
    called = pro0("run", "3", "--", "true")
    assert (called.code, called.out) == (3, "")
    assert called.err.startswith("pro0: there is no task-3: no team belongs to this project\nhint: ")
    assert not (home / "teams").exists()
