"""Git worktrees for members: made, saved, merged, removed; nothing that is not merged is ever lost.

Every act on a repository waits for the one before it, by a lock on the repository's own folder, since git's worktree
commands fail when two run at once.
"""

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pro0.errors import EnvironmentMissing, Kept, Refused, StoreError
from pro0.git import HEADS, Git, Worktree, last_line

PATIENCE = 60.0
"""Seconds to wait for another act on the same repository."""
PREFIX = "teams"
_ODD = re.compile(r"[^A-Za-z0-9._-]+|\.{2,}|\.lock$|^[.-]+|[.-]+$")


class Repository:
    """The repository that a project's checkout belongs to."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self._git = Git(checkout)
        code, common = self._git.attempt("rev-parse", "--path-format=absolute", "--git-common-dir")
        if code:
            hint = "worktrees need one: git init, and a first commit"
            raise EnvironmentMissing(f"{checkout} is in no git repository", code="no_repository", hint=hint)
        self._common = Path(common)

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
            self._check_out(path, name, head)
            return Worktree(path, name, head)

    def all(self) -> tuple[Worktree, ...]:
        """Return every worktree of the repository, the project's own checkout first."""
        return self._git.worktrees()

    def predict(self, branch: str) -> tuple[str, ...]:
        """Return the files in which a merge of a branch into the checkout's HEAD would conflict; nothing is changed."""
        return self._merged(branch)[1]

    def merge(self, branch: str, message: str) -> str:
        """Merge a branch into the checkout's HEAD and return the commit.

        Raises Refused, and changes nothing, for a dirty checkout, one in the middle of something, and for conflicts.
        """
        with self._alone():
            if self._holds(branch):
                return self.head()
            self._ready_to_merge()
            by_hand = f"merge it by hand: git merge {branch}"
            if conflicts := self.predict(branch):
                named = ", ".join(conflicts[:5]) + (" …" if len(conflicts) > 5 else "")
                raise Refused(f"{branch} would conflict in {named}", code="conflict", hint=by_hand)
            code, text = self._merge(branch, message)
            if code:
                raise Refused(f"{branch} cannot be merged: {last_line(text)}", code="conflict", hint=by_hand)
            return self.head()

    def head(self) -> str:
        """Return the commit that the checkout is on; raises Refused for a repository without one."""
        code, head = self._git.attempt("rev-parse", "--verify", "HEAD")
        if code:
            raise Refused(f"{self.checkout} has no commit yet", code="conflict", hint="git commit something first")
        return head

    def remove(self, path: Path, message: str) -> str:
        """Save a worktree, remove it, and drop its branch when all of it is merged; return the branch that stays.

        Everything unsaved is committed, but for what git ignores. A worktree without a branch gets one, so that its
        commits have a name. Raises Kept for a repository within it, which a commit cannot hold.
        """
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
            self._git.run("worktree", "remove", "--force", "--force", str(path))
            return kept or ("" if branch and self._drop(branch) else branch)

    def remove_unused(self, path: Path) -> bool:
        """Remove a worktree with nothing in it that is not in the checkout's HEAD, nor ignored; say whether it went."""
        with self._alone():
            known = self._known(path)
            if known is None or not path.exists() or _repositories_in(path):
                return False
            if _status(Git(path), "--ignored") or not self._holds(known.head):
                return False
            self._git.run("worktree", "remove", "--force", str(path))
            return not known.branch or self._drop(known.branch)

    def unmerged(self) -> tuple[str, ...]:
        """Return the branches of members that hold what the checkout's HEAD does not."""
        listed = self._git.run("for-each-ref", "--format=%(refname)", "--no-merged", "HEAD", f"{HEADS}{PREFIX}/")
        return tuple(name.removeprefix(HEADS) for name in listed.splitlines())

    def measure(self, branch: str) -> tuple[int, str]:
        """Return how many commits of a branch are not in the checkout's HEAD, and what they change, in git's words."""
        count = int(self._git.run("rev-list", "--count", "^HEAD", f"{HEADS}{branch}"))
        return count, self._git.run("diff", "--no-ext-diff", "--no-textconv", "--shortstat", f"HEAD...{HEADS}{branch}")

    def drop(self, branch: str) -> bool:
        """Remove a branch of a member if all of it is merged; say whether it is gone."""
        with self._alone():
            return not self._has(branch) or self._drop(branch)

    def _check_out(self, path: Path, branch: str, head: str) -> None:
        """Make a worktree; it counts as half made, by git's own lock, until all of its files are there."""
        making = ("--quiet", "--no-track", "--no-checkout", "--lock", "--reason", "initializing")
        self._git.run("worktree", "add", *making, "-B", branch, str(path), head)
        with Git(path).apart(index=True, head=head) as apart:
            apart.run("read-tree", "-m", "-u", head)
        self._git.run("worktree", "unlock", str(path))

    def _merged(self, branch: str) -> tuple[str, tuple[str, ...]]:
        """Return the tree that a merge of a branch into the checkout's HEAD makes, and the files in conflict."""
        head, other = self.head(), self._named_commit(branch)
        with self._git.apart(head=head) as apart:
            code, text = apart.attempt("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", head, other)
        if code not in (0, 1):
            raise Refused(f"{branch} cannot be merged: {last_line(text)}", code="conflict")
        tree, *names = text.split("\0")
        return tree, tuple(dict.fromkeys(name for name in names if name)) if code else ()

    def _merge(self, branch: str, message: str) -> tuple[int, str]:
        """Commit a merge without conflicts and check it out; what is in the way of its files is not touched."""
        head, other, (tree, _) = self.head(), self._named_commit(branch), self._merged(branch)
        made = self._git.signing().run("commit-tree", tree, "-p", head, "-p", other, "-m", message)
        with self._git.apart(index=True, head=head) as apart:
            apart.attempt("update-index", "-q", "--refresh")
            code, text = apart.attempt("read-tree", "-m", "-u", head, made)
            if code:
                return code, text
            code, text = self._git.signing().attempt("update-ref", "-m", f"merge {branch}", "HEAD", made, head)
            if code:
                apart.attempt("read-tree", "-m", "-u", made, head)
        return code, text

    def _named_commit(self, branch: str) -> str:
        code, commit = self._git.attempt("rev-parse", "--verify", "--end-of-options", f"{branch}^{{commit}}")
        if code:
            raise Refused(f"{branch} cannot be merged: {last_line(commit)}", code="conflict")
        return commit

    def _free(self, branch: str, head: str) -> str:
        """Return a branch of that name which nobody has checked out and which holds nothing of its own."""
        taken = {tree.branch for tree in self.all()}
        names = (branch if number == 1 else f"{branch}-{number}" for number in range(1, 1_000_000))
        return next(n for n in names if n not in taken and (not self._has(n) or self._commit(n) == head))

    def _clear(self, path: Path) -> None:
        """Make room at a path where a worktree of ours is, or was; anything else is not touched."""
        known = self._known(path)
        if known is None and os.path.lexists(path) and (path.is_symlink() or not _is_empty(path)):
            raise Refused(f"{path} is there, and no worktree of this repository", code="conflict", hint="move it away")
        if known is not None and path.exists():
            if known.half_made:
                self._rescue(known, "pro0: saved from a worktree that was made by half")
            elif _unsaved(path):
                raise Refused(f"{path} has unsaved files", code="conflict", hint="pro0 doctor --repair saves them")
            self._git.run("worktree", "remove", "--force", "--force", str(path))
            known = None
        self._forget(path, known)

    def _forget(self, path: Path, gone: Worktree | None) -> None:
        """Let git forget worktrees whose folders are gone, also one that a killed git left half made, and locked."""
        if gone is not None and gone.half_made:
            self._git.run("worktree", "unlock", str(path))
        self._git.run("worktree", "prune")

    def _save(self, path: Path, message: str) -> None:
        """Commit everything unsaved of a worktree to its branch."""
        self._ours(path)
        if nested := _repositories_in(path):
            raise Kept(f"{path} holds a repository of its own, {nested[0]}", code="kept", hint="move that away")
        there = Git(path)
        branch, head = self._named(there), there.run("rev-parse", "HEAD")
        if saved := there.commit_all(head, message):
            there.run("update-ref", "-m", "pro0: save", f"{HEADS}{branch}", saved, head)

    def _rescue(self, half: Worktree, message: str) -> str:
        """Save what somebody has put into a worktree that a killed git left half made; return its branch, "" for none.

        What is missing there was not made yet, and its own branch, if it has one, stays as it is.
        """
        base = half.head if half.head.strip("0") else self.head()
        there = Git(half.path, {"GIT_DIR": str(self._common), "GIT_WORK_TREE": str(half.path)})
        if not (saved := there.commit_all(base, message, "--ignore-removal")):
            return ""
        branch = self._unused(half.path)
        self._git.run("update-ref", f"{HEADS}{branch}", saved, "0" * len(saved))
        return branch

    def _ours(self, path: Path) -> Worktree:
        """Return the worktree at a path: git would take any other folder for a part of the repository around it."""
        known = self._known(path)
        if known is None:
            raise Refused(f"{path} is no worktree of {self.checkout}", code="conflict", hint="git worktree list")
        return known

    def _known(self, path: Path) -> Worktree | None:
        return next((tree for tree in self.all()[1:] if tree.path == path.resolve()), None)

    def _named(self, there: Git) -> str:
        """Return the branch of a worktree; a head that hangs in the air gets a new one, and is moved onto it."""
        code, ref = there.attempt("symbolic-ref", "--quiet", "HEAD")
        if code == 0:
            return ref.removeprefix(HEADS)
        name, head = self._unused(there.folder), there.run("rev-parse", "HEAD")
        there.run("update-ref", f"{HEADS}{name}", head, "0" * len(head))
        there.run("symbolic-ref", "HEAD", f"{HEADS}{name}")
        return name

    def _unused(self, path: Path) -> str:
        """Return a branch for what is saved from a worktree, which is not there yet."""
        names = (f"{PREFIX}/{_sane(path.name)}/saved-{number}" for number in range(1, 1_000_000))
        return next(name for name in names if not self._has(name))

    def _ready_to_merge(self) -> None:
        if _status(self._git, "--untracked-files=no"):
            raise Refused(f"{self.checkout} has changes that are not committed", code="dirty", hint="commit them first")
        busy = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD")
        if any(self._git.succeeds("rev-parse", "--quiet", "--verify", name) for name in busy):
            raise Refused(
                f"{self.checkout} is in the middle of a merge or rebase", code="dirty", hint="finish it first"
            )

    def _drop(self, branch: str) -> bool:
        """Remove a branch of ours, as it was looked at, if all of it is merged."""
        commit = self._commit(branch)
        if not branch.startswith(f"{PREFIX}/") or not self._holds(commit):
            return False
        return self._git.succeeds("update-ref", "-d", f"{HEADS}{branch}", commit)

    def _holds(self, commit: str) -> bool:
        """Return whether the checkout's HEAD holds everything of a commit, or of a branch."""
        return self._git.succeeds("merge-base", "--is-ancestor", commit, "HEAD")

    def _has(self, branch: str) -> bool:
        return self._git.succeeds("show-ref", "--verify", "--quiet", f"{HEADS}{branch}")

    def _commit(self, branch: str) -> str:
        return self._git.run("rev-parse", f"{HEADS}{branch}")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        folder = os.open(self._common, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _lock(folder, self._common)
            yield
        finally:
            os.close(folder)


def branch_of(member: str, task: str) -> str:
    """Return the branch on which a member works on a task."""
    return f"{PREFIX}/{_sane(member)}/{_sane(task)}"


def _sane(text: str) -> str:
    """Return a text as one part of a branch or path: what git or a shell could mind becomes `-`."""
    return _ODD.sub("-", text).strip(".-") or "x"


def _lock(folder: int, path: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StoreError(f"another act on the worktrees of {path} does not end", code="lock_timeout") from None
            time.sleep(0.02)


def _status(git: Git, what: str) -> str:
    with git.apart(index=True, head=git.run("rev-parse", "HEAD")) as apart:
        return apart.run("status", "--porcelain", "--ignore-submodules=dirty", what)


def _unsaved(path: Path) -> bool:
    there = Git(path)
    return there.tree("HEAD") != there.run("rev-parse", "HEAD^{tree}")


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
