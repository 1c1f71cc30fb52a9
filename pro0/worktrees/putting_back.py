"""Undo the files that git wrote before a merge failed, such as on a full disk, so that no half of it stays."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pro0 import looking
from pro0.git.commands import Git, top

_AT_ONCE = 200
"""Paths for one call of git, within the system's limit."""


def put_back(checkout: Git, apart: Git, head: str, commit: str) -> list[str]:
    """Restore the files to their state in HEAD; return those that cannot be restored.

    The index is still that of HEAD, and nothing existed where the merge adds files. A file is touched only while it is
    as the merge made it: one that somebody has changed since is theirs.
    """
    place = top(checkout.folder)
    kinds = ("--diff-filter=A", "--diff-filter=D", "--diff-filter=a")
    added, deleted, changed = (_names(apart, "diff-tree", "-r", kind, head, commit) for kind in kinds)
    with checkout.apart(head=head) as merged:
        merged.run("read-tree", commit)
        unlike = _unlike(merged)
    for name in added:
        _take_away(place, Path(name), ours=name not in unlike)
    gone = {name for name in changed if not os.path.lexists(place / name)}
    lost = sorted((changed - unlike - deleted | gone) & _unlike(apart))
    for at in range(0, len(lost), _AT_ONCE):
        _restore(apart, lost[at : at + _AT_ONCE])
    return sorted(changed & _unlike(apart) | {name for name in added if _is_file(place / name)})


def _names(git: Git, *words: str) -> set[str]:
    listed = b"".join(git.stream(words[0], "-z", "--no-renames", "--name-only", *words[1:]))
    return {os.fsdecode(name) for name in listed.split(b"\0") if name}


def _unlike(git: Git) -> set[str]:
    """Return the files that differ from the index or are missing."""
    git.attempt("update-index", "-q", "--refresh")
    return _names(git, "diff-files", "--ignore-submodules=dirty")


def _is_file(path: Path) -> bool:
    """Return True for anything but a folder: HEAD may have one at the place of a new file."""
    return os.path.lexists(path) and (looking.is_link(path) or not looking.is_folder(path))


def _take_away(place: Path, path: Path, *, ours: bool) -> None:
    if ours:
        with suppress(OSError):
            (place / path).unlink()
    for folder in path.parents[:-1]:
        with suppress(OSError):  # it holds something, or is not there
            (place / folder).rmdir()


def _restore(apart: Git, names: Sequence[str]) -> None:
    """Write files as they are in the index; one that cannot be written does not stop the others."""
    paths = (f":(top,literal){name}" for name in names)
    if not apart.succeeds("restore", "--worktree", "--", *paths) and (middle := len(names) // 2):
        _restore(apart, names[:middle])
        _restore(apart, names[middle:])
