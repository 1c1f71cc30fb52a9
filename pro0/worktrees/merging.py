"""Merges into a checkout's HEAD: predicted without a change, made without overwriting a file in their way."""

import os
import re
from pathlib import Path

from pro0 import looking
from pro0.errors import ErrorCode, Refused
from pro0.git.commands import HEADS, Git, last_line, top
from pro0.worktrees import putting_back

_UNFINISHED = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD")
_UNDER_WAY = ("rebase-merge", "rebase-apply", "BISECT_LOG")
"""What git keeps in its folder until a rebase or a bisection is over, also while it waits at a clean commit."""

BESIDE = "another git command is running there: let it end, then merge again"
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def refuse_unless_ready(checkout: Git) -> None:
    """Raise Refused for a bare repository, and for uncommitted changes, an unfinished merge, rebase or bisection."""
    if checkout.run("rev-parse", "--is-bare-repository") == "true":
        hint = "make a checkout of it and merge there: git worktree add FOLDER BRANCH"
        raise Refused(f"{checkout.folder} is a bare repository", code=ErrorCode.CONFLICT, hint=hint)
    if status(checkout, "--untracked-files=no"):
        text = f"{checkout.folder} has changes that are not committed"
        raise Refused(text, code=ErrorCode.DIRTY, hint="commit them first")
    if is_in_the_middle(checkout):
        text = f"{checkout.folder} is in the middle of a merge, rebase or bisection"
        raise Refused(text, code=ErrorCode.DIRTY, hint="finish it first")


def is_in_the_middle(git: Git) -> bool:
    """Return True in the middle of a merge, cherry-pick, revert, rebase or bisection."""
    return head_is_passing(git) or any(git.succeeds("rev-parse", "--quiet", "--verify", name) for name in _UNFINISHED)


def head_is_passing(git: Git) -> bool:
    """Return True in the middle of a rebase or bisection: the worktree's HEAD is then only a part of its work."""
    return any(looking.exists(git.private() / name) for name in _UNDER_WAY)


def merged_tree(checkout: Git, head: str, branch: str) -> tuple[str, tuple[str, ...]]:
    """Return the tree of merging a branch into HEAD, and the files in conflict."""
    theirs = commit_of(checkout, branch)
    with checkout.apart(head=head) as apart:
        code, text = apart.attempt("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", head, theirs)
    if code not in (0, 1):
        raise Refused(f"{branch} cannot be merged: {last_line(text)}", code=ErrorCode.CONFLICT)
    tree, *names = text.split("\0")
    return tree, tuple(dict.fromkeys(name for name in names if name)) if code else ()


def merge(checkout: Git, head: str, branch: str, message: str) -> tuple[int, str]:
    """Commit a merge without conflicts and check it out; return git's exit code and text, 0 for a merge."""
    theirs, (tree, _) = commit_of(checkout, branch), merged_tree(checkout, head, branch)
    if (untracked := _in_the_way(checkout, head, tree)) is not None:
        return 1, f"the untracked file {untracked} is in the way"
    commit = checkout.signing().run("commit-tree", tree, "-p", head, "-p", theirs, "-m", message)
    # Files first, HEAD second: a failure between the two can still be undone.
    with checkout.apart(index=True, head=head) as apart:
        apart.attempt("update-index", "-q", "--refresh")
        try:
            code, text = apart.attempt("read-tree", "-m", "-u", head, commit)
        except BaseException:  # as with Ctrl+C: git ends between two files
            putting_back.put_back(checkout, apart, head, commit)
            raise
        if code:
            leftovers = putting_back.put_back(checkout, apart, head, commit)
            return (
                code,
                f"{last_line(text)}; files of the merge are left: {', '.join(leftovers[:5])}" if leftovers else text,
            )
        code, text = checkout.signing().attempt("update-ref", "-m", f"merge {branch}", "HEAD", commit, head)
        if code:
            apart.attempt("read-tree", "-m", "-u", commit, head)
    return code, text


def _in_the_way(checkout: Git, head: str, tree: str) -> str | None:
    """Return an untracked file where the merge would write, None for none; git itself overwrites ignored ones."""
    with checkout.apart(index=True, head=head) as apart:
        words = ("diff-tree", "-r", "-z", "--no-renames", "--diff-filter=A", "--name-only", head, tree)
        added = b"".join(apart.stream(*words)).split(b"\0")
        place = top(checkout.folder)
        obstacles = {obstacle for name in added if name and (obstacle := _found(place, Path(os.fsdecode(name))))}
        if not obstacles:
            return None
        places = [f":(top,literal){path}" for path in sorted(obstacles)]
        listed = b"".join(apart.stream("ls-files", "-z", "--full-name", "--others", "--", *places))
        return next((os.fsdecode(name) for name in listed.split(b"\0") if name), None)


def _found(place: Path, path: Path) -> Path | None:
    """Return what is at a path, or the file in place of a folder above it; None where nothing is in the way."""
    for part in (*reversed(path.parents[:-1]), path):
        if part == path or not looking.is_folder(place / part) or looking.is_link(place / part):
            return part if looking.lexists(place / part) else None
    return None


def status(git: Git, files: str) -> str:
    """Return git's list of changed files; `files` is an option about untracked or ignored ones."""
    with git.apart(index=True, head=git.run("rev-parse", "HEAD")) as apart:
        return apart.run("status", "--porcelain", "--ignore-submodules=dirty", files)


def commit_of(checkout: Git, branch: str) -> str:
    """Return the commit of a branch, or of a full commit id; git on its own would take a tag of that name first."""
    for name in (f"{HEADS}{branch}", *([branch] if _ID.fullmatch(branch) else ())):
        code, commit = checkout.attempt("rev-parse", "--quiet", "--verify", f"{name}^{{commit}}")
        if not code:
            return commit
    text, hint = f"{branch} cannot be merged: there is no such branch", "git branch --list 'teams/*' lists those left"
    raise Refused(text, code=ErrorCode.CONFLICT, hint=hint)
