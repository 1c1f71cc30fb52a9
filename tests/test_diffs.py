"""What somebody changed, against where the work forked: everything counts, nothing is touched."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from pro0.diffs import Difference, FileChange, difference, fork, pager, patch
from pro0.errors import EnvironmentMissing, NotFound
from pro0.worktrees import Repository, branch_of
from tests.repositories import commit, git, put, repository_in


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    """A repository with files of every kind."""
    folder = tmp_path / "project"
    folder.mkdir()
    repository_in(folder)
    put(folder, "kept", "".join(f"line {number}\n" for number in range(50)))
    (folder / "picture").write_bytes(bytes(range(256)))
    commit(folder, ".gitignore", "*.o\n")
    return folder


@pytest.fixture
def tree(project: Path, tmp_path: Path) -> Path:
    """A member's worktree."""
    return Repository(project).add(tmp_path / "tree", branch_of("alpha", "ada")).path


def at(project: Path, folder: Path) -> Difference:
    return difference(fork(project, folder))


def state(*folders: Path) -> list[object]:
    """Return all that a look must not change: every file with its time; git alone may note when an object was used."""
    return [
        (str(path), 0 if "objects" in path.parts else path.lstat().st_mtime_ns, path.lstat().st_size)
        for folder in folders
        for path in sorted(folder.rglob("*"))
    ]


def add(tree: Path) -> FileChange:
    put(tree, "in/new", "one\ntwo\n")
    return FileChange("in/new", "added", 2, 0)


def rename(tree: Path) -> FileChange:
    (tree / "kept").rename(tree / "named anew")
    put(tree, "named anew", (tree / "named anew").read_text() + "more\n")
    return FileChange("named anew", "renamed", 1, 0, was="kept")


def change_binary(tree: Path) -> FileChange:
    (tree / "picture").write_bytes(bytes(reversed(range(256))))
    return FileChange("picture", "changed", None, None)


def delete(tree: Path) -> FileChange:
    (tree / "kept").unlink()
    return FileChange("kept", "deleted", 0, 50)


def grow(tree: Path) -> FileChange:
    put(tree, "large", "".join(f"{number}\n" for number in range(100_000)))
    return FileChange("large", "added", 100_000, 0)


def link(tree: Path) -> FileChange:
    (tree / "README").unlink()
    (tree / "README").symlink_to("/etc/passwd")
    return FileChange("README", "changed type", 1, 1)


def odd_name(tree: Path) -> FileChange:
    put(tree, " \tü\n\x1b[8m", "x\n")
    return FileChange(" \tü\n\x1b[8m", "added", 1, 0)


def no_text_in_its_name(tree: Path) -> FileChange:
    Path(os.fsdecode(os.fsencode(tree) + b"/\xff")).write_text("x\n")
    return FileChange("\\xff", "added", 1, 0)


def hide(tree: Path) -> FileChange:
    git(tree, "update-index", "--assume-unchanged", "README")
    put(tree, "README", "hidden\n")
    return FileChange("README", "changed", 1, 1)


KINDS = (add, rename, change_binary, delete, grow, link, odd_name, no_text_in_its_name, hide)


@pytest.mark.parametrize("how", ["untracked", "staged", "committed"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_kind_of_change_is_seen(kind: object, how: str, project: Path, tree: Path) -> None:
    """issue 14, must show 10: committed or not, and looking touches nothing."""
    assert callable(kind)
    wanted: FileChange = kind(tree)
    if how != "untracked":
        git(tree, "update-index", "--no-assume-unchanged", "README")
        git(tree, "add", "--all")
    if how == "committed":
        git(tree, "commit", "-qm", "work")
    before = state(project, tree)
    found = at(project, tree)
    text = b"".join(patch(fork(project, tree)))
    assert state(project, tree) == before, "looking leaves no trace"
    assert len(found.commits) == (how == "committed")
    (change,) = found.files
    assert (change.path, change.kind, change.added, change.removed, change.was) == (
        wanted.path,
        wanted.kind,
        wanted.added,
        wanted.removed,
        wanted.was,
    )
    assert change.committed == (how == "committed")
    assert (found.added, found.removed, found.uncommitted) == (
        wanted.added or 0,
        wanted.removed or 0,
        how != "committed",
    )
    assert text.startswith(b"diff --git ")


def test_a_whole_patch_has_what_binary_files_hold(project: Path, tree: Path, tmp_path: Path) -> None:
    """Without it `git apply` takes nothing of the patch, not even the texts; a shown one only names them."""
    commit(tree, "new", "text\n")
    (tree / "added").write_bytes(b"\0new")
    change_binary(tree)
    line = fork(project, tree)
    (file := tmp_path / "patch").write_bytes(b"".join(patch(line, whole=True)))
    git(project, "apply", str(file))
    for name in ("new", "added", "picture"):
        assert (project / name).read_bytes() == (tree / name).read_bytes(), name
    assert b"Binary files a/picture and b/picture differ\n" in list(patch(line))


@pytest.mark.parametrize("seed", range(6))
def test_the_patch_makes_the_work_of_the_fork(seed: int, project: Path, tree: Path, tmp_path: Path) -> None:
    """Whatever is changed, staged and committed in which order: git apply of the patch gives the same files."""
    draw = random.Random(seed)
    for step in range(12):
        name = draw.choice(["kept", "README", f"dir/new{draw.randrange(4)}", "ü b"])
        if draw.random() < 0.2 and (tree / name).exists():
            (tree / name).unlink()
        else:
            put(tree, name, "".join(f"{draw.randrange(9)}\n" for _ in range(draw.randrange(1, 40))))
        if draw.random() < 0.3:
            git(tree, "add", "--all")
        if draw.random() < 0.3:
            git(tree, "commit", "-qam", f"step {step}", "--allow-empty")
        if draw.random() < 0.2:
            commit(project, "of others", f"{step}\n")
    text = b"".join(patch(line := fork(project, tree)))
    other = tmp_path / "other"
    git(project, "worktree", "add", "-q", "--detach", str(other), line.base)
    (tmp_path / "patch").write_bytes(text)
    if text:
        git(other, "apply", str(tmp_path / "patch"))

    def files(of: Path) -> dict[str, bytes]:
        return {str(p.relative_to(of)): p.read_bytes() for p in of.rglob("*") if p.is_file() and p.name != ".git"}

    assert files(other) == files(tree)


def test_a_submodule_is_looked_into(project: Path, tree: Path, tmp_path: Path) -> None:
    """issue 14, must show 10: its commits, its changes that are not committed, and its new files."""
    library = tmp_path / "library"
    library.mkdir()
    repository_in(library)
    git(project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib")
    git(project, "commit", "-qm", "a library")
    git(tree, "merge", "-q", "main")
    git(tree, "-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init")
    assert at(project, tree).files == ()
    git(tree / "lib", "config", "user.name", "a")
    git(tree / "lib", "config", "user.email", "a@localhost")
    commit(tree / "lib", "committed", "1\n")
    put(tree / "lib", "README", "changed\n")
    put(tree / "lib", "loose", "2\n")
    found = {change.path: change for change in at(project, tree).files}
    assert set(found) == {"lib", "lib/committed", "lib/README", "lib/loose"}
    assert [found[f"lib/{name}"].committed for name in ("committed", "README", "loose")] == [True, False, False]
    assert not found["lib"].committed, "the project has not taken the library's commit in"
    assert b"+++ b/lib/loose" in b"".join(patch(fork(project, tree)))


def test_only_what_the_fork_has_not_counts(project: Path, tree: Path) -> None:
    """What others committed meanwhile is not the member's, nor what a merge brought; ignored files do not count."""
    commit(tree, "mine", "1\n")
    commit(project, "theirs", "1\n")
    git(tree, "merge", "-q", "-m", "in", "main")
    put(tree, "made.o", "x")
    found = at(project, tree)
    assert [change.path for change in found.files] == ["mine"]
    assert [one.title for one in found.commits] == ["in", "mine: 1\n".strip()]
    git(project, "merge", "-q", "teams/alpha/ada")
    merged = at(project, tree)
    assert (merged.commits, merged.files) == ((), ())


def test_a_branch_alone_is_compared_too(project: Path, tree: Path) -> None:
    commit(tree, "mine", "1\n")
    put(project, "of the person", "not of the branch")
    found = difference(fork(project, branch="teams/alpha/ada"))
    assert [(change.path, change.committed) for change in found.files] == [("mine", True)]
    with pytest.raises(NotFound, match="no branch teams/none"):
        fork(project, branch="teams/none")


def test_a_tag_of_the_branchs_name_is_not_taken_for_it(project: Path, tree: Path) -> None:
    tip = commit(tree, "mine", "1\n")
    git(project, "tag", "teams/alpha/ada", "main")
    for line in (fork(project, tree), fork(project, branch="teams/alpha/ada")):
        assert (line.branch, line.tip) == ("teams/alpha/ada", tip)


def test_the_checkout_itself_is_compared_with_its_commit(project: Path) -> None:
    put(project, "loose", "1\n")
    found = difference(fork(project))
    assert [(change.path, change.committed) for change in found.files] == [("loose", False)]
    assert not found.commits


@pytest.mark.parametrize(
    ("moment", "year"),
    [
        ("1700000000 +0230", 2023),
        ("1 -9999", 1970),
        ("9999999999999 +1400", 1970),
        ("9" * 20 + " +0000", 1970),
    ],
)
def test_a_commit_of_no_moment_and_no_text_is_shown(moment: str, year: int, project: Path, tree: Path) -> None:
    """Issue 19, must show 4: a commit may hold any number, and any bytes."""
    head = (git(tree, "rev-parse", "HEAD^{tree}"), git(tree, "rev-parse", "HEAD"))
    text = b"tree %b\nparent %b\n" % (head[0].encode(), head[1].encode())
    text += b"".join(b"%b \xff\x1f <a@a> %b\n" % (name, moment.encode()) for name in (b"author", b"committer"))
    made = ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"]
    done = subprocess.run(made, cwd=tree, input=text + b"\n\xfe\n", capture_output=True, check=True)
    git(tree, "update-ref", "HEAD", done.stdout.decode().strip())
    [found] = at(project, tree).commits
    assert (found.title, found.author, found.at.year) == ("\\xfe", "\\xff\x1f", year)


def test_a_history_without_a_common_commit_is_all_new(project: Path, tree: Path) -> None:
    git(tree, "checkout", "-q", "--orphan", "apart")
    commit(tree, "a", "1\n")
    found = at(project, tree)
    assert (len(found.commits), found.branch) == (1, "apart")
    assert {change.kind for change in found.files} == {"added"}


@pytest.mark.parametrize("damage", ["index", "lock", "merge"])
def test_a_look_needs_no_sound_index(damage: str, project: Path, tree: Path) -> None:
    put(tree, "new", "1\n")
    index = Path(git(tree, "rev-parse", "--path-format=absolute", "--git-path", "index"))
    if damage == "index":
        index.write_bytes(b"DIRC nothing")
    elif damage == "lock":
        index.with_suffix(".lock").touch()
    else:
        commit(project, "README", "theirs\n")
        commit(tree, "README", "mine\n")
        with pytest.raises(Exception, match="merge"):
            git(tree, "merge", "-q", "main")
    assert "new" in [change.path for change in at(project, tree).files]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_cannot_be_read_is_said(project: Path, tree: Path) -> None:
    put(tree, "closed", "1\n")
    (tree / "closed").chmod(0)
    put(tree, "open", "1\n")
    found = at(project, tree)
    assert [change.path for change in found.files] == ["open"]
    assert "closed" in found.unreadable


def test_a_nested_repository_without_a_commit_hides_nothing_else(project: Path, tree: Path) -> None:
    (tree / "nested").mkdir()
    git(tree / "nested", "init", "-q")
    put(tree, "new", "1\n")
    found = at(project, tree)
    assert [change.path for change in found.files] == ["new"]
    assert "nested" in found.unreadable


def test_a_folder_that_is_no_worktree_is_refused(project: Path, tree: Path, tmp_path: Path) -> None:
    """The repository around a folder whose own is gone must not be taken for it."""
    inner = project / "inner"
    inner.mkdir()
    with pytest.raises(EnvironmentMissing, match="is no git worktree"):
        fork(project, inner)
    with pytest.raises(EnvironmentMissing, match="is not in a git repository"):
        fork(tmp_path)
    bare = tmp_path / "empty"
    bare.mkdir()
    git(bare, "init", "-q")
    with pytest.raises(NotFound, match="has no commit yet"):
        fork(bare)


@pytest.mark.parametrize(
    ("variables", "settings", "wanted"),
    [
        ({}, "", "less"),
        ({"PAGER": "more"}, "", "more"),
        ({"PAGER": "more"}, "[core]\npager = most\n", "most"),
        ({"PAGER": "more"}, "[core]\npager = most\n[pager]\ndiff = delta --dark\n", "delta --dark"),
        ({"PAGER": "more"}, "[core]\npager = most\n[pager]\ndiff = true\n", "most"),
        ({"PAGER": "more"}, "[core]\npager = most\n[pager]\ndiff = false\n", ""),
        ({"PAGER": "more"}, "[core]\npager = most\n[pager]\ndiff = Yes\n", "most"),
        ({"GIT_PAGER": "bat", "PAGER": "more"}, "[pager]\ndiff = off\n", ""),
        ({"GIT_PAGER": "bat", "PAGER": "more"}, "[pager]\ndiff = delta\n", "bat"),
        ({"GIT_PAGER": "cat"}, "", ""),
        ({"GIT_PAGER": "", "PAGER": "more"}, "", ""),
    ],
)
def test_the_pager_is_the_persons(
    variables: dict[str, str], settings: str, wanted: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In git's order; what the repository says of pagers counts for nothing."""
    (project / "less").write_text("#!/bin/sh\n")
    (project / "less").chmod(0o755)
    monkeypatch.setenv("PATH", str(project), prepend=":")
    for name in ("GIT_PAGER", "PAGER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    (Path(os.environ["HOME"]) / ".gitconfig").write_text(settings)
    git(project, "config", "core.pager", "planted")
    git(project, "config", "pager.diff", "planted")
    assert pager(project) == wanted
