"""Work that git's own folder of a worktree alone holds: it goes away with the worktree, whatever its branches say.

A rebase or merge puts changed files aside there (`--autostash`) until it is over, and a rebase notes where it began. A
ref of a worktree's own names commits for that worktree alone.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from pro0.git.commands import HEADS, Git
from pro0.worktrees.names import is_anothers

_NOTES = ("autostash", "orig-head")
_REBASES = ("rebase-merge", "rebase-apply")
_FILES = (*(f"{rebase}/{note}" for rebase in _REBASES for note in _NOTES), "MERGE_AUTOSTASH")
_NAMES = (HEADS, "refs/tags/", "refs/remotes/", "refs/stash")
"""What names a commit for good."""
_ID = re.compile(rb"[0-9a-f]{40,64}\n?")
_ONLY_MOVED = re.compile(rb"^(?:checkout|reset|clone):|^rebase.*\((?:start|finish)\)|Fast-forward$")
_NO_OBJECT = 1
"""The exit code of git for an object that is not there any more, so nothing can save it."""
_LONGEST = 256
"""Byte limit for a note of one commit."""


def private_folder(common: Path, worktree: Path) -> Path | None:
    """Return git's own folder of a worktree, also of one that is gone."""
    target = os.fspath(worktree.resolve() / ".git")
    for pointer in (common / "worktrees").glob("*/gitdir"):
        with suppress(OSError):
            place = os.fsdecode(pointer.read_bytes().removesuffix(b"\n"))
            if os.path.normpath(pointer.parent / place) == target:
                return pointer.parent
    return None


def unnamed(git: Git, private: Path) -> Iterator[str]:
    """Yield the commits that a worktree's own folder notes and no branch, tag or stash holds at that moment."""
    for commit in dict.fromkeys(_noted(private)):
        if git.attempt("cat-file", "-e", commit)[0] != _NO_OBJECT and not git.run(
            "for-each-ref", "--count=1", "--contains", commit, *_NAMES
        ):
            yield commit


def credited(worktree: Git, holders: Sequence[str], commit: str) -> str:
    """Return the branch that a worktree leaves, of those which hold its commit, "" for none.

    Who only looks at another member's branch leaves nothing there; who has made the newest commit there does.
    """
    own = next((name for name in holders if not is_anothers(name, worktree.folder.name)), "")
    return own or (holders[0] if commit in made_in(worktree.private()) else "")


def made_in(private: Path) -> set[str]:
    """Return the commits that were made in a worktree, as its own log of HEAD tells."""
    log = b""
    with suppress(OSError):
        log = (private / "logs" / "HEAD").read_bytes()
    parted = (line.partition(b"\t") for line in log.splitlines())
    return {ids.split()[1].decode() for ids, _, act in parted if act and not _ONLY_MOVED.search(act)}


def pending_patches(private: Path) -> bool:
    """Return True in the middle of `git am`: the patches that it has not applied may be nowhere else."""
    return os.path.lexists(private / "rebase-apply" / "applying")


def _noted(private: Path) -> Iterator[str]:
    own_refs = sorted(path for path in (private / "refs").rglob("*") if not path.is_dir())
    for path in (*(private / name for name in _FILES), *own_refs):
        with suppress(OSError), open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as note:
            if stat.S_ISREG(os.fstat(note.fileno()).st_mode) and _ID.fullmatch(text := note.read(_LONGEST)):
                yield text.decode().strip()
