"""The names of members' branches."""

import re
from pathlib import Path

PREFIX = "teams"
SAVED = "pro0: saved from "
_ODD = re.compile(r"[^A-Za-z0-9._-]+|\.{2,}|\.lock$|^[.-]+|[.-]+$")


def branch_of(member: str, task: str) -> str:
    """Return the branch for a member's work on a task."""
    return f"{PREFIX}/{sane(member)}/{sane(task)}"


def sane(text: str) -> str:
    """Return a text as one part of a branch or path: characters special to git or a shell become `-`."""
    return _ODD.sub("-", text).strip(".-") or "x"


def is_anothers(branch: str, member: str) -> bool:
    """Return True for a branch of ours with the name of another member: `teams/MEMBER/…`, or `teams/TEAM/MEMBER`."""
    prefix, _, rest = branch.partition("/")
    owner, _, name = rest.partition("/")
    return prefix == PREFIX and sane(member) not in (owner, name, re.sub(r"-\d+$", "", name))


def saved_from(path: Path) -> str:
    """Return the log note of a branch with saved work. It names the worktree, `TEAM-UID/MEMBER`: teams share names."""
    return f"{SAVED}{path.parent.name}/{path.name}"
