"""Work that only git's own folder of a worktree holds. It is lost with the worktree, whatever its branches hold.

A rebase or merge puts changed files aside there (`--autostash`) until it is over, and a rebase notes where it began. A
worktree's own refs name commits for that worktree alone.
"""

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from pro0.errors import EnvironmentMissing
from pro0.git.commands import HEADS, PASSING, Git, last_line
from pro0.worktrees.names import is_anothers

_NOTES = ("autostash", "orig-head")
_REBASES = ("rebase-merge", "rebase-apply")
_FILES = (*(f"{rebase}/{note}" for rebase in _REBASES for note in _NOTES), "MERGE_AUTOSTASH")
_OWN_REFS = ("refs/worktree/", "refs/bisect/", "refs/rewritten/")
"""The refs of one worktree alone."""
_NAMES = (HEADS, "refs/tags/", "refs/remotes/", "refs/stash")
"""The refs that name a commit for good."""
_ID = re.compile(rb"[0-9a-f]{40,64}\n?")
_ONLY_MOVED = re.compile(r"^(?:checkout|reset|clone):|^rebase.*\((?:start|finish)\)|Fast-forward$")
_NO_OBJECT = 1
"""The exit code of git for an object that is not there any more, so nothing can save it."""
_LONGEST = 8192
"""Byte limit for a note of one commit or one path."""
_HOLD_NOTHING = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO}
"""Errors of a path that does not exist, or cannot be a file or folder."""


def raise_unless_gone(error: OSError, place: Path | None = None) -> None:
    """Raise EnvironmentMissing for a failed read, unless nothing is there: what cannot be read may be work."""
    if error.errno in _HOLD_NOTHING:
        return
    text, hint = f"{error.filename or place} cannot be read: {error.strerror}", "make it readable, then try again"
    raise EnvironmentMissing(text, hint=hint) from error


def raise_if_passing(error: OSError) -> None:
    """Raise EnvironmentMissing for a read that failed for a passing reason; ignore any other failure."""
    if error.strerror in PASSING:
        raise_unless_gone(error)


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder, none for one that is gone; raises EnvironmentMissing for an unreadable one."""
    try:
        return sorted(os.listdir(folder))
    except OSError as error:
        raise_unless_gone(error, folder)
        return []


def mode_of(path: Path) -> int:
    """Return a path's mode without following links, 0 when nothing is there; raises EnvironmentMissing in doubt."""
    try:
        return os.lstat(path).st_mode
    except OSError as error:
        raise_unless_gone(error, path)
        return 0


def private_folder(common: Path, worktree: Path) -> Path | None:
    """Return git's own folder of a worktree, also of one that is gone; raises EnvironmentMissing in doubt."""
    target = os.fspath(worktree.resolve() / ".git")
    doubt: EnvironmentMissing | None = None
    for name in names_in(common / "worktrees"):
        private = common / "worktrees" / name
        try:
            place = os.fsdecode(_text(private / "gitdir").removesuffix(b"\n"))
        except EnvironmentMissing as error:  # it may belong to another worktree
            doubt = error
            continue
        if os.path.normpath(private / place) == target:
            return private
    if doubt:
        raise doubt
    return None


def unnamed(git: Git, private: Path) -> Iterator[str]:
    """Yield the commits that a worktree's own folder notes and no branch, tag or stash holds at that moment."""
    for commit in dict.fromkeys(_noted(private)):
        if git.attempt("cat-file", "-e", commit)[0] != _NO_OBJECT and not git.run(
            "for-each-ref", "--count=1", "--contains", commit, *_NAMES
        ):
            yield commit


def credited(worktree: Git, holders: Sequence[str], commit: str) -> str:
    """Return which of the branches that hold its commit a worktree has worked on, "" for none.

    A worktree that only looks at another member's branch has not, unless the branch's newest commit was made in it.
    """
    own = next((name for name in holders if not is_anothers(name, worktree.folder.name)), "")
    return own or (holders[0] if commit in made_in(worktree.private()) else "")


def made_in(private: Path) -> set[str]:
    """Return the commits that were made in a worktree, according to its own log of HEAD."""
    return {commit for commit, act in log_of_head(private) if act and not _ONLY_MOVED.search(act)}


def log_of_head(private: Path) -> list[tuple[str, str]]:
    """Return the commits a worktree's HEAD was at, each with the act that led there; none from an unreadable log."""
    if tables := _tables(private):
        code, log = tables.attempt("reflog", "show", "--format=- %H%x09%gs", "HEAD", "--")
        if code and log.endswith(PASSING):
            raise EnvironmentMissing(f"the log of {private} cannot be read: {last_line(log)}")
        log = "" if code else log
    else:
        try:
            log = os.fsdecode((private / "logs" / "HEAD").read_bytes())
        except OSError as error:
            raise_if_passing(error)
            return []
    parted = (line.partition("\t") for line in log.split("\n") if line)  # an act may hold other line breaks
    return [(ids.split()[1], act) for ids, _, act in parted]


def pending_patches(private: Path) -> bool:
    """Return True in the middle of `git am`: the patches not applied yet may exist nowhere else."""
    return mode_of(private / "rebase-apply" / "applying") != 0


def _tables(private: Path) -> Git | None:
    """Return git in a worktree's own folder if refs and logs are in tables (reftable), None if they are in files."""
    return Git(private, {"GIT_DIR": str(private)}) if mode_of(private / "reftable") else None


def _noted(private: Path) -> Iterator[str]:
    if tables := _tables(private):
        yield from tables.run("for-each-ref", "--format=%(objectname)", *_OWN_REFS).split()
        code, commit = tables.attempt("rev-parse", "--quiet", "--verify", "MERGE_AUTOSTASH")
        yield from () if code else (commit,)
    walk = os.walk(private / "refs", onerror=raise_unless_gone)
    own_refs = sorted(Path(folder, name) for folder, _, names in walk for name in names)
    for path in (*(private / name for name in _FILES), *own_refs):
        if _ID.fullmatch(text := _text(path)):
            yield text.decode().strip()


def _text(path: Path) -> bytes:
    """Return a file's content, empty for anything but a file; raises EnvironmentMissing for an unreadable one."""
    try:
        note = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return os.read(note, _LONGEST) if stat.S_ISREG(os.fstat(note).st_mode) else b""
        finally:
            os.close(note)
    except OSError as error:
        raise_unless_gone(error, path)
        return b""
