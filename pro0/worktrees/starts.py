"""Where a member's branch began. Earlier commits are not its work, even if the checkout is on another branch now."""

from pro0.errors import ErrorCode, Refused
from pro0.git.commands import HEADS, Git
from pro0.worktrees.names import PREFIX


def made_from(commit: str) -> str:
    """Return the log note of a branch that was made from a commit, in git's words for a new worktree."""
    return f"branch: Created from {commit}"


def start_of(checkout: Git, branch: str) -> str:
    """Return the commit from which pro0 made a branch, as the branch's log says, "" for none."""
    words = ("reflog", "show", "--format=%H %gs", f"{HEADS}{branch}", "--")
    failed, text = checkout.attempt(*words) if branch.startswith(f"{PREFIX}/") else (1, "")
    commit, _, note = text.rpartition("\n")[2].partition(" ")
    return commit if not failed and note == made_from(commit) else ""  # one made by an agent names HEAD or a branch


def others_with(checkout: Git, commit: str) -> list[str]:
    """Return the branches that hold a commit and are not the team's, the one with the oldest newest commit first."""
    words = ("for-each-ref", "--format=%(refname)", "--sort=committerdate", "--contains", commit, HEADS)
    names = (ref.removeprefix(HEADS) for ref in checkout.run(*words).splitlines())
    return [name for name in names if not name.startswith(f"{PREFIX}/")]


def is_untouched(checkout: Git, branch: str, commit: str) -> bool:
    """Return True for a branch still at its beginning, in a commit of one of the person's branches."""
    return start_of(checkout, branch) == commit and bool(others_with(checkout, commit))


def refuse_elsewhere(checkout: Git, branch: str) -> None:
    """Raise Refused for a merge that would bring in another branch, on which the member's branch began.

    If it began on the checkout's own branch, before that was amended or rebased, it is merged as git would do it.
    """
    start = beyond_head(checkout, branch)
    if others := others_with(checkout, start) if start else []:
        detached, current = checkout.attempt("symbolic-ref", "--quiet", "--short", "HEAD")
        if not detached and start in checkout.attempt("reflog", "show", "--format=%H", f"{HEADS}{current}", "--")[1]:
            return
        text = f"{branch} began on {others[0]}, and would bring that into {'HEAD' if detached else current}"
        hint = f"git switch {others[0]}, then merge again; or merge both: git merge {branch}"
        raise Refused(text, code=ErrorCode.CONFLICT, hint=hint)


def beyond_head(checkout: Git, branch: str) -> str:
    """Return the commit where a branch began if HEAD lacks it, "" if not, or if the branch was rebased off it."""
    start = start_of(checkout, branch)
    holds = ("merge-base", "--is-ancestor", start)
    is_beyond = start and checkout.succeeds(*holds, f"{HEADS}{branch}") and not checkout.succeeds(*holds, "HEAD")
    return start if is_beyond else ""
