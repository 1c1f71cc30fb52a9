"""Stashes of a worktree: they stay in the repository, and only their messages name the branch."""

import math
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from pro0.git.commands import Git
from pro0.worktrees import aside
from pro0.worktrees.names import is_anothers

_STASH = re.compile(r"(\S+ \S+) (\d+) (\S+)[^\t]*\t(?:WIP on|On) ([^:]+): ")
_NOWHERE = "(no branch)"
_MOVED = re.compile(r"checkout: moving from (\S+) to (\S+)|Branch: renamed refs/heads/(\S+) to refs/heads/(\S+)")


def left_by(checkout: Git, place: Path, branch: str = "", since: datetime | None = None) -> tuple[str, ...]:
    """Return the short names of the commits stashed in a worktree, the newest first.

    For a worktree that git has forgotten, only those made on its `branch` `since` a time are known.
    """
    code, listed = checkout.attempt("reflog", "show", "--format=%h %H %ct %P%x09%gs", "refs/stash", "--")
    stashes = [match.groups() for line in listed.splitlines() if (match := _STASH.match(line))] if not code else []
    if not stashes:
        return ()
    branches, bases, began = {branch} - {""}, set[str](), math.floor(since.timestamp()) if since else math.inf
    private = aside.private_folder(_common(checkout), place)
    try:
        if private:
            began = math.floor((private / "commondir").stat().st_mtime)  # git writes it once, with the worktree
            log = aside.log_of_head(private)
            branches |= _been_on(checkout, place, (act for _, act in log))
            bases = {commit for commit, _ in log}
    except OSError as error:
        aside.raise_if_passing(error)
    return tuple(
        _name(*names.split())
        for names, when, base, on in stashes
        if int(when) >= began and (base in bases if on == _NOWHERE else on in branches)
    )


def _name(short: str, whole: str) -> str:
    """Return a name for `git stash apply`: git takes digits alone for a number in its list."""
    return whole if short.isdecimal() else short


def _been_on(checkout: Git, place: Path, acts: Iterable[str]) -> set[str]:
    """Return the present and former branches of a worktree, except those of another member or worktree."""
    now = {tree.branch: tree.path for tree in checkout.worktrees()}
    names = {name for act in acts if (move := _MOVED.match(act)) for name in move.groups()} | {*now}
    here = place.resolve()
    return {name for name in names if name and now.get(name, here) == here and not is_anothers(name, place.name)}


def _common(checkout: Git) -> Path:
    return Path(checkout.run("rev-parse", "--path-format=absolute", "--git-common-dir"))
