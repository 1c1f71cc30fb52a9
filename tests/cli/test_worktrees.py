"""Worktrees for teammates, by the program as a person calls it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pro0.store.paths import trees_of
from pro0.store.teams import Store
from tests.cli.conftest import Pro0, make
from tests.conftest import Result
from tests.repositories import git, repository_in

Cli = Callable[..., Result]


def test_a_team_in_worktrees(cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """issue 6, build 5: made by team start, named by member show, saved and kept by cleanup, exit 7"""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(repository_in(folder))
    begun = cli("team", "start", "alpha", "--mode", "headless", "--worktrees", "-m", "w1=shell", "-m", "w2=shell")
    assert begun.code == 0, begun
    try:
        assert "share one checkout" not in begun.err
        looks = [json.loads(cli("member", "show", name, "--json").out) for name in ("w1", "w2")]
        assert [look["branch"] for look in looks] == ["teams/alpha/w1", "teams/alpha/w2"]
        assert looks[0]["worktree"] in cli("member", "show", "w1").out
        cli("task", "create", "write", "--run", "pwd > where")
        assert cli("team", "wait", "--timeout", "60").code == 0
        written = [Path(look["worktree"]) for look in looks if Path(look["worktree"], "where").exists()]
        assert [tree.name for tree in written] == [written[0].name], "one of them did it, in its own"
    finally:
        ended = cli("team", "cleanup", "alpha", "--force")
    assert ended.code == 7, ended
    assert f"teams/alpha/{written[0].name}" in ended.err
    assert git(folder, "show", f"teams/alpha/{written[0].name}:where") == str(written[0])
    assert not written[0].exists()


def test_a_folder_without_a_repository_is_refused(pro0: Pro0, home: Path) -> None:
    called = pro0("team", "start", "alpha", "--mode", "headless", "--worktrees", "-m", "w1=shell")
    assert called.code == 6
    assert "is in no git repository" in called.err
    assert not Store(home).names()


def test_doctor_finds_what_is_left(pro0: Pro0, home: Path, project: Path) -> None:
    """issue 6, build 5: residue is found by doctor, and its repair loses nothing"""
    context = make(home, "alpha", repository_in(project))
    left, uid = trees_of(home, "beta", "0123456789"), context.team.config.read().uid
    for place, branch in ((left / "w1", "teams/beta/w1"), (trees_of(home, "alpha", uid) / "w1", "x")):
        git(project, "worktree", "add", "-q", "-b", branch, str(place))
    (left / "w1" / "unsaved").write_text("mine\n")
    assert f"{left} holds worktrees of a team that is not there" in pro0("doctor").out
    repaired = pro0("doctor", "--repair").out
    assert f"{left} held worktrees of no team: removed them, kept teams/beta/w1" in " ".join(repaired.split())
    assert git(project, "show", "teams/beta/w1:unsaved") == "mine"
    assert len(git(project, "worktree", "list").splitlines()) == 2
    assert "worktrees" not in pro0("doctor").out.replace("members cannot have worktrees", "")


def test_what_goes_with_a_team_is_said(cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ux 10: open tasks and unread mail do not go without a word; without any there is none."""
    monkeypatch.chdir(tmp_path)
    assert cli("team", "start", "alpha", "--mode", "headless").code == 0
    made = [cli("task", "create", "one"), cli("task", "create", "two"), cli("send", "human", "which?")]
    ended = cli("team", "cleanup", "alpha", "--force")
    assert [one.code for one in made] == [0, 0, 0], made
    assert (ended.code, "gone with alpha: 2 open tasks and 1 unread message\n" in ended.err) == (0, True), ended
    assert cli("team", "start", "alpha", "--mode", "headless").code == 0
    assert "gone with" not in cli("team", "cleanup", "alpha", "--force").err
