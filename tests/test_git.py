"""Git, run in one folder: what stands around it does not lead it elsewhere, and its complaints are one clear line."""

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from pro0.diffs import fork
from pro0.errors import EnvironmentMissing, ErrorCode, Unwritable
from pro0.git.commands import Git, Worktree
from pro0.worktrees import Repository, branch_of
from pro0.worktrees.contents import commit_all
from pro0.worktrees.turns import common_folder
from tests.repositories import commit, git, put, repository_in


def test_what_a_hook_has_set_leads_nowhere_else(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    other.mkdir()
    commit(repository_in(other), "a", "1\n")
    here = git(project, "rev-parse", "HEAD")
    for name, value in {"GIT_DIR": other / ".git", "GIT_WORK_TREE": other, "GIT_INDEX_FILE": other / "x"}.items():
        monkeypatch.setenv(name, str(value))
    assert Git(project).run("rev-parse", "HEAD") == here
    assert Git(project, {"GIT_DIR": str(other / ".git")}).run("rev-parse", "HEAD") != here, "but what is asked for"


def test_a_failure_is_one_line_that_names_the_folder(project: Path) -> None:
    with pytest.raises(EnvironmentMissing) as raised:
        Git(project).run("rev-parse", "--verify", "nothing")
    assert raised.value.message == f"git rev-parse failed in {project}: fatal: Needed a single revision"
    assert not Git(project).succeeds("rev-parse", "--verify", "nothing")


def test_git_that_cannot_be_run_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(project))
    with pytest.raises(EnvironmentMissing, match=r"cannot be run in .*: No such file"):
        Git(project).run("status")


def test_a_folder_that_was_moved_is_named_and_not_git(project: Path) -> None:
    with pytest.raises(EnvironmentMissing) as raised:
        Git(project / "gone").run("status")
    assert raised.value.message == f"there is no folder {project / 'gone'}"
    assert raised.value.hint == "if it was moved or renamed, move it back"


def test_a_repository_that_git_refuses_is_not_said_to_be_missing(project: Path) -> None:
    """Git refuses one of another user, as in a container, and one of a kind that it does not know yet."""
    with pytest.raises(EnvironmentMissing, match="dubious ownership") as raised:
        common_folder(Git(project, {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}))
    assert raised.value.code is ErrorCode.GIT_FAILED
    assert raised.value.hint == f"git config --global --add safe.directory {project}"
    git(project, "config", "core.repositoryFormatVersion", "1")
    git(project, "config", "extensions.planted", "true")
    for ask in (Repository, fork):
        with pytest.raises(EnvironmentMissing, match="unknown repository extension found: planted") as raised:
            ask(project)
        assert raised.value.hint is None


ACTS: dict[str, Callable[[Git], object]] = {
    "apart": lambda git_here: git_here.apart().__enter__(),
    "present": lambda git_here: git_here.present().__enter__(),
    "stream": lambda git_here: [*git_here.stream("log")],
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_without_room_for_scratch_files_it_is_said_where(
    act: Callable[[Git], object], project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "full"))
    with pytest.raises(Unwritable, match=rf"^no scratch file can be written in {tmp_path}/full: ") as raised:
        act(Git(project))
    assert raised.value.hint == "free some space there, or name another folder in TMPDIR"


def test_a_folder_in_the_place_of_a_list_is_not_left_open(project: Path) -> None:
    """Git takes it for no list."""
    exclude = project / ".git" / "info" / "exclude"
    exclude.unlink(missing_ok=True)
    exclude.mkdir(parents=True)
    before = len(os.listdir("/dev/fd"))
    with Git(project).apart() as apart:
        apart.run("status")
    assert len(os.listdir("/dev/fd")) == before


def test_any_name_of_a_folder_is_read(project: Path, tmp_path: Path) -> None:
    odd, loose = tmp_path / " a\nb ", tmp_path / "loose"
    git(project, "worktree", "add", "-q", "-b", "side", str(odd))
    git(project, "worktree", "add", "-q", "--detach", str(loose))
    head = git(project, "rev-parse", "HEAD")
    first, *others = Git(project).worktrees()
    assert first == Worktree(project, "main", head)
    assert sorted(others, key=str) == [Worktree(odd, "side", head), Worktree(loose, "", head)]


def test_a_repository_of_any_name_is_saved(tmp_path: Path) -> None:
    odd = tmp_path / " a\nb "
    odd.mkdir()
    commit(repository_in(odd), "a", "1\n")
    put(odd, "a", "2\n")
    assert git(odd, "show", f"{commit_all(Git(odd), 'HEAD', 'saved')}:a") == "2"
    assert Git(odd).private() == odd / ".git"


def test_without_a_commit_it_is_said_what_is_missing(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    git(tmp_path, "init", "-q", str(folder))
    with pytest.raises(EnvironmentMissing, match="fatal: bad revision 'HEAD'"):
        commit_all(Git(folder), "HEAD", "saved")


def test_a_commit_of_everything_names_no_branch_and_touches_no_index(project: Path) -> None:
    head = git(project, "rev-parse", "HEAD")
    assert commit_all(Git(project), head, "saved") == "", "nothing new"
    put(project, "a", "1\n")
    (project / ".git" / "index.lock").touch()
    saved = commit_all(Git(project), head, "saved")
    assert git(project, "rev-parse", f"{saved}^", "HEAD").split() == [head, head]
    assert git(project, "show", f"{saved}:a") == "1"
    (project / ".git" / "index.lock").unlink()
    assert git(project, "status", "--porcelain") == "?? a"


@pytest.mark.parametrize("lock", ["config.lock", "index.lock", "HEAD.lock", "packed-refs.lock", "refs/heads/main.lock"])
def test_a_lock_of_somebody_else_stays_and_nothing_is_lost(lock: str, project: Path, tmp_path: Path) -> None:
    """61: what git cannot do beside it is an error, and works once it is gone."""
    held = project / ".git" / lock
    held.touch()
    repository, place = Repository(project), tmp_path / "ada"
    with suppress(EnvironmentMissing):
        repository.add(place, branch_of("ada", "task-1"))
        put(place, "a", "1\n")
        repository.remove(place, "saved")
    assert held.exists()
    held.unlink()
    if not git(project, "branch", "--list", "teams/ada/*"):
        repository.add(place, branch_of("ada", "task-1"))
        put(place, "a", "1\n")
    if place.exists():
        repository.remove(place, "saved")
    assert git(project, "show", "teams/ada/task-1:a") == "1"
    assert not place.exists()
