"""Git worktrees for members: made, saved, merged, removed; nothing that is not merged is ever lost.

Every act on a repository waits for the one before it, by a lock on the repository's own folder, since git's worktree
commands fail when two run at once. Saving goes through an index of its own, so that neither a hook, a lock that a
killed git left, nor a merge that is going on can stand in its way.
"""

import fcntl
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import msgspec

from pro0.errors import EnvironmentMissing, Kept, Refused, StoreError

PATIENCE = 60.0
"""Seconds to wait for another act on the same repository."""
PREFIX = "teams"
_HEADS = "refs/heads/"
_ODD = re.compile(r"[^A-Za-z0-9._-]+|\.{2,}|\.lock$|^[.-]+|[.-]+$")
_WHO = {"GIT_AUTHOR_NAME": "pro0", "GIT_AUTHOR_EMAIL": "pro0@localhost"}
_WHO |= {"GIT_COMMITTER_NAME": "pro0", "GIT_COMMITTER_EMAIL": "pro0@localhost"}


class Worktree(msgspec.Struct, frozen=True):
    """One worktree: where it is, its branch ("" for none), and the commit that is checked out."""

    path: Path
    branch: str
    head: str
    half_made: bool = False
    """Whether git was killed before all of it was there, so that nobody has worked in it."""


class Prediction(msgspec.Struct, frozen=True):
    """What a merge would do: the files that conflict, none for a clean one."""

    conflicts: tuple[str, ...] = ()


class Repository:
    """The repository that a project's checkout belongs to."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        code, common = self._try("rev-parse", "--path-format=absolute", "--git-common-dir")
        if code:
            hint = "worktrees need one: git init, and a first commit"
            raise EnvironmentMissing(f"{checkout} is in no git repository", code="no_repository", hint=hint)
        self._common = Path(common.strip())

    def add(self, path: Path, branch: str, *, again: bool = False) -> Worktree:
        """Make a worktree at the checkout's HEAD, on a new branch: the one that is named, or the next free of its name.

        With `again` one that is there is taken as it is. Raises Refused for a repository without a commit, a worktree
        with unsaved files, a folder that is not ours.
        """
        with self._alone():
            known = self._known(path)
            if again and known and not known.half_made and path.exists():
                return known
            head = self.head()
            self._clear(path)
            name = self._free(branch, head)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._git("worktree", "add", "--quiet", "--no-track", "-B", name, str(path), head)
            return Worktree(path, name, head)

    def all(self) -> tuple[Worktree, ...]:
        """Return every worktree of the repository, the project's own checkout first."""
        listed = self._git("worktree", "list", "--porcelain", "-z")
        return tuple(_parsed(entry) for entry in listed.split("\0\0") if entry)

    def save(self, path: Path, message: str) -> str:
        """Commit everything unsaved of a worktree to its branch; return the commit, "" when all was saved already.

        What git ignores is not saved. A worktree without a branch gets one, so that its commits have a name. Raises
        Kept for a repository within it, which a commit cannot hold.
        """
        with self._alone():
            return self._save(path, message)

    def predict(self, branch: str) -> Prediction:
        """Say what a merge of a branch into the checkout's HEAD would do; nothing is changed."""
        return self._predict(branch)

    def merge(self, branch: str, message: str) -> str:
        """Merge a branch into the checkout's HEAD and return the commit.

        Raises Refused, and changes nothing, for a dirty checkout, one in the middle of something, and for conflicts.
        """
        with self._alone():
            if self.merged(branch):
                return self.head()
            self._ready_to_merge()
            if conflicts := self._predict(branch).conflicts:
                named = ", ".join(conflicts[:5]) + (" …" if len(conflicts) > 5 else "")
                raise Refused(f"{branch} would conflict in {named}", code="conflict", hint="merge it by hand")
            code, text = self._try("merge", "--quiet", "--no-ff", "-m", message, branch, env=self._known_as())
            if code:
                self._try("merge", "--abort")
                raise Refused(f"{branch} cannot be merged: {_last(text)}", code="conflict", hint="merge it by hand")
            return self.head()

    def merged(self, branch: str) -> bool:
        """Return whether everything of a branch is in the checkout's HEAD."""
        return self._try("merge-base", "--is-ancestor", branch, "HEAD")[0] == 0

    def head(self) -> str:
        """Return the commit that the checkout is on; raises Refused for a repository without one."""
        code, head = self._try("rev-parse", "--verify", "HEAD")
        if code:
            raise Refused(f"{self.checkout} has no commit yet", code="conflict", hint="git commit something first")
        return head.strip()

    def remove(self, path: Path, message: str) -> str:
        """Save a worktree, remove it, and drop its branch when all of it is merged; return the branch that stays."""
        with self._alone():
            if not path.exists():
                self._forget(path, self._known(path))
                return ""
            known, kept = self._ours(path), ""
            if known.half_made:
                kept = self._rescue(known, message)
            else:
                self._save(path, message)
            branch = self._ours(path).branch
            self._git("worktree", "remove", "--force", "--force", str(path))
            return kept or ("" if branch and self._drop(branch) else branch)

    def remove_unused(self, path: Path) -> bool:
        """Remove a worktree with nothing in it that is not in the checkout's HEAD, nor ignored; say whether it went."""
        with self._alone():
            known = self._known(path)
            if known is None or not path.exists() or self._git("status", "--porcelain", "--ignored", at=path).strip():
                return False
            if self._try("merge-base", "--is-ancestor", known.head, "HEAD")[0]:
                return False
            self._git("worktree", "remove", str(path))
            return not known.branch or self._drop(known.branch)

    def unmerged(self) -> tuple[str, ...]:
        """Return the branches of members that hold what the checkout's HEAD does not."""
        listed = self._git("for-each-ref", "--format=%(refname)", "--no-merged", "HEAD", f"{_HEADS}{PREFIX}/")
        return tuple(name.removeprefix(_HEADS) for name in listed.splitlines())

    def _free(self, branch: str, head: str) -> str:
        """Return a branch of that name which nobody has checked out and which holds nothing of its own."""
        taken = {tree.branch for tree in self.all()}
        names = (branch if number == 1 else f"{branch}-{number}" for number in range(1, 1_000_000))
        return next(n for n in names if n not in taken and (not self._has(n) or self._commit(n) == head))

    def measure(self, branch: str) -> tuple[int, str]:
        """Return how many commits of a branch are not in the checkout's HEAD, and what they change, in git's words."""
        count = int(self._git("rev-list", "--count", "^HEAD", f"{_HEADS}{branch}"))
        return count, self._git("diff", "--shortstat", f"HEAD...{_HEADS}{branch}").strip()

    def drop(self, branch: str) -> bool:
        """Remove a branch of a member if all of it is merged; say whether it is gone."""
        with self._alone():
            return not self._has(branch) or self._drop(branch)

    def _clear(self, path: Path) -> None:
        """Make room at a path where a worktree of ours is, or was; anything else is not touched."""
        known = self._known(path)
        if known is None and os.path.lexists(path) and (path.is_symlink() or not _is_empty(path)):
            raise Refused(f"{path} is there, and no worktree of this repository", code="conflict", hint="move it away")
        if known is not None and path.exists():
            if known.half_made:
                self._rescue(known, "pro0: saved from a worktree that was made by half")
            elif self._unsaved(path):
                raise Refused(f"{path} has unsaved files", code="conflict", hint="pro0 doctor --repair saves them")
            self._git("worktree", "remove", "--force", "--force", str(path))
            known = None
        self._forget(path, known)

    def _forget(self, path: Path, gone: Worktree | None) -> None:
        """Let git forget worktrees whose folders are gone, also one that a killed git left half made, and locked."""
        if gone is not None and gone.half_made:
            self._git("worktree", "unlock", str(path))
        self._git("worktree", "prune")

    def _save(self, path: Path, message: str) -> str:
        self._ours(path)
        if nested := _repositories_in(path):
            raise Kept(f"{path} holds a repository of its own, {nested[0]}", code="kept", hint="move that away")
        branch = self._named(path)
        tree, head = self._tree(path), self._git("rev-parse", "HEAD", at=path).strip()
        if tree == self._git("rev-parse", "HEAD^{tree}", at=path).strip():
            return ""
        saved = self._git("commit-tree", tree, "-p", head, "-m", message, at=path, env=self._known_as()).strip()
        self._git("update-ref", "-m", "pro0: save", f"{_HEADS}{branch}", saved, head, at=path)
        return saved

    def _rescue(self, half: Worktree, message: str) -> str:
        """Save what somebody has put into a worktree that a killed git left half made; return its branch, "" for none.

        What is missing there was not made yet, and its own branch, if it has one, stays as it is.
        """
        base = half.head if half.head.strip("0") else self.head()
        whose = {"GIT_DIR": str(self._common), "GIT_WORK_TREE": str(half.path)}
        tree = self._tree(half.path, base, "--ignore-removal", whose)
        if tree == self._git("rev-parse", f"{base}^{{tree}}").strip():
            return ""
        saved = self._git("commit-tree", tree, "-p", base, "-m", message, env=self._known_as()).strip()
        branch = self._unused(half.path)
        self._git("update-ref", f"{_HEADS}{branch}", saved, "0" * len(saved))
        return branch

    def _ours(self, path: Path) -> Worktree:
        """Return the worktree at a path: git would take any other folder for a part of the repository around it."""
        known = self._known(path)
        if known is None:
            raise Refused(f"{path} is no worktree of {self.checkout}", code="conflict", hint="git worktree list")
        return known

    def _known(self, path: Path) -> Worktree | None:
        return next((tree for tree in self.all()[1:] if tree.path == path.resolve()), None)

    def _unsaved(self, path: Path) -> bool:
        return self._tree(path) != self._git("rev-parse", "HEAD^{tree}", at=path).strip()

    def _tree(
        self, path: Path, base: str = "HEAD", what: str = "--all", whose: Mapping[str, str] = MappingProxyType({})
    ) -> str:
        """Write everything in a worktree that git does not ignore as a tree, by an index of its own."""
        with tempfile.TemporaryDirectory(prefix="pro0-index-") as scratch:
            env = {**whose, "GIT_INDEX_FILE": f"{scratch}/index"}
            self._git("read-tree", base, at=path, env=env)
            self._git("add", what, "--", ".", at=path, env=env)
            return self._git("write-tree", at=path, env=env).strip()

    def _named(self, path: Path) -> str:
        """Return the branch of a worktree; a head that hangs in the air gets a new one, and is moved onto it."""
        code, ref = self._try("symbolic-ref", "--quiet", "HEAD", at=path)
        if code == 0:
            return ref.strip().removeprefix(_HEADS)
        name = self._unused(path)
        head = self._git("rev-parse", "HEAD", at=path).strip()
        self._git("update-ref", f"{_HEADS}{name}", head, "0" * len(head), at=path)
        self._git("symbolic-ref", "HEAD", f"{_HEADS}{name}", at=path)
        return name

    def _unused(self, path: Path) -> str:
        """Return a branch for what is saved from a worktree, which is not there yet."""
        names = (f"{PREFIX}/{sane(path.name)}/saved-{number}" for number in range(1, 1_000_000))
        return next(name for name in names if not self._has(name))

    def _predict(self, branch: str) -> Prediction:
        code, text = self._try("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", "HEAD", branch)
        if code == 0:
            return Prediction()
        if code != 1:
            raise Refused(f"{branch} cannot be merged: {_last(text)}", code="conflict")
        return Prediction(tuple(dict.fromkeys(name for name in text.split("\0")[1:] if name)))

    def _ready_to_merge(self) -> None:
        if self._git("status", "--porcelain", "--untracked-files=no").strip():
            raise Refused(f"{self.checkout} has changes that are not committed", code="dirty", hint="commit them first")
        busy = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD")
        if any(self._try("rev-parse", "--quiet", "--verify", name)[0] == 0 for name in busy):
            raise Refused(
                f"{self.checkout} is in the middle of a merge or rebase", code="dirty", hint="finish it first"
            )

    def _drop(self, branch: str) -> bool:
        """Remove a branch of ours, as it was looked at, if all of it is merged."""
        commit = self._commit(branch)
        if not branch.startswith(f"{PREFIX}/") or self._try("merge-base", "--is-ancestor", commit, "HEAD")[0]:
            return False
        return self._try("update-ref", "-d", f"{_HEADS}{branch}", commit)[0] == 0

    def _has(self, branch: str) -> bool:
        return self._try("show-ref", "--verify", "--quiet", f"{_HEADS}{branch}")[0] == 0

    def _commit(self, branch: str) -> str:
        return self._git("rev-parse", f"{_HEADS}{branch}").strip()

    def _known_as(self) -> dict[str, str]:
        """Return who commits where git knows nobody."""
        return {} if self._try("var", "GIT_COMMITTER_IDENT")[0] == 0 else _WHO

    @contextmanager
    def _alone(self) -> Iterator[None]:
        folder = os.open(self._common, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _lock(folder, self._common)
            yield
        finally:
            os.close(folder)

    def _git(self, *words: str, at: Path | None = None, env: Mapping[str, str] | None = None) -> str:
        code, text = self._try(*words, at=at, env=env)
        if code:
            place = at or self.checkout
            raise EnvironmentMissing(f"git {words[0]} failed in {place}: {_last(text) or code}", code="git_failed")
        return text

    def _try(self, *words: str, at: Path | None = None, env: Mapping[str, str] | None = None) -> tuple[int, str]:
        """Return git's exit code, and what it printed, or its complaint when it failed without a word."""
        kept = {name: value for name, value in os.environ.items() if name not in _REPOSITORY}
        try:
            done = subprocess.run(
                ["git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", *words],
                cwd=at or self.checkout,
                env={**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", **(env or {})},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except OSError as error:
            raise EnvironmentMissing(f"git cannot be run in {at or self.checkout}: {error.strerror}") from None
        said = done.stdout if done.returncode in (0, 1) and done.stdout else done.stdout or done.stderr
        return done.returncode, said.decode(errors="surrogateescape")


_REPOSITORY = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"}
)
"""What a hook or an alias may have set, and which would lead git elsewhere."""


def branch_of(member: str, task: str) -> str:
    """Return the branch on which a member works on a task (S002-053)."""
    return f"{PREFIX}/{sane(member)}/{sane(task)}"


def sane(text: str) -> str:
    """Return a text as one part of a branch or path: what git or a shell could mind becomes `-` (AC-91)."""
    return _ODD.sub("-", text).strip(".-") or "x"


def _last(text: str) -> str:
    return text.strip().splitlines()[-1] if text.strip() else ""


def _lock(folder: int, path: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StoreError(f"another act on the worktrees of {path} does not end", code="lock_timeout") from None
            time.sleep(0.02)


def _parsed(entry: str) -> Worktree:
    fields = dict(line.partition(" ")[::2] for line in entry.split("\0") if line)
    branch = fields.get("branch", "").removeprefix(_HEADS)
    half_made = fields.get("locked") == "initializing"
    return Worktree(Path(fields.get("worktree", "")), branch, fields.get("HEAD", ""), half_made)


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _repositories_in(path: Path) -> list[Path]:
    """Return the repositories within a worktree that are not submodules of it."""
    found = []
    for folder, names, files in os.walk(path):
        here = Path(folder)
        if here != path and (".git" in names or ".git" in files):
            found.append(here)
            names.clear()
        names[:] = [name for name in names if name != ".git"]
    return found
