"""Differences: what a worktree or a branch holds beyond the project's checkout, committed or not. Nothing is changed.

The files of a worktree are read into a scratch repository, so uncommitted and untracked ones are compared like the
others. A submodule is compared in the same way, from the commit which its project had where the work forked.
"""

import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

import msgspec

from pro0 import looking
from pro0.errors import EnvironmentMissing, ErrorCode, NotFound
from pro0.git.commands import HEADS, Git, last_line, no_repository, top

_FORM = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--find-renames",
    "--submodule=short",
    "--ignore-submodules=none",
)
_KINDS = {"A": "added", "C": "copied", "D": "deleted", "M": "changed", "R": "renamed", "T": "changed type"}
_SUBMODULE = "160000"
_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0", "")
"""Git's words for a setting that is on or off, in letters of any size."""


class Fork(msgspec.Struct, frozen=True):
    """One line of work: the folder of its files, the commit where it left the checkout, and its newest commit."""

    folder: Path
    base: str
    """The empty tree for a history without a common commit."""
    tip: str
    branch: str = ""
    files: bool = True
    """False when only the commits count: the files in the folder belong to another line of work."""


class UnmergedCommit(msgspec.Struct, frozen=True):
    """A commit which the checkout does not have."""

    id: str
    at: datetime
    author: str
    title: str


class FileChange(msgspec.Struct, frozen=True):
    """A file which differs: how, by how many lines (None for a binary one), and whether all of it is committed."""

    path: str
    kind: str
    added: int | None
    removed: int | None
    was: str = ""
    """The path before, for a renamed file."""
    committed: bool = True


class Difference(msgspec.Struct, frozen=True):
    """Everything in one line of work since its fork."""

    base: str
    tip: str
    branch: str
    commits: tuple[UnmergedCommit, ...] = ()
    files: tuple[FileChange, ...] = ()
    added: int = 0
    removed: int = 0
    unreadable: str = ""
    """Git's complaint about files which it could not read."""

    @property
    def uncommitted(self) -> int:
        """Return the number of files with changes not yet committed."""
        return sum(not change.committed for change in self.files)


class _Part(NamedTuple):
    """The two trees to compare in one repository, and its folder as a prefix of paths."""

    git: Git
    base: str
    tree: str
    tip: str
    prefix: str
    unreadable: str = ""


def fork(checkout: Path, folder: Path | None = None, branch: str = "") -> Fork:
    """Return the line of work of a folder; without a folder, of a branch; without both, of the checkout itself.

    Raises EnvironmentMissing outside a repository, NotFound for a missing branch or commit.
    """
    project = _repository(checkout)
    if folder is None and branch:
        commit = _commit(project, f"{HEADS}{branch}", branch)  # a tag may have the same name
        return Fork(checkout, _meeting(project, commit), commit, branch, files=False)
    work = project if folder is None else _worktree(folder)
    commit, (code, current) = _commit(work, "HEAD"), work.attempt("symbolic-ref", "--quiet", "HEAD")
    return Fork(work.folder, _meeting(project, commit), commit, "" if code else current.removeprefix(HEADS))


def difference(line: Fork) -> Difference:
    """Return the commits and the files of a line of work."""
    commits = _commits(line)
    files: list[FileChange] = []
    complaints = []
    for part in _parts(line):
        saved = _names(part, part.tip) if line.files else set()
        files += (_change(part, fields, saved) for fields in _listed(part))
        complaints.append(part.unreadable)
    return Difference(
        base=line.base,
        tip=line.tip,
        branch=line.branch,
        commits=commits,
        files=tuple(files),
        added=sum(change.added or 0 for change in files),
        removed=sum(change.removed or 0 for change in files),
        unreadable="\n".join(filter(None, complaints)),
    )


def patch(line: Fork, *, whole: bool = False) -> Iterator[bytes]:
    """Yield the lines of git's patch; a `whole` patch includes the content of binary files, for `git apply`."""
    form = (*_FORM, "--binary") if whole else _FORM
    for part in _parts(line):
        places = (f"--src-prefix=a/{part.prefix}", f"--dst-prefix=b/{part.prefix}")
        yield from part.git.stream("diff", *form, *places, part.base, part.tree)


def pager(folder: Path) -> str:
    """Return the person's pager for diffs, chosen in git's order, "" for none. Repository settings do not count."""
    own = _setting(folder, "pager.diff")
    if own is not None and own.lower() in _NO:
        return ""
    command = os.environ.get("GIT_PAGER")
    if command is None:
        command = _setting(folder, "core.pager") if own is None or own.lower() in _YES else own
    if command is None:
        command = os.environ.get("PAGER", "less" if shutil.which("less") else "")
    return "" if command.strip() == "cat" else command.strip()


def _setting(folder: Path, name: str) -> str | None:
    """Return a git setting of the person or the system, ignoring those of a repository."""
    code, text = Git(folder).attempt("config", "--null", "--show-scope", "--get-all", name)
    fields = [] if code else text.split("\0")
    values = [value for scope, value in zip(fields[::2], fields[1::2], strict=False) if scope in ("system", "global")]
    return values[-1] if values else None


def _repository(folder: Path) -> Git:
    repository = Git(top(folder))
    code, text = repository.attempt("rev-parse", "--git-dir")
    if code:
        raise no_repository(folder, text, "make one: git init, and a first commit")
    return repository


def _worktree(folder: Path) -> Git:
    """Return the worktree with its top in this folder; raises EnvironmentMissing if the folder is below the top."""
    git = _repository(folder)
    if git.folder != folder:
        raise EnvironmentMissing(f"{folder} is no git worktree", code=ErrorCode.NO_REPOSITORY, hint="git worktree list")
    return git


def _commit(git: Git, ref: str, branch: str = "") -> str:
    code, commit = git.attempt("rev-parse", "--verify", f"{ref}^{{commit}}")
    if code and not branch:
        raise NotFound(f"{git.folder} has no commit yet", hint="git commit something first")
    if code:
        raise NotFound(f"{git.folder} has no branch {branch}", hint="git branch --list 'teams/*'")
    return commit


def _meeting(git: Git, commit: str) -> str:
    """Return the last commit which the checkout and a commit have in common; the empty tree for none."""
    code, base = git.attempt("merge-base", "HEAD", commit)
    if code > 1:
        raise EnvironmentMissing(f"git merge-base failed in {git.folder}: {last_line(base)}", code=ErrorCode.GIT_FAILED)
    return _nothing(git) if code else base


def _nothing(git: Git) -> str:
    return git.run("hash-object", "-t", "tree", "/dev/null")


def _commits(line: Fork) -> tuple[UnmergedCommit, ...]:
    git = Git(line.folder)
    not_in_base = (f"^{line.base}",) if git.succeeds("rev-parse", "--verify", f"{line.base}^{{commit}}") else ()
    form = ("--date=raw", "--format=%H%n%ad%n%an%n%s")
    output = git.run("log", "-z", "--no-color", *form, line.tip, *not_in_base)
    fields = (entry.split("\n", 3) for entry in output.split("\0") if entry)
    return tuple(UnmergedCommit(id, _moment(at), _valid(author), _valid(title)) for id, at, author, title in fields)


def _moment(raw: str) -> datetime:
    """Return the moment in git's form of seconds and a zone; the epoch for anything else."""
    seconds, _, zone = raw.partition(" ")
    try:
        minutes = int(zone[:1] + "1") * (int(zone[1:3]) * 60 + int(zone[3:5]))
        return datetime.fromtimestamp(int(seconds), timezone(timedelta(minutes=minutes)))
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


def _parts(line: Fork) -> Iterator[_Part]:
    """Yield the repository of a line of work, and each of its submodules."""
    if line.files:
        yield from _below(line.folder, line.base, line.tip, "")
    else:
        with Git(line.folder).apart(head=line.tip, lasting=False) as git:
            yield _Part(git, line.base, line.tip, line.tip, "")


def _below(folder: Path, base: str, tip: str, prefix: str) -> Iterator[_Part]:
    with Git(folder).present() as (git, tree, unreadable):
        yield _Part(git, base, tree, tip, prefix, unreadable)
        modules = _modules(git, tree)
        before = _modules(git, base) if modules else {}
    for path in modules:
        place = folder / path
        if looking.exists(place / ".git") and place.resolve() == folder.resolve() / path:
            nested = Git(place)
            code, head = nested.attempt("rev-parse", "--verify", "HEAD^{commit}")
            start = before.get(path, head)
            if not code and nested.succeeds("cat-file", "-e", f"{start}^{{commit}}"):
                yield from _below(place, start, head, f"{prefix}{path}/")


def _modules(git: Git, tree: str) -> dict[str, str]:
    """Return the submodules of a tree: path and commit."""
    entries = (entry.partition("\t") for entry in git.run("ls-tree", "-r", "-z", tree).split("\0"))
    return {path: about.split()[2] for about, _, path in entries if about.startswith(_SUBMODULE)}


def _names(part: _Part, since: str) -> set[str]:
    output = part.git.run("diff", *_FORM, "--no-renames", "--name-status", "-z", since, part.tree)
    return set(output.split("\0")[1::2])


def _listed(part: _Part) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield kind, old path, path, and lines added and removed of each file in a part."""
    raw = iter(part.git.run("diff", *_FORM, "--raw", "-z", part.base, part.tree).split("\0"))
    counts = iter(part.git.run("diff", *_FORM, "--numstat", "-z", part.base, part.tree).split("\0"))
    for about in raw:
        if about:
            letter = about.split()[-1][0]
            was = next(raw)
            path = next(raw) if letter in "RC" else was
            added, removed, name = next(counts).split("\t", 2)
            if not name:
                next(counts), next(counts)
            yield letter, was, path, added, removed


def _change(part: _Part, fields: tuple[str, str, str, str, str], unsaved: set[str]) -> FileChange:
    letter, was, path, added, removed = fields
    return FileChange(
        path=_valid(part.prefix + path),
        kind=_KINDS.get(letter, "changed"),
        added=None if added == "-" else int(added),
        removed=None if removed == "-" else int(removed),
        was=_valid(part.prefix + was) if was != path else "",
        committed=path not in unsaved and was not in unsaved,
    )


def _valid(text: str) -> str:
    """Return git's output as valid text, with undecodable bytes escaped."""
    return os.fsencode(text).decode(errors="backslashreplace")
