"""What a removal, a merge or the forgetting of a worktree must not take from anybody, in states that git allows."""

import errno
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pro0.errors import EnvironmentMissing, Kept, Refused
from pro0.git.commands import Git, Worktree
from pro0.worktrees import Repository, branch_of
from pro0.worktrees.work import work_in
from tests.faults import Shim, fail_about
from tests.repositories import commit, git, put, repository_in

LOCAL = ("-c", "protocol.file.allow=always")


@pytest.fixture
def repository(project: Path) -> Repository:
    for name in ("src/x", "docs/y", "conf"):
        put(project, name, "1\n")
    commit(project, ".gitignore", "*.log\ndata\n.env\n")
    return Repository(project)


@pytest.fixture
def tree(repository: Repository, tmp_path: Path) -> Worktree:
    return repository.add(tmp_path / "ada", branch_of("ada", "task-1"))


def forced(at: Path) -> str:
    """A file that git ignores, which somebody has added all the same."""
    put(at, " result\n.log", "work\n")
    git(at, "add", "--force", "--", " result\n.log")
    return " result\n.log"


def sparse(at: Path, kind: str = "--cone", name: str = "docs/y") -> str:
    """A file outside of a sparse checkout, which somebody has written all the same."""
    git(at, "sparse-checkout", "set", kind, "src")
    assert not (at / "docs" / "y").exists()
    put(at, name, "work\n")
    return name


def marked(at: Path, mark: str) -> str:
    """A changed file, of which git was told to see no changes."""
    git(at, "update-index", mark, "conf")
    put(at, "conf", "work\n")
    return "conf"


HIDDEN: dict[str, Callable[[Path], str]] = {
    "ignored, and added by force": forced,
    "outside of a sparse checkout": sparse,
    "new outside of a sparse checkout": lambda at: sparse(at, name="docs/new"),
    "outside of a sparse checkout of patterns": lambda at: sparse(at, "--no-cone"),
    "skip-worktree": lambda at: marked(at, "--skip-worktree"),
    "assume-unchanged": lambda at: marked(at, "--assume-unchanged"),
}


@pytest.mark.parametrize("hide", HIDDEN.values(), ids=HIDDEN)
def test_what_git_would_not_commit_by_itself_is_saved(
    hide: Callable[[Path], str], repository: Repository, tree: Worktree
) -> None:
    """behaviour 3.10: and no file that a sparse checkout leaves out counts as removed"""
    name = hide(tree.path)
    assert work_in(tree.path) == "it has files that are not committed"
    assert not repository.remove_unused(tree.path)
    assert repository.remove(tree.path, "saved") == tree.branch
    assert git(repository.checkout, "show", f"{tree.branch}:{name}") == "work"
    assert git(repository.checkout, "show", f"{tree.branch}:src/x") == "1"
    assert git(repository.checkout, "diff", "--name-status", "main", tree.branch).count("\n") == 0


def test_a_worktree_that_is_out_of_sight_is_not_forgotten(
    repository: Repository, project: Path, tmp_path: Path
) -> None:
    """behaviour 3.20: the person's own one may be on a disk that is away, with commits that no branch names."""
    mine, away = tmp_path / "mine", tmp_path / "away"
    git(project, "worktree", "add", "-q", "--detach", str(mine))
    work = commit(mine, "a", "1\n")
    mine.rename(away)
    for name in ("ada", "ben"):
        path = repository.add(tmp_path / name, branch_of(name, "task-1")).path
        if name == "ben":
            shutil.rmtree(path)
        repository.remove(path, "saved")
    away.rename(mine)
    assert git(mine, "rev-parse", "HEAD") == work


@pytest.mark.parametrize("act", ["remove", "add"])
def test_commits_of_a_folder_that_is_gone_keep_a_name(act: str, repository: Repository, tree: Worktree) -> None:
    git(tree.path, "checkout", "-q", "--detach")
    work = commit(tree.path, "a", "1\n")
    shutil.rmtree(tree.path)
    if act == "remove":
        assert repository.remove(tree.path, "saved") == "teams/ada/saved-1"
    else:
        repository.add(tree.path, tree.branch, adopt=True)
    assert git(repository.checkout, "rev-parse", "teams/ada/saved-1") == work


def test_a_branch_of_a_folder_that_is_gone_is_named(repository: Repository, tree: Worktree) -> None:
    """behaviour 3.10: an unmerged branch stays, and is named."""
    commit(tree.path, "a", "1\n")
    shutil.rmtree(tree.path)
    assert repository.remove(tree.path, "saved") == tree.branch


@pytest.mark.parametrize("act", ["remove", "remove_unused", "drop"])
def test_a_commit_that_is_only_looked_at_is_not_merged(
    act: str, repository: Repository, project: Path, tree: Worktree
) -> None:
    """behaviour 3.10: a person reads a member's work at a detached HEAD, and goes back to a branch."""
    work = commit(tree.path, "a", "1\n")
    git(project, "switch", "-q", "--detach", tree.branch)
    if act == "remove":
        assert repository.remove(tree.path, "saved") == tree.branch
    elif act == "remove_unused":
        assert not repository.remove_unused(tree.path)
    else:
        git(project, "worktree", "remove", str(tree.path))
        assert not repository.drop(tree.branch)
    git(project, "switch", "-q", "main")
    assert git(project, "rev-parse", tree.branch) == work
    git(project, "merge", "-q", tree.branch)
    git(project, "switch", "-q", "--detach")
    assert repository.remove(tree.path, "saved") == "", "one that another branch has is merged"
    assert repository.drop(tree.branch)


@pytest.mark.parametrize("then", ["amended", "rebased"])
def test_a_branch_that_began_here_before_history_was_rewritten_is_merged(
    then: str, repository: Repository, project: Path, tmp_path: Path
) -> None:
    """behaviour 6.2: although another branch, such as one that an agent made itself, has the old commit too."""
    tree = repository.add(tmp_path / "ada", "teams/ada/task-1")
    commit(tree.path, "a", "1\n")
    git(project, "branch", "fix-login")
    git(project, "commit", "-q", "--amend", "-m", "better said")
    if then == "rebased":
        git(tree.path, "rebase", "-q", "--onto", "main", "fix-login")
    assert repository.remove(tree.path, "saved") == tree.branch
    assert repository.measure(tree.branch) == (1, "1 file changed, 1 insertion(+)")
    repository.merge(tree.branch, "merge")
    assert (project / "a").read_text() == "1\n"


@pytest.mark.parametrize("does", ["nothing", "a commit"])
def test_a_branch_that_began_elsewhere_brings_nothing_else_along(
    does: str, repository: Repository, project: Path, tmp_path: Path
) -> None:
    """behaviour 6.2: the person has gone to another branch while a worker worked"""
    git(project, "branch", "release")
    commit(project, "b", "main's\n")
    tree = repository.add(tmp_path / "ada", "teams/ada/task-1")
    if does == "a commit":
        commit(tree.path, "a", "1\n")
    git(project, "switch", "-q", "release")
    if does == "nothing":
        assert repository.remove(tree.path, "saved") == ""
        assert not repository.has(tree.branch)
        return
    assert repository.remove(tree.path, "saved") == tree.branch
    assert repository.measure(tree.branch) == (1, "1 file changed, 1 insertion(+)")
    with pytest.raises(Refused, match="teams/ada/task-1 began on main, and would bring that into release"):
        repository.merge(tree.branch, "merged")
    assert not (project / "b").exists()
    git(project, "switch", "-q", "main")
    repository.merge(tree.branch, "merged")
    assert repository.drop(tree.branch)


def test_a_branch_that_began_on_what_the_person_has_written_anew_is_merged(
    repository: Repository, project: Path, tree: Worktree
) -> None:
    commit(tree.path, "a", "1\n")
    git(project, "commit", "-q", "--amend", "-m", "anew")
    assert repository.measure(tree.branch)[0] == 1
    repository.merge(tree.branch, "merged")
    assert (project / "a").exists()


@pytest.mark.parametrize("around", ["the project", "another repository"])
def test_no_other_repository_gets_a_commit(around: str, repository: Repository, project: Path, tmp_path: Path) -> None:
    """behaviour 3.10: a worktree may have lost its `.git`, below a home that is in git."""
    outer = project if around == "the project" else tmp_path / "outer"
    outer.mkdir(exist_ok=True)
    if outer != project:
        repository_in(outer)
    before, path = git(outer, "rev-parse", "HEAD"), outer / "trees" / "ada"
    put(repository.add(path, branch_of("ada", "task-1")).path, "new", "work\n")
    (path / ".git").unlink()
    with pytest.raises(Refused, match="is not a worktree of"):
        repository.remove(path, "saved")
    assert not repository.remove_unused(path)
    assert (path / "new").read_text() == "work\n"
    assert git(outer, "rev-parse", "HEAD") == before


def test_what_nobody_committed_comes_on_no_branch_of_the_person(
    repository: Repository, project: Path, tree: Worktree
) -> None:
    """behaviour 6.2: an agent may have switched to a branch that the person has not checked out."""
    git(project, "switch", "-q", "-c", "feature")
    git(tree.path, "switch", "-q", "main")
    put(tree.path, "new", "work\n")
    before = git(project, "rev-parse", "main")
    assert repository.remove(tree.path, "saved") == "teams/ada/saved-1"
    assert git(project, "show", "teams/ada/saved-1:new") == "work"
    assert git(project, "rev-parse", "main") == before


def former_submodule(project: Path, at: Path) -> None:
    """A submodule that was taken down, with a commit that is nowhere else."""
    lib = at.parent / "lib"
    lib.mkdir()
    repository_in(lib)
    git(at, *LOCAL, "submodule", "add", "-q", str(lib), "lib")
    git(at, "commit", "-qm", "lib")
    git(project, "merge", "-q", git(at, "rev-parse", "HEAD"))
    git(at / "lib", "-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-q", "--allow-empty", "-m", "a")
    git(at, "submodule", "deinit", "-q", "--force", "lib")


def test_the_repository_of_a_former_submodule_is_not_removed(
    repository: Repository, project: Path, tree: Worktree
) -> None:
    """behaviour 3.10: git keeps it in its own folder of the worktree, with commits that are nowhere else."""
    path = tree.path
    former_submodule(project, path)
    assert "contains another git repository" in work_in(path)
    assert not repository.remove_unused(path)
    with pytest.raises(Kept, match="modules/lib"):
        repository.remove(path, "saved")


WAYS = {
    "a file": (".env", ".env", ".env"),
    "a file where a folder is": ("data", "data/deep/a.log", "data"),
    "a folder where a file is": ("data/z", "data", "data"),
    "a file where a folder of the project is": ("src", "src/a.log", "src"),
}


@pytest.mark.parametrize(("theirs", "mine", "replaced"), WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("project_is", [".", "docs"])
def test_an_ignored_file_in_the_way_stays(
    theirs: str, mine: str, replaced: str, project_is: str, repository: Repository, project: Path, tree: Worktree
) -> None:
    """behaviour 6.2: git would write over it, as over one without worth."""
    shutil.rmtree(tree.path / replaced, ignore_errors=True)
    put(tree.path, theirs, "theirs\n")
    git(tree.path, "add", "--all", "--force")
    git(tree.path, "commit", "-qm", "theirs")
    put(project, mine, "mine\n")
    with pytest.raises(Refused, match=f"the untracked file {mine} is in the way"):
        Repository(project / project_is).merge(tree.branch, "merge")
    assert (project / mine).read_text() == "mine\n"
    assert git(project, "status", "--porcelain") == ""


@pytest.fixture
def big(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Set the person's own program that writes files of a kind."""

    def by(program: str) -> None:
        (tmp_path / "writer").write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / "writer").chmod(0o755)
        filtered = f'[filter "big"]\nclean = cat\nsmudge = {tmp_path}/writer\nrequired = true\n'
        (tmp_path / "settings").write_text(filtered)
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))

    return by


@pytest.fixture
def wide(project: Path, repository: Repository, tmp_path: Path) -> Worktree:
    """A worktree with a change of each kind around a file that the person's own program writes."""
    put(project, ".gitattributes", "*.big filter=big\n")
    commit(project, "z", "1\n")
    tree = repository.add(tmp_path / "ada", branch_of("ada", "task-1"))
    git(tree.path, "rm", "-q", "conf", "src/x")
    for name in ("README", "aaa", "conf/a", "deep/er/b", "m.big", "src", "z"):
        put(tree.path, name, "theirs\n")
    commit(tree.path, "zz", "theirs\n")
    return tree


def seen(at: Path) -> dict[str, str]:
    paths = (path for path in at.rglob("*") if ".git" not in path.parts)
    return {str(path.relative_to(at)): path.read_text() if path.is_file() else "" for path in paths}


@pytest.mark.parametrize("project_is", [".", "docs"])
def test_a_merge_that_fails_half_way_leaves_no_half(
    project_is: str, big: Callable[[str], None], project: Path, wide: Worktree
) -> None:
    """behaviour 6.2: as on a full disk; the next one would say that the person has uncommitted changes"""
    before, head = seen(project), git(project, "rev-parse", "HEAD")
    repository = Repository(project / project_is)
    big("exit 1")
    for _ in range(2):
        with pytest.raises(Refused, match=r"smudge filter big failed$"):
            repository.merge(wide.branch, "merge")
        assert seen(project) == before
        assert (git(project, "status", "--porcelain"), git(project, "rev-parse", "HEAD")) == ("", head)
    big("cat")
    repository.merge(wide.branch, "merge")
    assert seen(project) == seen(wide.path)


def test_a_merge_that_fails_half_way_takes_no_change_back_but_its_own(
    big: Callable[[str], None], repository: Repository, project: Path, wide: Worktree
) -> None:
    before = seen(project)
    big(f"cd '{project}' && echo mine >aaa && echo mine >z; exit 1")
    with pytest.raises(Refused, match="files of the merge are left: aaa, z"):
        repository.merge(wide.branch, "merge")
    assert seen(project) == {**before, "aaa": "mine\n", "z": "mine\n"}


def test_a_merge_that_is_interrupted_leaves_no_half(
    big: Callable[[str], None], repository: Repository, project: Path, wide: Worktree
) -> None:
    """As with Ctrl+C."""
    before = seen(project)
    big(f"kill -INT {os.getpid()}; sleep 1; cat")
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            repository.merge(wide.branch, "merge")
    finally:
        signal.signal(signal.SIGINT, usual)
    assert (seen(project), git(project, "status", "--porcelain")) == (before, "")


def test_an_interrupt_while_git_is_started_leaves_no_git_behind(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would go on with what is being undone."""
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def interrupted(*words: Any, **options: Any) -> "subprocess.Popen[bytes]":
        started.append(real(*words, **options))
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)  # it is heard by now
        return started[-1]

    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(subprocess, "Popen", interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            Git(repository.checkout).attempt("cat-file", "--batch")
    finally:
        monkeypatch.undo()
        signal.signal(signal.SIGINT, usual)
    assert [process.returncode is None for process in started] == [False], "it was waited for"
    assert signal.getsignal(signal.SIGINT) == usual


def test_a_merge_beside_another_git_names_its_lock(repository: Repository, project: Path, tree: Worktree) -> None:
    """As while `git commit` has its editor open: what git says last is no reason."""
    commit(tree.path, "a", "1\n")
    (project / ".git" / "index.lock").touch()
    with pytest.raises(Refused, match=r"cannot be merged: fatal: Unable to create '.*index.lock': File exists") as held:
        repository.merge(tree.branch, "merge")
    assert held.value.hint == "another git command is running there: let it end, then merge again"
    assert not (project / "a").exists()


def test_a_bare_repository_is_no_place_for_a_merge(project: Path, tmp_path: Path) -> None:
    git(project, "clone", "-q", "--bare", str(project), str(tmp_path / "bare"))
    repository = Repository(tmp_path / "bare")
    git(project, "push", "-q", str(tmp_path / "bare"), f"{commit(project, 'a', '1')}:refs/heads/teams/ada/task-1")
    with pytest.raises(Refused, match="is a bare repository"):
        repository.merge("teams/ada/task-1", "merge")


@pytest.mark.parametrize("becomes", ["a folder", "a file"])
def test_what_is_in_git_is_in_nobodys_way(becomes: str, repository: Repository, project: Path, tree: Worktree) -> None:
    old, new = ("conf", "conf/a") if becomes == "a folder" else ("src/x", "src")
    git(tree.path, "rm", "-q", old)
    commit(tree.path, new, "theirs\n")
    repository.merge(tree.branch, "merge")
    assert (project / new).read_text() == "theirs\n"


@pytest.mark.parametrize("what", ["rebase", "bisect"])
def test_a_checkout_that_waits_in_the_middle_is_no_place_for_a_merge(
    what: str, repository: Repository, project: Path, tree: Worktree
) -> None:
    """behaviour 6.2: its files are clean, and what is merged there goes away with its end."""
    commit(tree.path, "n", "1\n")
    for number in range(3):
        commit(project, "a", f"{number}\n")
    if what == "bisect":
        for words in (("start",), ("bad",), ("good", "HEAD~3")):
            git(project, "bisect", *words)
    else:
        git(project, "-c", "sequence.editor=sed -i.old 1ibreak", "rebase", "-q", "-i", "HEAD~2")
    before = git(project, "rev-parse", "HEAD")
    with pytest.raises(Refused, match="in the middle of"):
        repository.merge(tree.branch, "merge")
    assert git(project, "rev-parse", "HEAD") == before


def test_a_rebase_that_waits_loses_neither_its_branch_nor_its_files(
    repository: Repository, project: Path, tree: Worktree
) -> None:
    """behaviour 3.10"""
    commit(project, "README", "theirs\n")
    commit(tree.path, "README", "ours\n")
    work = commit(tree.path, "b", "2\n")
    subprocess.run(["git", "rebase", "-q", "main"], cwd=tree.path, capture_output=True, check=False)
    put(tree.path, "new", "work\n")
    assert repository.remove(tree.path, "saved") == "teams/ada/saved-1"
    assert git(project, "show", "teams/ada/saved-1:new") == "work"
    assert git(project, "rev-parse", tree.branch) == work


def halted(at: Path, *words: str) -> None:
    """Do an act of git that stops at a conflict, as one that was killed there."""
    done = subprocess.run(["git", *words], cwd=at, capture_output=True, check=False)
    assert done.returncode != 0, done


def put_aside(project: Path, at: Path, act: str) -> str:
    """A changed file that git alone holds until its act is over; return the branch that is to name it."""
    commit(project, "README", "theirs\n")
    if act == "a worktree's own ref":
        git(at, "update-ref", "refs/worktree/mine", commit(at, "conf", "work\n"))
        git(at, "reset", "-q", "--hard", "HEAD~1")
        return "teams/ada/saved-1"
    commit(at, "README", "ours\n")
    if act == "a rebase of no branch":
        git(at, "switch", "-q", "--detach")
        commit(at, "conf", "work\n")
    else:
        put(at, "conf", "work\n")
    if act == "merge":
        halted(at, "merge", "-q", "--autostash", "main")
        return "teams/ada/saved-1"
    git(at, "config", "rebase.autoStash", "true")
    halted(at, "rebase", "-q", *act.split()[1:2] if act.startswith("rebase ") else (), "main")
    return "teams/ada/saved-2"  # the first has the files of the conflict


ASIDE = ("rebase", "rebase --apply", "merge", "a rebase of no branch", "a worktree's own ref")


@pytest.mark.parametrize("there", [True, False], ids=["the folder is there", "the folder is gone"])
@pytest.mark.parametrize("act", ASIDE)
def test_what_git_has_put_aside_is_saved(
    act: str, there: bool, repository: Repository, project: Path, tree: Worktree
) -> None:
    """behaviour 3.10: it lies in git's own folder of the worktree alone, which goes away with the worktree"""
    name = put_aside(project, tree.path, act)
    assert (tree.path / "conf").read_text() == "1\n"
    assert work_in(tree.path) == "it has files that are not committed"
    assert not repository.remove_unused(tree.path)
    if not there:
        shutil.rmtree(tree.path)
    repository.remove(tree.path, "saved")
    saved = [name for name in repository.unmerged() if git(project, "show", f"{name}:conf") == "work"]
    assert saved == [name] if there else len(saved) == 1
    assert repository.remove(tree.path, "saved") == "", "once more is no error"
    assert len(repository.all()) == 1


@pytest.mark.usefixtures("in_tables")
@pytest.mark.parametrize("there", [True, False], ids=["the folder is there", "the folder is gone"])
@pytest.mark.parametrize("act", ASIDE)
def test_it_is_saved_also_where_refs_are_in_tables(
    act: str, there: bool, repository: Repository, project: Path, tree: Worktree
) -> None:
    test_what_git_has_put_aside_is_saved(act, there, repository, project, tree)


def test_what_git_has_put_aside_is_named_where_all_else_is_merged(
    repository: Repository, project: Path, tree: Worktree
) -> None:
    put_aside(project, tree.path, "a worktree's own ref")
    assert repository.remove(tree.path, "saved") == "teams/ada/saved-1"


def test_what_a_branch_or_stash_holds_too_is_saved_once(repository: Repository, project: Path, tree: Worktree) -> None:
    put_aside(project, tree.path, "merge")
    aside = git(tree.path, "rev-parse", "MERGE_AUTOSTASH")
    git(project, "stash", "store", aside)
    assert repository.remove(tree.path, "saved") == tree.branch
    assert repository.unmerged() == (tree.branch,)
    assert git(project, "stash", "show", "--name-only") == "conf"


def test_a_note_that_names_nothing_is_in_nobodys_way(repository: Repository, tree: Worktree) -> None:
    private = Git(tree.path).private()
    put(private, "MERGE_AUTOSTASH", "0123456789" * 4)
    put(private, "rebase-merge/autostash", "no commit\n")
    os.mkfifo(private / "rebase-merge" / "orig-head")
    assert repository.remove(tree.path, "saved") == ""


def patches_waiting(at: Path) -> None:
    """Patches that git has not applied, in the middle of `git am`."""
    for number in (1, 2):
        commit(at, "README", f"{number}\n")
    patches = git(at, "format-patch", "--stdout", "-2").encode()
    git(at, "reset", "-q", "--hard", "HEAD~2")
    commit(at, "README", "ours\n")
    subprocess.run(["git", "am"], cwd=at, input=patches, capture_output=True, check=False)


def test_patches_that_wait_keep_the_worktree(repository: Repository, project: Path, tree: Worktree) -> None:
    """behaviour 3.10: no commit can hold them"""
    patches_waiting(tree.path)
    assert "`git am`" in work_in(tree.path)
    assert not repository.remove_unused(tree.path)
    with pytest.raises(Kept, match="in the middle of `git am`"):
        repository.remove(tree.path, "saved")
    git(tree.path, "am", "--abort")
    assert repository.remove(tree.path, "saved") == tree.branch


def test_a_worktree_that_looks_at_its_own_branch_gets_no_other(
    repository: Repository, project: Path, tree: Worktree
) -> None:
    """behaviour 2.20: else the branch that is named lacks the newest commits"""
    for number in (1, 2):
        commit(tree.path, "a", f"{number}\n")
    git(tree.path, "checkout", "-q", "HEAD~1")
    assert repository.remove(tree.path, "saved") == tree.branch
    assert git(project, "branch", "--list", "teams/*", "--format=%(refname:short)") == tree.branch


def test_a_branch_of_the_agents_own_is_named_until_it_is_merged(
    repository: Repository, project: Path, tree: Worktree
) -> None:
    git(tree.path, "switch", "-q", "-c", "scratch")
    commit(tree.path, "a", "1\n")
    assert repository.remove(tree.path, "saved") == "scratch"
    assert repository.unmerged() == ()
    assert repository.unmerged(["scratch", "none"]) == ("scratch",)
    git(project, "worktree", "add", "-q", str(tree.path), "scratch")
    git(project, "merge", "-q", "scratch")
    assert repository.remove(tree.path, "saved") == ""
    assert git(project, "branch", "--list", "scratch") == "scratch"


@pytest.mark.parametrize(
    "begin",
    [
        ("bisect", "start"),
        ("-c", "sequence.editor=sed -i 1s/pick/edit/", "rebase", "-q", "-i", "HEAD~1"),
        ("merge", "-q", "--no-ff", "--no-commit", "same"),
    ],
)
def test_one_in_the_middle_of_something_is_in_use(
    repository: Repository, project: Path, tree: Worktree, begin: tuple[str, ...]
) -> None:
    """behaviour 3.14: the next session of its member goes on there, and git keeps its notes in the worktree alone"""
    git(tree.path, "commit", "-q", "--allow-empty", "-m", "same")
    git(tree.path, "branch", "same")
    git(tree.path, "reset", "-q", "--hard", "HEAD~1")
    git(project, "merge", "-q", "--ff-only", "same")
    git(tree.path, *begin)
    assert not repository.remove_unused(tree.path)
    assert tree.path.exists()


def nested(_: Path, at: Path) -> None:
    """A repository that somebody has made within a worktree."""
    (at / "deep" / "lib").mkdir(parents=True)
    repository_in(at / "deep" / "lib")


class Unseen(NamedTuple):
    """One kind of work, and the look that fails at it for a moment: its call, and what that is about."""

    work: Callable[[Path, Path], object]
    call: str
    about: str
    code: int = errno.EMFILE


UNSEEN = {
    "the folder with a repository": Unseen(nested, "scandir", "deep"),
    "former submodules": Unseen(former_submodule, "listdir", "modules"),
    "the index": Unseen(lambda _, at: forced(at), "subprocess._fork_exec", "diff-index", errno.EAGAIN),
    "a file that was added by force": Unseen(lambda _, at: forced(at), "lstat", " result", errno.EIO),
    "what a rebase has put aside": Unseen(lambda p, at: put_aside(p, at, "rebase"), "open", "autostash"),
    "git's folders of worktrees": Unseen(
        lambda p, at: put_aside(p, at, "merge"), "listdir", ".git/worktrees", errno.EACCES
    ),
    "git's note of the worktree": Unseen(lambda p, at: put_aside(p, at, "merge"), "open", "gitdir", errno.EACCES),
    "the worktree's own refs": Unseen(
        lambda p, at: put_aside(p, at, "a worktree's own ref"), "scandir", "/refs", errno.EACCES
    ),
    "patches that wait": Unseen(lambda _, at: patches_waiting(at), "lstat", "applying", errno.EIO),
}


@pytest.mark.parametrize("unseen", UNSEEN.values(), ids=UNSEEN)
def test_what_cannot_be_seen_for_a_moment_is_not_removed(
    unseen: Unseen, repository: Repository, project: Path, tree: Worktree
) -> None:
    """behaviour 3.10: a look that fails has not said that nothing is there"""
    unseen.work(project, tree.path)
    why = work_in(tree.path)
    with Shim((unseen.call,), None, fail_about(unseen.about, unseen.code)):
        with pytest.raises(EnvironmentMissing, match=os.strerror(unseen.code)):
            repository.remove(tree.path, "saved")
        assert work_in(tree.path)
    assert why
    assert work_in(tree.path), "it is all there"


def test_another_worktree_that_cannot_be_seen_is_no_matter(
    repository: Repository, tree: Worktree, tmp_path: Path
) -> None:
    beside = repository.add(tmp_path / "ben", branch_of("ben", "task-1"))
    with Shim(("open",), None, fail_about(f"{tree.path.name}/gitdir", errno.EACCES)) as shim:
        assert repository.remove(beside.path, "saved") == ""
    assert any("ada/gitdir" in seen.about for seen in shim.seen)
    assert [one.path for one in repository.all()[1:]] == [tree.path]


def test_a_damaged_index_keeps_the_worktree(repository: Repository, tree: Worktree) -> None:
    """behaviour 3.10: nobody can tell which ignored files were added to it"""
    forced(tree.path)
    index = Git(tree.path).private() / "index"
    sound = index.read_bytes()
    index.write_bytes(b"DIRC nothing")
    with pytest.raises(EnvironmentMissing, match="git diff-index failed"):
        repository.remove(tree.path, "saved")
    index.write_bytes(sound)
    assert repository.remove(tree.path, "saved") == tree.branch
