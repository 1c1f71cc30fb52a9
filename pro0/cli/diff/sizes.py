"""The commits and lines of somebody's work, as `show` names them."""

from pro0.cli.output import line
from pro0.diffs import Difference
from pro0.rules.patch import summary

NAMED = 5
"""The most commits that are listed; of the others only the number is shown."""


def sized(difference: Difference | None, of: str = "") -> dict[str, object] | None:
    """Return the size of a change as JSON, None for no change; `of` names the member that has the worktree."""
    if difference is None:
        return None
    counts: dict[str, object] = {"commits": len(difference.commits), "files": len(difference.files)}
    counts |= {"added": difference.added, "removed": difference.removed, "uncommitted": difference.uncommitted}
    return {**counts, "of": of} if of else counts


def changed(difference: Difference | None, of: str = "") -> list[tuple[str, str]]:
    """Return the rows of `show` about a change: size and newest commits; `of` names the member with the worktree."""
    if difference is None:
        return []
    commits = [f"{commit.id[:12]} {line(commit.title)}" for commit in difference.commits]
    lines = [*commits[:NAMED], *([f"and {len(commits) - NAMED} more"] if len(commits) > NAMED else [])]
    size = summary(len(commits), len(difference.files), difference.added, difference.removed, difference.uncommitted)
    place = f" (in all of the worktree of {of})" if of else ""
    counted = size or ("unknown" if difference.unreadable else "none")
    return [
        ("changes", f"{counted}{place}"),
        ("unreadable", line(difference.unreadable)),
        ("commits", "\n".join(lines)),
    ]
