"""The content of a worktree's folder: write it as a tree, commit it on no branch, or check it before its removal."""

import os
import stat
from pathlib import Path

from pro0 import scratch
from pro0.git.commands import Git
from pro0.worktrees import aside

_LISTED = "forced"


def changed_tree(worktree: Git, base: str, selection: str = "--all") -> str:
    """Write a worktree's files on top of a commit's tree; return the new tree, "" for no change.

    An ignored file counts once it was added to the index. Files outside a sparse checkout are written, and none of
    them counts as removed.
    """
    commit, before = worktree.run("log", "-1", "--no-patch", "--format=%H %T", base, "--").split()
    with worktree.apart() as apart:
        apart.run("read-tree", commit)
        apart.run("add", "--sparse", "--ignore-removal", "--", ".")
        apart.run("add", selection, "--", ".")
        if forced := _forced(worktree, commit):
            listed = apart.private() / _LISTED
            with scratch.room():
                listed.write_bytes(b"".join(b":(top,literal)" + name + b"\0" for name in forced))
            apart.run("add", "--sparse", "--force", f"--pathspec-from-file={listed}", "--pathspec-file-nul")
        tree = apart.run("write-tree", "--missing-ok")  # a partial clone lacks files outside a sparse checkout
    return "" if tree == before else tree


def commit_all(worktree: Git, onto: str, message: str, selection: str = "--all") -> str:
    """Commit a worktree's files on top of a commit; return the commit, not yet on any branch, "" for no change."""
    tree = changed_tree(worktree, onto, selection)
    return worktree.signing().run("commit-tree", tree, "-p", onto, "-m", message) if tree else ""


def unsaved(path: Path) -> bool:
    """Return True for a worktree with files that are not committed, or put aside by git and named nowhere else."""
    worktree = Git(path)
    if changed_tree(worktree, "HEAD"):
        return True
    private = worktree.private()
    return aside.pending_patches(private) or any(aside.unnamed(worktree, private))


def repositories_in(path: Path) -> list[Path]:
    """Return the repositories inside a worktree, submodules too, and those that git keeps of former submodules.

    Raises EnvironmentMissing for a folder that cannot be read, since a repository may be in it.
    """
    repositories = []
    for folder, names, files in os.walk(path, onerror=aside.raise_unless_gone):
        place = Path(folder)
        if place != path and (".git" in names or ".git" in files):
            repositories.append(place)
            names.clear()
        names[:] = [name for name in names if name != ".git"]
    modules = Git(path).private() / "modules"
    return [*repositories, *(modules / name for name in aside.names_in(modules))]


def _forced(worktree: Git, commit: str) -> list[bytes]:
    """Return the existing files that are new in a worktree's own index."""
    words = ("diff-index", "--cached", "--no-renames", "--diff-filter=A", "--name-only", "-z", commit)
    with worktree.apart(index=True, head=commit) as apart:
        names = b"".join(apart.stream(*words)).split(b"\0")
    modes = {name: aside.mode_of(worktree.folder / os.fsdecode(name)) for name in names if name}
    return [name for name, mode in modes.items() if stat.S_ISLNK(mode) or stat.S_ISREG(mode)]
