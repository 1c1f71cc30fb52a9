"""Which team a command means: -t, PRO0_TEAM, the project; none is exit 3, several are exit 2 (rulings 3.1)."""

import os
import subprocess
from pathlib import Path

import pytest

from pro0.ops.team import project as projects
from pro0.store.teams import Store
from tests.cli.conftest import Pro0, make


def git(folder: Path, *arguments: str) -> None:
    """Run git in a folder, with nobody's settings."""
    identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *identity, *arguments], cwd=folder, env=environment, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "deep" / "deeper").mkdir(parents=True)
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "first")
    return folder


def test_the_flag_wins_over_the_environment_over_the_project(
    pro0: Pro0, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make(home, "here", project)
    make(home, "env", tmp_path / "x")
    make(home, "flag", tmp_path / "y")
    assert "here, running" in pro0("team", "status").out
    monkeypatch.setenv("PRO0_TEAM", "env")
    assert "env, running" in pro0("team", "status").out
    assert "flag, running" in pro0("team", "status", "-t", "flag").out
    assert "flag, running" in pro0("team", "status", "flag").out
    assert pro0("team", "status", "flag", "-t", "env").code == 2


def test_several_teams_of_one_project_are_listed(pro0: Pro0, home: Path, project: Path) -> None:
    make(home, "one", project)
    make(home, "two", project)
    called = pro0("team", "status")
    assert called.code == 2
    assert "one, two" in called.err
    assert pro0("team", "status", "-t", "two").code == 0


def test_none_names_those_there_are(pro0: Pro0, home: Path, tmp_path: Path) -> None:
    make(home, "far", tmp_path / "elsewhere")
    called = pro0("task", "list")
    assert called.code == 3
    assert "start one: pro0 team start NAME -m w1=shell, or choose one with -t: far" in called.err


def test_the_nearest_project_counts(pro0: Pro0, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "a" / "b").mkdir(parents=True)
    make(home, "outer", project)
    make(home, "inner", project / "a")
    monkeypatch.chdir(project / "a" / "b")
    assert "inner, running" in pro0("team", "status").out


def test_a_team_is_found_from_every_work_tree_of_its_repository(
    pro0: Pro0, home: Path, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(home, "alpha", repository)
    git(repository, "worktree", "add", str(tmp_path / "tree"))
    for folder in (repository, repository / "deep" / "deeper", tmp_path / "tree"):
        monkeypatch.chdir(folder)
        assert "alpha, running" in pro0("team", "status").out


def test_a_link_to_the_project_is_the_project(
    pro0: Pro0, home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(home, "alpha", project)
    (tmp_path / "link").symlink_to(project)
    monkeypatch.chdir(tmp_path / "link")
    assert "alpha, running" in pro0("team", "status").out


def test_the_project_of_a_folder(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", str(tmp_path / "tree"))
    assert projects.root(repository / "deep") == repository
    assert projects.root(tmp_path / "tree") == tmp_path / "tree"
    assert projects.common(tmp_path / "tree") == projects.common(repository / "deep") == repository / ".git"
    assert projects.root(tmp_path) == tmp_path
    assert projects.common(tmp_path) is None
    (tmp_path / ".git").write_text("nonsense")
    assert projects.common(tmp_path) is None


def test_another_home_is_another_world(pro0: Pro0, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(home, "alpha", project)
    monkeypatch.setenv("PRO0_HOME", str(home.with_name("other")))
    assert pro0("team", "status").code == 3
    assert not home.with_name("other").exists()
    assert Store(home).names() == ["alpha"]


def test_who_stands_in_a_directory_that_is_gone_is_told_so(pro0: Pro0, home: Path, project: Path) -> None:
    """As after a cleanup that took a shell's worktree away; a team that is named is found all the same."""
    make(home, "alpha", project)
    project.rmdir()
    assert pro0("team", "list", "-o", "name").out == "alpha\n"
    assert "alpha, running" in pro0("team", "status", "-t", "alpha").out
    for words in (["task", "list"], ["team", "start", "beta"], ["config"]):
        called = pro0(*words)
        assert (called.code, called.out) == (6, "")
        said, hint = called.err.splitlines()
        assert said == "pro0: the current directory does not exist any more"
        assert hint.startswith("hint: cd to another one")
