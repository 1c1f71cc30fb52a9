"""What a checkout's HEAD lacks: branches and their commits, all of them while it has no commit."""

from collections.abc import Collection
from datetime import datetime

from pro0.git.commands import HEADS, Git
from pro0.worktrees import starts
from pro0.worktrees.names import PREFIX


def unmerged(checkout: Git, also: Collection[str], since: datetime | None, *holding: str) -> tuple[str, ...]:
    """Return the branches of members, and those in `also`, that HEAD lacks; none older than `since`."""
    words = ("for-each-ref", "--format=%(refname) %(committerdate:unix)", *holding)
    lacking = ("--no-merged", "HEAD") if _has_commit(checkout) else ()
    listed = checkout.run(*words, *lacking, f"{HEADS}{PREFIX}/", *(f"{HEADS}{name}" for name in also))
    dated = (line.rpartition(" ") for line in listed.splitlines())
    return tuple(ref.removeprefix(HEADS) for ref, _, when in dated if not since or int(when) >= int(since.timestamp()))


def unmerged_holders(checkout: Git, commit: str) -> tuple[str, ...]:
    """Return members' branches that hold a commit and that HEAD lacks."""
    return unmerged(checkout, (), None, "--contains", commit)


def measure(checkout: Git, branch: str) -> tuple[int, str]:
    """Return the number of a branch's own commits that HEAD lacks, and a summary of their changes in git's words."""
    ref, start = f"{HEADS}{branch}", starts.beyond_head(checkout, branch)
    lacked = [f"^{commit}" for commit in ("HEAD" if _has_commit(checkout) else "", start) if commit]
    count = int(checkout.run("rev-list", "--count", *lacked, ref))
    failed, base = checkout.attempt("merge-base", start or "HEAD", ref)
    if failed:  # nothing is in common
        base = checkout.run("hash-object", "-t", "tree", "/dev/null")
    return count, checkout.run("diff", "--no-ext-diff", "--no-textconv", "--shortstat", base, ref)


def _has_commit(checkout: Git) -> bool:
    return checkout.succeeds("rev-parse", "--quiet", "--verify", "HEAD")
