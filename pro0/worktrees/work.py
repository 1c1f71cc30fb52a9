"""The work in a worktree, which its removal would lose."""

import os
from contextlib import suppress
from pathlib import Path

from pro0.errors import Pro0Error
from pro0.git.commands import Git
from pro0.worktrees.aside import pending_patches
from pro0.worktrees.contents import repositories_in, unsaved
from pro0.worktrees.repository import Repository
from pro0.worktrees.travels import beyond_home, takes_code


def work_in(path: Path) -> str:
    """Return the reason to keep a worktree, "" for none; in doubt there is work.

    Files that git ignores are no work; saving a worktree leaves them out too.
    """
    with suppress(OSError):
        if not os.listdir(path):
            return ""
    try:
        trees = Repository(path).all()
        tree = next((tree for tree in trees[1:] if tree.path == path.resolve()), None)
        if tree is None:
            return "it is not a worktree of a repository"
        if tree.half_made:
            return "it is only half made"
        if nested := repositories_in(path):
            return f"it contains another git repository, {nested[0]}"
        if pending_patches(Git(path).private()):
            return "it is in the middle of `git am`"
        if unsaved(path):
            return "it has files that are not committed"
        git = Git(trees[0].path)
        if takes_code(git):  # nobody merges there, so only what home has counts
            return "it has commits that were not brought home" if beyond_home(git, tree.head) else ""
        if not git.succeeds("merge-base", "--is-ancestor", tree.head, "HEAD"):
            return f"its commits are not merged into {trees[0].path}"
    except Pro0Error as error:
        return error.message
    return ""
