"""Merges into a checkout's HEAD: predicted without a change, made without overwriting a file in their way."""

from pro0.errors import ErrorCode, Refused
from pro0.git import Git, last_line

_UNFINISHED = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD")


def refuse_unless_ready(checkout: Git) -> None:
    """Raise Refused for a checkout with uncommitted changes, or in the middle of a merge or rebase."""
    if status(checkout, "--untracked-files=no"):
        text = f"{checkout.folder} has changes that are not committed"
        raise Refused(text, code=ErrorCode.DIRTY, hint="commit them first")
    if any(checkout.succeeds("rev-parse", "--quiet", "--verify", name) for name in _UNFINISHED):
        text = f"{checkout.folder} is in the middle of a merge or rebase"
        raise Refused(text, code=ErrorCode.DIRTY, hint="finish it first")


def merged_tree(checkout: Git, head: str, branch: str) -> tuple[str, tuple[str, ...]]:
    """Return the tree of merging a branch into HEAD, and the files in conflict."""
    theirs = _commit_of(checkout, branch)
    with checkout.apart(head=head) as apart:
        code, text = apart.attempt("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", head, theirs)
    if code not in (0, 1):
        raise Refused(f"{branch} cannot be merged: {last_line(text)}", code=ErrorCode.CONFLICT)
    tree, *names = text.split("\0")
    return tree, tuple(dict.fromkeys(name for name in names if name)) if code else ()


def merge(checkout: Git, head: str, branch: str, message: str) -> tuple[int, str]:
    """Commit a merge without conflicts and check it out; return git's exit code and text, 0 for a merge."""
    theirs, (tree, _) = _commit_of(checkout, branch), merged_tree(checkout, head, branch)
    commit = checkout.signing().run("commit-tree", tree, "-p", head, "-p", theirs, "-m", message)
    # Files first, HEAD second: a failure between the two can still be undone.
    with checkout.apart(index=True, head=head) as apart:
        apart.attempt("update-index", "-q", "--refresh")
        code, text = apart.attempt("read-tree", "-m", "-u", head, commit)
        if code:
            return code, text
        code, text = checkout.signing().attempt("update-ref", "-m", f"merge {branch}", "HEAD", commit, head)
        if code:
            apart.attempt("read-tree", "-m", "-u", commit, head)
    return code, text


def status(git: Git, files: str) -> str:
    """Return git's list of changed files; `files` is an option for the others to count."""
    with git.apart(index=True, head=git.run("rev-parse", "HEAD")) as apart:
        return apart.run("status", "--porcelain", "--ignore-submodules=dirty", files)


def _commit_of(checkout: Git, branch: str) -> str:
    code, commit = checkout.attempt("rev-parse", "--verify", "--end-of-options", f"{branch}^{{commit}}")
    if code:
        raise Refused(f"{branch} cannot be merged: {last_line(commit)}", code=ErrorCode.CONFLICT)
    return commit
