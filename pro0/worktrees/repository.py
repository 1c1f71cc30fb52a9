"""Git worktrees for members: made, saved, merged, removed. Unmerged work is never lost.

Git's worktree commands fail when two run at once. So every act on a repository waits for the one before it, by a lock
on the repository's own folder.
"""

from collections.abc import Collection
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path

from pro0 import looking
from pro0.errors import EnvironmentMissing, ErrorCode, Kept, Refused
from pro0.git.commands import HEADS, LOCKED, Git, Worktree, last_line
from pro0.worktrees import aside, beyond, merging, starts, stashes
from pro0.worktrees.contents import commit_all, repositories_in, unsaved
from pro0.worktrees.merging import status
from pro0.worktrees.names import PREFIX, is_anothers, sane, saved_from
from pro0.worktrees.turns import alone, common_folder

HALF_MADE = "pro0: saved from a half-made worktree"


class Repository:
    """The repository of a project's checkout."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self._git = Git(checkout)
        self._common = common_folder(self._git)

    def add(self, path: Path, branch: str, *, adopt: bool = False) -> Worktree:
        """Make a worktree at the checkout's HEAD on a new branch: `branch`, or its next free numbered name.

        With `adopt` an existing worktree is taken as it is. Raises Refused for a repository without a commit, a
        worktree with unsaved files, or a foreign folder.
        """
        with self._alone():
            existing = self._find(path)
            if adopt and existing and not existing.half_made and looking.exists(path):
                return existing
            head = self.head()
            self._clear(path, existing)
            name, exists = self._free(branch, head)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._check_out(path, name, head, there=exists)
            return Worktree(path, name, head)

    def all(self) -> tuple[Worktree, ...]:
        """Return every worktree of the repository, the project's own checkout first."""
        return self._git.worktrees()

    def predict(self, branch: str) -> tuple[str, ...]:
        """Return the files in conflict if a branch were merged into the checkout's HEAD; change nothing."""
        return merging.merged_tree(self._git, self.head(), branch)[1]

    def merge(self, branch: str, message: str) -> str:
        """Merge a branch into the checkout's HEAD and return the commit.

        Raises Refused, and changes nothing, for a dirty checkout, an unfinished merge or rebase, for conflicts, and
        when another branch would be merged along with it.
        """
        with self._alone():
            if self._holds(merging.commit_of(self._git, branch)):
                return self.head()
            merging.refuse_unless_ready(self._git)
            starts.refuse_elsewhere(self._git, branch)
            by_hand = f"merge it by hand: git merge {branch}"
            if conflicts := self.predict(branch):
                files = ", ".join(conflicts[:5]) + (" …" if len(conflicts) > 5 else "")
                raise Refused(f"{branch} would conflict in {files}", code=ErrorCode.CONFLICT, hint=by_hand)
            code, text = merging.merge(self._git, self.head(), branch, message)
            if code:
                hint = merging.BESIDE if (why := last_line(text)).endswith(LOCKED) else by_hand
                raise Refused(f"{branch} cannot be merged: {why}", code=ErrorCode.CONFLICT, hint=hint)
            return self.head()

    def head(self) -> str:
        """Return the checkout's commit; raises Refused for a repository without one."""
        code, head = self._git.attempt("rev-parse", "--verify", "HEAD")
        if code:
            text, hint = f"{self.checkout} has no commit yet", "git commit something first"
            raise Refused(text, code=ErrorCode.CONFLICT, hint=hint)
        return head

    def remove(self, path: Path, message: str) -> str:
        """Save and remove a worktree, and drop its branch if it is merged; return the branch if it is not, else "".

        Unsaved files are committed, except those ignored by git. A worktree without a branch gets one, so that its
        commits have a name; so does what a rebase or merge has put aside. Raises Kept for a nested repository, and for
        patches that wait, since a commit cannot hold them. A folder with a file that nobody may delete is left over.
        """
        with self._alone():
            if not looking.exists(path):
                return self._forget(self._find(path))
            tree, kept = self._ours(path), ""
            if tree.half_made:
                kept, branch = self._rescue(tree, message), tree.branch
            else:
                branch = self._save(path, message)
                kept = self._keep_aside(path)
            self._take_away(path)
            return self._settle(branch) or kept

    def remove_unused(self, path: Path) -> bool:
        """Remove a worktree without work, ignored files, or a rebase under way; return True if its branch goes too."""
        with self._alone():
            tree = self._find(path)
            if tree is None or not looking.exists(path) or repositories_in(path) or stashes.left_by(self._git, path):
                return False
            if merging.is_in_the_middle(Git(path)) or status(Git(path), "--ignored") or unsaved(path):
                return False
            if not self._lasts(tree.head, tree.branch):
                return False
            self._git.run("worktree", "remove", "--force", str(path))
            return not tree.branch or self._drop(tree.branch)

    def unmerged(self, also: Collection[str] = (), since: datetime | None = None) -> tuple[str, ...]:
        """Return the branches of members, and those in `also`, that HEAD lacks; none older than `since`."""
        return beyond.unmerged(self._git, also, since)

    def measure(self, branch: str) -> tuple[int, str]:
        """Return the number of a branch's own unmerged commits, and a summary of their changes in git's words."""
        return beyond.measure(self._git, branch)

    def drop(self, branch: str) -> bool:
        """Remove a member's branch if it is merged; return True when it is gone."""
        with self._alone():
            return not self.has(branch) or self._drop(branch)

    def _check_out(self, path: Path, branch: str, head: str, *, there: bool) -> None:
        """Make a worktree. It counts as half made, by git's own lock, until all files are there."""
        making = ("--quiet", "--no-track", "--no-checkout", "--lock", "--reason", "initializing")
        self._git.run("worktree", "add", *making, "-B" if there else "-b", branch, str(path), head)
        with Git(path).apart(index=True, head=head) as apart:
            apart.run("read-tree", "-m", "-u", head)
        self._git.run("worktree", "unlock", str(path))

    def _free(self, branch: str, head: str) -> tuple[str, bool]:
        """Return the first branch name not checked out and without commits of its own, and True if it is there."""
        taken = {tree.branch for tree in self.all()}
        names = (branch if number == 1 else f"{branch}-{number}" for number in range(1, 1_000_000))
        known = ((name, self.has(name)) for name in names if name not in taken)
        return next((name, there) for name, there in known if not there or self._commit(name) == head)

    def _clear(self, path: Path, tree: Worktree | None) -> None:
        """Make room at the path of our present or former worktree; refuse to touch anything else."""
        if tree is None and looking.lexists(path) and (looking.is_link(path) or not _is_empty(path)):
            raise Refused(
                f"{path} exists, but is not a worktree of this repository", code=ErrorCode.CONFLICT, hint="move it away"
            )
        if tree is not None and looking.exists(path):
            if tree.half_made:
                self._rescue(tree, HALF_MADE)
            elif unsaved(path):
                raise Refused(
                    f"{path} has unsaved files", code=ErrorCode.CONFLICT, hint="pro0 doctor --repair saves them"
                )
            self._git.run("worktree", "remove", "--force", "--force", str(path))
        elif tree is not None:
            self._forget(tree)

    def _forget(self, tree: Worktree | None) -> str:
        """Let git forget one worktree without a folder; return the branch left, "" for none.

        `git worktree prune` would also forget the person's own worktrees on a disk that is absent for now.
        """
        if tree is None:
            return ""
        branch = tree.branch
        if not branch and tree.head.strip("0") and not self._lasts(tree.head):
            branch = self._named(tree.path, tree.head)
        kept = self._keep_aside(tree.path)
        self._git.run("worktree", "remove", "--force", "--force", str(tree.path))
        return (self._settle(branch) if self.has(branch) else "") or kept

    def _take_away(self, path: Path) -> None:
        """Remove a worktree whose work is saved; git forgets it also where it cannot delete a file."""
        try:
            self._git.run("worktree", "remove", "--force", "--force", str(path))
        except EnvironmentMissing:
            if self._find(path):
                raise

    def _save(self, path: Path, message: str) -> str:
        """Commit everything unsaved of a worktree to its branch; return the branch."""
        if nested := repositories_in(path):
            raise Kept(
                f"{path} contains another git repository, {nested[0]}", code=ErrorCode.KEPT, hint="move that away"
            )
        worktree = Git(path)
        if aside.pending_patches(worktree.private()):
            text, hint = f"{path} is in the middle of `git am`", f"end it: git -C {path} am --continue, or --abort"
            raise Kept(text, code=ErrorCode.KEPT, hint=hint)
        head = worktree.run("rev-parse", "HEAD")
        saved = commit_all(worktree, head, message)
        branch = self._branch(worktree, head, ours=bool(saved))
        if saved:
            worktree.run("update-ref", "-m", "pro0: save", f"{HEADS}{branch}", saved, head)
        return branch

    def _keep_aside(self, path: Path) -> str:
        """Put each commit that only git's own folder of a worktree holds on a new branch; return the first, else ""."""
        private = aside.private_folder(self._common, path)
        names = [self._named(path, commit) for commit in aside.unnamed(self._git, private)] if private else []
        return names[0] if names else ""

    def _rescue(self, tree: Worktree, message: str) -> str:
        """Save the added files of a half made worktree, left by a killed git; return their branch, "" for none.

        Files missing there were not made yet. The worktree's own branch, if any, stays as it is.
        """
        base = tree.head if tree.head.strip("0") else self.head()
        worktree = Git(tree.path, {"GIT_DIR": str(self._common), "GIT_WORK_TREE": str(tree.path)})
        if not (saved := commit_all(worktree, base, message, "--ignore-removal")):
            return ""
        return self._named(tree.path, saved)

    def _ours(self, path: Path) -> Worktree:
        """Return the worktree at a path, or refuse: git would take any folder for part of the repository around it."""
        tree = self._find(path)
        if tree is None or not (tree.half_made or looking.is_file(path / ".git")):
            text = f"{path} is not a worktree of {self.checkout}"
            raise Refused(text, code=ErrorCode.CONFLICT, hint="git worktree list")
        return tree

    def _find(self, path: Path) -> Worktree | None:
        return next((tree for tree in self.all()[1:] if tree.path == path.resolve()), None)

    def _branch(self, worktree: Git, head: str, *, ours: bool) -> str:
        """Return the branch that a worktree leaves, "" for none; a commit that no branch of ours holds gets a new one.

        With `ours`, so does HEAD on a branch that is not its member's: pro0 commits to nobody else's branch.
        """
        branch = worktree.attempt("symbolic-ref", "--quiet", "HEAD")[1].removeprefix(HEADS)
        if not ours and (holders := [branch] if branch else beyond.unmerged_holders(self._git, head)):
            return aside.credited(worktree, holders, head)
        if branch.startswith(f"{PREFIX}/") and not is_anothers(branch, worktree.folder.name):
            return branch
        name = self._named(worktree.folder, head)
        worktree.run("symbolic-ref", "HEAD", f"{HEADS}{name}")
        return name

    def _named(self, path: Path, commit: str) -> str:
        """Give a commit saved from a worktree a new branch, whose log notes the worktree; return the branch."""
        names = (f"{PREFIX}/{sane(path.name)}/saved-{number}" for number in range(1, 1_000_000))
        name = next(name for name in names if not self.has(name))
        noting = ("--create-reflog", "-m", saved_from(path))
        self._git.run("update-ref", *noting, f"{HEADS}{name}", commit, "0" * len(commit))
        return name

    def _settle(self, branch: str) -> str:
        """Drop a merged branch if it is ours; return an unmerged branch, "" for none."""
        if not branch or not self._lasts(self._commit(branch), branch):
            return branch
        self._drop(branch)
        return ""

    def _drop(self, branch: str) -> bool:
        """Remove our branch if it is merged, checked out nowhere, and unchanged since this check."""
        commit = self._commit(branch)
        in_use = any(tree.branch == branch for tree in self.all())  # its checkout would be left without a commit
        if in_use or not branch.startswith(f"{PREFIX}/") or not self._lasts(commit, branch):
            return False
        return self._git.succeeds("update-ref", "-d", f"{HEADS}{branch}", commit)

    def _holds(self, commit: str) -> bool:
        """Return True when the checkout's HEAD contains a commit, or all of a branch."""
        return self._git.succeeds("merge-base", "--is-ancestor", commit, "HEAD")

    def _lasts(self, commit: str, but: str = "") -> bool:
        """Return True when a commit is held for good: by the checkout's HEAD, if that is on a branch.

        If HEAD is detached, a branch or tag other than `but` must hold it; if HEAD lacks it, that on which `but` began.
        """
        if not self._holds(commit):
            return starts.is_untouched(self._git, but, commit)
        if self._git.succeeds("symbolic-ref", "--quiet", "HEAD"):
            return True
        kinds = (HEADS, "refs/tags/", "refs/remotes/")
        names = self._git.run("for-each-ref", "--format=%(refname)", "--contains", commit, *kinds).splitlines()
        return any(name != f"{HEADS}{but}" for name in names)

    def has(self, branch: str) -> bool:
        """Return True while the branch is there; raises EnvironmentMissing when git gives no answer."""
        return self._git.answers("show-ref", "--verify", "--quiet", f"{HEADS}{branch}")

    def is_merged(self, branch: str) -> bool:
        """Return True for a branch without a commit that the checkout's HEAD lacks."""
        return self._holds(f"{HEADS}{branch}")

    def _commit(self, branch: str) -> str:
        return self._git.run("rev-parse", f"{HEADS}{branch}")

    def _alone(self) -> AbstractContextManager[None]:
        return alone(self._common)


def _is_empty(path: Path) -> bool:
    return looking.is_folder(path) and not any(path.iterdir())
