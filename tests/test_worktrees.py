"""Worktrees of members, in real repositories: nothing that is not merged is ever lost (AC-85, AC-91, AC-92)."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from pro0.errors import EnvironmentMissing, Kept, Refused
from pro0.git.commands import Git
from pro0.worktrees import Repository, branch_of
from tests.crash.lanes import LANES, SOAK, TEST, counted
from tests.repositories import commit, git, let_git_die, put


@pytest.fixture
def repository(project: Path) -> Repository:
    return Repository(project)


def test_a_worktree_is_fresh_from_head_on_its_own_branch(repository: Repository, project: Path, tmp_path: Path) -> None:
    """S002-053 to 055"""
    tree = repository.add(tmp_path / "trees" / "ada", branch_of("ada", "task-3"))
    assert (tree.branch, tree.head) == ("teams/ada/task-3", git(project, "rev-parse", "HEAD"))
    assert (tree.path / "README").read_text() == "hello\n"
    assert git(tree.path, "rev-parse", "--abbrev-ref", "HEAD") == "teams/ada/task-3"
    assert "[branch" not in (project / ".git" / "config").read_text(), "nothing is tracked"


def test_commits_and_unsaved_files_are_kept_and_the_folder_goes(repository: Repository, tmp_path: Path) -> None:
    """AC-85: two commits and dirty files; the files are committed, the branch stays, the folder is gone."""
    tree = repository.add(tmp_path / "ada", branch_of("ada", "task-1"))
    first, second = commit(tree.path, "a", "1\n"), commit(tree.path, "a", "2\n")
    put(tree.path, "a", "3\n")
    put(tree.path, "new/b", "b\n")
    put(tree.path, "staged", "s\n")
    git(tree.path, "add", "staged")
    (tree.path / "README").unlink()
    assert repository.remove(tree.path, "ada: what was not committed") == tree.branch
    assert not tree.path.exists()
    assert git(repository.checkout, "show", f"{tree.branch}:a") == "3"
    assert git(repository.checkout, "show", f"{tree.branch}:new/b") == "b"
    assert git(repository.checkout, "ls-tree", "--name-only", tree.branch).split() == ["a", "new", "staged"]
    assert git(repository.checkout, "rev-list", f"main..{tree.branch}").split()[1:] == [second, first]
    assert repository.unmerged() == (tree.branch,)


def test_few_gits_are_started_for_one_worktree(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes some milliseconds, in which no other worktree of the project is made or removed."""
    started: list[str] = []
    command = Git.command

    def noted(git: Git, *words: str) -> tuple[list[str], dict[str, str]]:
        started.append(words[0])
        return command(git, *words)

    monkeypatch.setattr(Git, "command", noted)
    tree = repository.add(tmp_path / "ada", branch_of("ada", "task-1"))
    assert len(started) <= 9
    put(tree.path, "a", "1\n")
    started.clear()
    assert repository.remove(tree.path, "saved") == tree.branch
    assert len(started) <= 19


def test_a_branch_without_anything_of_its_own_goes_too(repository: Repository, tmp_path: Path) -> None:
    """AC-85: no commits and clean: the branch is deleted."""
    tree = repository.add(tmp_path / "ada", branch_of("ada", "task-1"))
    assert repository.remove(tree.path, "saved") == ""
    assert git(repository.checkout, "branch", "--list", "teams/*") == ""
    assert repository.remove(tree.path, "saved") == "", "once more is no error"


def test_only_one_that_holds_nothing_of_its_own_is_unused(
    repository: Repository, project: Path, tmp_path: Path
) -> None:
    """rulings 3.14; what git ignores may be somebody's too"""
    put(project, ".gitignore", "ignored\n")
    git(project, "add", "--all")
    git(project, "commit", "-qm", "ignore")
    made = {name: repository.add(tmp_path / name, branch_of("alpha", name)).path for name in ("a", "b", "c", "d", "e")}
    put(made["e"], "README", "1\n")
    git(made["e"], "stash", "push", "-q")
    put(made["a"], "new", "1\n")
    put(made["b"], "ignored", "1\n")
    commit(made["c"], "new", "1\n")
    assert [name for name, path in made.items() if repository.remove_unused(path)] == ["d"]
    assert [name for name, path in made.items() if path.exists()] == ["a", "b", "c", "e"]
    assert "teams/alpha/d" not in git(project, "branch", "--list", "teams/*")


def test_saving_stands_above_hooks_locks_and_unknown_people(
    repository: Repository, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = repository.add(tmp_path / "ada", branch_of("ada", "task-1"))
    hook = project / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    put(tree.path, "a", "1\n")
    Path(git(tree.path, "rev-parse", "--path-format=absolute", "--git-dir"), "index.lock").touch()
    git(project, "config", "--unset", "user.name")
    git(project, "config", "--unset", "user.email")
    git(project, "config", "user.useConfigOnly", "true")
    assert repository.remove(tree.path, "saved") == tree.branch
    assert git(project, "show", f"{tree.branch}:a") == "1"


def test_a_worktree_in_the_middle_of_a_merge_is_saved(repository: Repository, project: Path, tmp_path: Path) -> None:
    tree = repository.add(tmp_path / "ada", branch_of("ada", "task-1"))
    commit(project, "README", "theirs\n")
    commit(tree.path, "README", "ours\n")
    subprocess.run(["git", "merge", "-q", "main"], cwd=tree.path, capture_output=True, check=False)
    assert "<<<<<<<" in (tree.path / "README").read_text()
    repository.remove(tree.path, "saved")
    assert "ours" in git(project, "show", f"{tree.branch}:README")


def test_commits_that_no_branch_names_get_one(repository: Repository, project: Path, tmp_path: Path) -> None:
    tree = repository.add(tmp_path / "ada", branch_of("ada", "task-1"))
    git(tree.path, "checkout", "-q", "--detach")
    loose = commit(tree.path, "a", "1\n")
    stays = repository.remove(tree.path, "saved")
    assert stays == "teams/ada/saved-1"
    assert git(project, "rev-parse", stays) == loose


def test_a_repository_within_a_worktree_is_no_prey(repository: Repository, tmp_path: Path) -> None:
    tree = repository.add(tmp_path / "ada", branch_of("ada", "task-1"))
    inner = tree.path / "vendor"
    inner.mkdir()
    git(inner, "init", "-q")
    put(inner, "x", "1\n")
    with pytest.raises(Kept, match="vendor"):
        repository.remove(tree.path, "saved")
    assert (inner / "x").read_text() == "1\n"


def test_only_worktrees_of_this_repository_are_touched(repository: Repository, project: Path, tmp_path: Path) -> None:
    put(project, "unsaved", "mine\n")
    (project / "sub").mkdir()
    put(tmp_path, "plain/file", "mine\n")
    for place in (project, project / "sub", tmp_path / "plain"):
        with pytest.raises(Refused):
            repository.remove(place, "saved")
    with pytest.raises(Refused):
        repository.add(tmp_path / "plain", branch_of("ada", "task-1"))
    assert git(project, "status", "--porcelain") == "?? unsaved"
    assert (tmp_path / "plain" / "file").read_text() == "mine\n"


def test_a_stale_worktree_makes_room_and_a_dirty_one_does_not(repository: Repository, tmp_path: Path) -> None:
    """AC-91"""
    path = tmp_path / "ada"
    commit(repository.add(path, branch_of("ada", "task-1")).path, "a", "1\n")
    tree = repository.add(path, branch_of("ada", "task-2"))
    assert repository.unmerged() == ("teams/ada/task-1",)
    put(tree.path, "b", "2\n")
    with pytest.raises(Refused, match="unsaved"):
        repository.add(path, branch_of("ada", "task-3"))
    assert (path / "b").read_text() == "2\n"


def test_a_branch_that_holds_something_is_not_begun_anew(repository: Repository, tmp_path: Path) -> None:
    tree = repository.add(tmp_path / "ada", branch_of("ada", "task-1"))
    made = commit(tree.path, "a", "1\n")
    beside = repository.add(tmp_path / "other", tree.branch)
    assert beside.branch == "teams/ada/task-1-2", "nor one that is checked out"
    repository.remove(tree.path, "saved")
    again = repository.add(tmp_path / "ada", branch_of("ada", "task-1"))
    assert again.branch == "teams/ada/task-1-3"
    assert git(repository.checkout, "rev-parse", tree.branch) == made


@pytest.mark.parametrize("act", ["add", "drop", "remove"])
def test_a_git_that_dies_has_not_said_that_no_branch_is_there(
    act: str, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a branch with work would be begun anew, or be gone for who asks."""
    tree = repository.add(tmp_path / "ada", branch_of("ada", "task-1"))
    made = commit(tree.path, "a", "1\n")
    if act == "remove":
        shutil.rmtree(tree.path)
    else:
        repository.remove(tree.path, "saved")
    acts: dict[str, Callable[[], object]] = {
        "add": lambda: repository.add(tree.path, tree.branch),
        "drop": lambda: repository.drop(tree.branch),
        "remove": lambda: repository.remove(tree.path, "saved"),
    }
    let_git_die(tmp_path / "programs", "show-ref", monkeypatch)
    with pytest.raises(EnvironmentMissing, match="git show-ref failed"):
        acts[act]()
    assert git(repository.checkout, "rev-parse", tree.branch) == made
    assert repository.unmerged() == (tree.branch,)
    assert repository.add(tree.path, tree.branch).branch == "teams/ada/task-1-2"


def test_a_branch_that_git_does_not_see_for_a_moment_is_not_begun_anew(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git says no too where it cannot open what is there."""
    tree = repository.add(tmp_path / "ada", branch_of("ada", "task-1"))
    made = commit(tree.path, "a", "1\n")
    repository.remove(tree.path, "saved")
    with monkeypatch.context() as unseen:
        unseen.setattr(repository, "has", lambda _: False)
        with pytest.raises(EnvironmentMissing, match="already exists"):
            repository.add(tree.path, tree.branch)
    assert git(repository.checkout, "rev-parse", tree.branch) == made


def test_one_that_is_there_is_taken_as_it_is(repository: Repository, project: Path, tmp_path: Path) -> None:
    tree = repository.add(tmp_path / "ada", branch_of("alpha", "ada"))
    put(tree.path, "a", "1\n")
    commit(project, "README", "on\n")
    again = repository.add(tree.path, tree.branch, adopt=True)
    assert (again.branch, again.head) == (tree.branch, tree.head)
    assert (tree.path / "a").read_text() == "1\n"


@pytest.mark.parametrize("there", [True, False])
def test_one_that_a_killed_git_left_half_made_makes_room(there: bool, repository: Repository, tmp_path: Path) -> None:
    tree = repository.add(tmp_path / "ada", branch_of("alpha", "ada"))
    marker = git(tree.path, "rev-parse", "--path-format=absolute", "--git-path", "locked")
    Path(marker).write_text("initializing")
    (tree.path / "README").unlink()
    if not there:
        shutil.rmtree(tree.path)
    again = repository.add(tree.path, tree.branch, adopt=True)
    assert (again.branch, (again.path / "README").read_text()) == (tree.branch, "hello\n")
    assert not repository.all()[1].half_made
    Path(marker).write_text("initializing")
    Path(marker).with_name("HEAD").write_text("0" * 40)  # until git has read the commit, and it counts for `--all`
    if not there:
        shutil.rmtree(tree.path)
    assert repository.remove(tree.path, "saved") == ""
    assert len(repository.all()) == 1


def test_a_half_made_one_without_work_takes_its_branch_along(
    repository: Repository, project: Path, tmp_path: Path
) -> None:
    tree = repository.add(tmp_path / "ada", branch_of("alpha", "ada"))
    Path(git(tree.path, "rev-parse", "--path-format=absolute", "--git-path", "locked")).write_text("initializing")
    assert repository.remove(tree.path, "saved") == ""
    assert git(project, "branch", "--list", "teams/*") == ""


def test_a_merge_is_predicted_then_done_and_the_branch_can_go(
    repository: Repository, project: Path, tmp_path: Path
) -> None:
    tree = repository.add(tmp_path / "ada", branch_of("ada", "task-1"))
    commit(tree.path, "a", "1\n")
    assert repository.predict(tree.branch) == ()
    repository.merge(tree.branch, "merge task-1")
    assert (project / "a").read_text() == "1\n"
    assert repository.unmerged() == ()
    assert repository.remove(tree.path, "saved") == ""
    assert git(project, "branch", "--list", "teams/*") == ""


@pytest.mark.parametrize("tagged", ["main", "another"])
def test_a_tag_of_the_branchs_name_is_not_merged(
    tagged: str, repository: Repository, project: Path, tmp_path: Path
) -> None:
    """git alone takes a tag first: nothing would be merged, or what nobody asked for"""
    tree = repository.add(tmp_path / "ada", branch_of("ada", "task-1"))
    commit(tree.path, "a", "1\n")
    git(project, "switch", "-q", "-c", "another")
    commit(project, "README", "not asked for\n")
    git(project, "switch", "-q", "main")
    git(project, "tag", tree.branch, tagged)
    assert repository.predict(tree.branch) == ()
    repository.merge(tree.branch, "merge task-1")
    assert [(project / name).read_text() for name in ("README", "a")] == ["hello\n", "1\n"]
    assert repository.unmerged() == ()


def test_a_branch_that_is_gone_is_not_merged_and_a_tag_stands_for_none(repository: Repository, project: Path) -> None:
    git(project, "tag", "teams/ada/task-1", "main")
    with pytest.raises(Refused, match="there is no such branch"):
        repository.merge("teams/ada/task-1", "merge task-1")
    assert repository.merge(git(project, "rev-parse", "HEAD"), "merge") == git(project, "rev-parse", "HEAD")


def test_a_branch_of_a_shallow_clone_is_merged(project: Path, tmp_path: Path) -> None:
    commit(project, "README", "later\n")
    git(project, "clone", "-q", "--depth", "1", f"file://{project}", str(tmp_path / "short"))
    for name in ("name", "email"):
        git(tmp_path / "short", "config", f"user.{name}", "ann@example.com")
    repository = Repository(tmp_path / "short")
    tree = repository.add(tmp_path / "ada", branch_of("ada", "task-1"))
    commit(tree.path, "a", "1\n")
    assert repository.predict(tree.branch) == ()
    repository.merge(tree.branch, "merge task-1")
    assert (tmp_path / "short" / "a").read_text() == "1\n"


@pytest.mark.parametrize("at", ["a commit", "no commit yet"])
@pytest.mark.parametrize("act", ["remove", "add"])
def test_what_somebody_put_into_a_half_made_one_is_kept(
    act: str, at: str, repository: Repository, project: Path, tmp_path: Path
) -> None:
    tree = repository.add(tmp_path / "ada", branch_of("alpha", "ada"))
    marker = Path(git(tree.path, "rev-parse", "--path-format=absolute", "--git-path", "locked"))
    marker.write_text("initializing")
    if at == "no commit yet":
        marker.with_name("HEAD").write_text("0" * 40)
    (tree.path / "README").unlink()  # git had not come to it
    put(tree.path, "mine", "unsaved\n")
    if act == "remove":
        assert repository.remove(tree.path, "saved") == "teams/ada/saved-1"
    else:
        repository.add(tree.path, tree.branch, adopt=True)
    assert git(project, "show", "teams/ada/saved-1:mine") == "unsaved"
    assert git(project, "show", "teams/ada/saved-1:README") == "hello"


def test_two_that_conflict_are_told_and_nothing_is_half_merged(
    repository: Repository, project: Path, tmp_path: Path
) -> None:
    one, two = (repository.add(tmp_path / name, branch_of(name, "task-1")) for name in ("ada", "ben"))
    commit(one.path, "README", "one\n")
    commit(two.path, "README", "two\n")
    repository.merge(one.branch, "merge ada")
    before = git(project, "rev-parse", "HEAD")
    assert repository.predict(two.branch) == ("README",)
    with pytest.raises(Refused, match="README"):
        repository.merge(two.branch, "merge ben")
    assert (git(project, "rev-parse", "HEAD"), git(project, "status", "--porcelain")) == (before, "")
    assert repository.remove(two.path, "saved") == two.branch


@pytest.mark.parametrize("untracked", [False, True])
def test_a_dirty_checkout_is_left_alone(untracked: bool, repository: Repository, project: Path, tmp_path: Path) -> None:
    tree = repository.add(tmp_path / "ada", branch_of("ada", "task-1"))
    commit(tree.path, "new", "theirs\n")
    put(project, "new" if untracked else "README", "mine\n")
    before = git(project, "rev-parse", "HEAD")
    with pytest.raises(Refused):
        repository.merge(tree.branch, "merge")
    assert (project / ("new" if untracked else "README")).read_text() == "mine\n"
    assert git(project, "rev-parse", "HEAD") == before


def test_ten_at_once_do_not_cross(repository: Repository, project: Path, tmp_path: Path) -> None:
    """AC-92, with ten"""
    failed: list[BaseException] = []

    def work(name: str) -> None:
        try:
            mine = Repository(project)
            tree = mine.add(tmp_path / name, branch_of(name, "task-1"))
            commit(tree.path, name, f"{name}\n")
            assert mine.remove(tree.path, "saved")
        except BaseException as error:  # noqa: BLE001 - a thread's failure is the test's
            failed.append(error)

    threads = [threading.Thread(target=work, args=(f"w{number}",)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    for number in range(10):
        repository.merge(branch_of(f"w{number}", "task-1"), "merge")
    assert sorted(os.listdir(project))[2:] == [f"w{number}" for number in range(10)]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("ada", "ada"),
        ("task-3", "task-3"),
        ("a b~c^d:e?f*g[h\\i", "a-b-c-d-e-f-g-h-i"),
        ("..", "x"),
        ("a..b", "a-b"),
        (".hidden", "hidden"),
        ("x.lock", "x"),
        ("-rf", "rf"),
        ("ünï", "n"),
        ("", "x"),
    ],
)
def test_odd_characters_cannot_become_a_branch(text: str, part: str, project: Path) -> None:
    """AC-91"""
    assert branch_of(text, text) == f"teams/{part}/{part}"
    git(project, "check-ref-format", f"refs/heads/{branch_of(text, text)}")


ACTS = {TEST: 40, SOAK: 1000}
CHILD = """
import sys
from pathlib import Path
from pro0.worktrees import Repository, branch_of
project, act, path, name = sys.argv[1:]
repository, place = Repository(Path(project)), Path(path)
if act == "add":
    repository.add(place, branch_of(place.name, name))
elif act == "tidy":
    repository.remove_unused(place)
elif act == "merge":
    repository.merge(branch_of(place.name, name), "merged")
else:
    repository.remove(place, "saved")
"""


def kill_all(child: subprocess.Popen[bytes]) -> None:
    """Kill a program with the git that it runs, which has a session of its own; it starts no other one meanwhile."""
    child.send_signal(signal.SIGSTOP)
    try:
        family = psutil.Process(child.pid).children(recursive=True)
    except psutil.NoSuchProcess:  # it ended by itself
        return
    child.kill()
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(family)


class World:
    """What was ever committed or written in worktrees, and must be there for ever."""

    def __init__(self, project: Path, trees: Path, seed: str) -> None:
        self.project, self.trees, self.chance = project, trees, random.Random(seed)
        self.commits: set[str] = set()
        self.files: dict[tuple[str, str], str] = {}
        self.round = self.acts = self.killed = 0

    def step(self) -> None:
        self.round += 1
        tree = self.trees / self.chance.choice(["ada", "ben", "cleo"])
        act = self.chance.choice(["add", "write", "commit", "tidy", "merge", "remove", "remove"])
        if act in ("write", "commit"):
            if (tree / ".git").exists():
                self.write(tree, act)
        else:
            names = [*self.branches(tree.name), f"task-{self.round}"]
            self.act(act, tree, f"task-{self.round}" if act == "add" else self.chance.choice(names))

    def write(self, tree: Path, act: str) -> None:
        name, text = f"{tree.name}-{self.round}", f"{self.round}\n"
        put(tree, name, text)
        self.files[(tree.name, name)] = text
        if act == "commit":
            done = subprocess.run(["git", "add", "-A"], cwd=tree, capture_output=True, check=False)
            done = subprocess.run(["git", "commit", "-qm", "by hand"], cwd=tree, capture_output=True, check=False)
            if done.returncode == 0:
                self.commits.add(git(tree, "rev-parse", "HEAD"))

    def branches(self, name: str) -> list[str]:
        listed = git(self.project, "for-each-ref", "--format=%(refname:lstrip=4)", f"refs/heads/teams/{name}/")
        return listed.split()

    def act(self, act: str, tree: Path, name: str) -> None:
        """Do an act in a process of its own, which is killed at some moment, or not."""
        self.acts += 1
        words = [sys.executable, "-c", CHILD, str(self.project), act, str(tree), name]
        child = subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if self.chance.random() < 0.5:
            time.sleep(self.chance.random() * 0.3)
            kill_all(child)
        self.killed += child.wait() == -signal.SIGKILL

    def end(self) -> None:
        """Remove all worktrees: nothing that a killed git left behind stays."""
        for tree in self.trees.iterdir():
            with suppress(Refused):  # what is there was not made yet
                Repository(self.project).remove(tree, "saved")
        self.audit()
        assert len(Repository(self.project).all()) == 1

    def audit(self) -> None:
        heads = [git(tree, "rev-parse", "HEAD") for tree in self.trees.iterdir() if (tree / ".git").exists()]
        # One that a killed git left half made is at no commit yet, and `--all` would stumble over it.
        known = ["--branches", *(head for head in heads if head.strip("0"))]
        assert self.commits <= set(git(self.project, "rev-list", *known).split())
        committed = set(git(self.project, "log", *known, "--name-only", "--format=").split())
        for (tree, name), text in self.files.items():
            assert name in committed or self.there(self.trees / tree / name, text), f"{name} is lost"

    def there(self, path: Path, text: str) -> bool:
        return path.exists() and path.read_text() == text


@pytest.mark.parametrize("lane", LANES)
def test_whatever_is_killed_no_commit_and_no_file_is_lost(lane: str, project: Path, tmp_path: Path) -> None:
    """issue 6, must show 4"""
    (tmp_path / "trees").mkdir()
    world = World(project, tmp_path / "trees", lane)
    while world.acts < ACTS[lane]:
        world.step()
        world.audit()
    world.end()
    assert git(project, "fsck", "--no-dangling", "--no-progress") == ""
    counted(lane, "acts on worktrees", "all", world.acts)
    counted(lane, "kills of acts on worktrees", "all", world.killed)
