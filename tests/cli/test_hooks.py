"""Hooks as a person sets them, and what an agent sees of them."""

from pathlib import Path

import pytest

from pro0.ops.context import Context
from tests.cli.conftest import Pro0, become

pytestmark = pytest.mark.usefixtures("scripts")


def settings(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_an_agent_sees_why(pro0: Pro0, home: Path, team: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """must show 8: exit 4 and the words of the hook"""
    settings(home / "config.yaml", "hooks: {TaskCompleted: 'echo 3 tests fail >&2; exit 2'}")
    pro0("task", "create", "build")
    become(monkeypatch, team, "w1")
    assert pro0("task", "claim", "1").code == 0
    called = pro0("task", "complete", "1", "done")
    assert (called.code, "3 tests fail" in called.err) == (4, True)
    assert "in_progress" in pro0("task", "show", "1", "--json").out


def test_a_project_is_trusted_once_for_what_it_says(
    pro0: Pro0, home: Path, project: Path, team: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an agent may write is not run before a person has seen it, and no agent can say so."""
    settings(project / ".pro0" / "config.yaml", "hooks: {TaskCreated: 'exit 2'}")
    assert pro0("task", "create", "one").code == 0
    with monkeypatch.context() as inside:
        become(inside, team, "w1")
        assert pro0("config", "trust").code == 4
    assert pro0("task", "create", "two").code == 0
    assert pro0("config", "trust").out == "TaskCreated: exit 2\n"
    assert pro0("task", "create", "three").code == 4
    settings(project / ".pro0" / "config.yaml", "hooks: {TaskCreated: 'exit 2 '}")
    assert pro0("task", "create", "four").code == 0


def test_who_starts_a_team_learns_of_hooks_that_do_not_run(pro0: Pro0, home: Path, project: Path) -> None:
    settings(project / ".pro0" / "config.yaml", "hooks: {TaskCreated: 'exit 2'}")
    begun = pro0("team", "start", "alpha", "--mode", "headless", "--detach")
    try:
        assert "pro0 config trust" in begun.err
    finally:
        assert pro0("team", "cleanup", "alpha", "--force").code == 0
