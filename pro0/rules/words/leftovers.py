"""Words about work left in git by a worktree."""


def not_merged_either(branch: str) -> str:
    """Return the line about another unmerged branch of a worker."""
    return f"{branch} is not merged either; if it is good: git merge {branch}"


def stash_kept(member: str, commit: str) -> str:
    """Return the line about a stash, named by its commit, since its number changes."""
    return f"a stash of {member} is kept; if it is good: git stash apply {commit}"
