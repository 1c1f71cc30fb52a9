"""A member's code on another machine: its branch goes there once, and its commits come back to that branch alone.

At home there is a branch and no worktree. The machine has one bare repository for the team, and a worktree for each
member. What comes back is data: one commit, under a name that home chose.
"""

import os
import re
import shlex
import shutil
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from pro0 import looking, ssh
from pro0.errors import EnvironmentMissing, ErrorCode, Kept, Refused
from pro0.git.commands import HEADS, Git, Worktree
from pro0.git.environment import as_variables
from pro0.rules.text import visible
from pro0.worktrees.contents import repositories_in, unsaved
from pro0.worktrees.repository import HALF_MADE, Repository
from pro0.worktrees.starts import made_from
from pro0.worktrees.turns import alone

SENT, BACK, HOME = "refs/pro0/sent/", "refs/pro0/back/", "refs/pro0/home/"
"""The refs on a machine: what home sent for a member, what the machine gives back, and what home says that it has."""
NOBODYS = ("refs/pro0/", "refs/remotes/")
"""The refs there that pro0 makes or that were fetched from elsewhere: nobody's work."""
_OTHER = "ssh://other/code"
"""The other repository's address for git. The command that reaches it knows where it really is."""
TRANSFER = 3600.0
"""Seconds for a history to be sent there or brought home."""
_CUT = re.compile(
    r"^(fatal: (Could not read|the remote end hung up|early EOF)|(fetch|send)-pack: unexpected disconnect)", re.M
)
"""Git's line when the other end has gone. What that end or ssh said about it comes before this line."""
_COMPLAINT = re.compile(r"^(fatal|error): .*", re.M)
_PLAIN_PUSH = (
    *("--quiet", "--force", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no"),
    "--atomic",  # every git supports it; without it, a machine that never answers would seem to have taken the push
)
_PLAIN_FETCH = ("--quiet", "--no-tags", "--no-prune", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap=")


class Travelling(Repository):
    """The repository of a project's checkout, whose members' branches may be on other machines."""

    def begin(self, branch: str) -> str:
        """Return a new branch at the checkout's HEAD: that name, or its next free numbered one."""
        with self._alone():
            head = self.head()
            name, exists = self._free(branch, head)
            old = head if exists else "0" * len(head)
            self._git.run("update-ref", "-m", made_from(head), f"{HEADS}{name}", head, old)
            return name

    def send(self, branch: str, member: str, command: Sequence[str]) -> None:
        """Send a branch through a command that reaches the other repository; raises EnvironmentMissing."""
        self._reach(command, TRANSFER, "push", *_PLAIN_PUSH, _OTHER, f"{HEADS}{branch}:{SENT}{member}")

    def bring(self, branch: str, member: str, command: Sequence[str], patience: float = TRANSFER) -> str:
        """Bring a member's commits home to its branch, through such a command; return the newest.

        Commits that only the branch at home has are kept under another name. Raises EnvironmentMissing when the machine
        does not give them, Refused while somebody has the branch checked out here.
        """
        came = f"{BACK}{uuid.uuid4().hex}"  # others may bring it at the same time
        self._reach(command, patience, "fetch", *_PLAIN_FETCH, _OTHER, f"+{BACK}{member}:{came}")
        with self._alone():
            try:
                new = self._git.run("rev-parse", "--verify", f"{came}^{{commit}}")
                self._take(branch, new)
            finally:
                self._git.run("update-ref", "-d", came)
        return new

    def _take(self, branch: str, new: str) -> None:
        old = self._commit(branch) if self.has(branch) else ""
        if old == new:
            return
        if taken := next((tree.path for tree in self.all() if tree.branch == branch), None):
            text = f"{branch} is checked out in {taken}, so no commits can be brought into it"
            raise Refused(text, code=ErrorCode.CONFLICT, hint=f"git -C {taken} switch --detach")
        if old and not self._git.succeeds("merge-base", "--is-ancestor", old, new) and not self._lasts(old, branch):
            self._named(Path(branch), old)
        self._git.run("update-ref", "-m", "pro0: from its machine", f"{HEADS}{branch}", new, old or "0" * len(new))

    def _reach(self, command: Sequence[str], patience: float, *words: str) -> None:
        """Let git reach one other repository through a command, whatever settings say of addresses."""
        variables = {"GIT_ALLOW_PROTOCOL": "ssh", "GIT_SSH_VARIANT": "simple"}
        variables |= {"GIT_SSH_COMMAND": f"{shlex.join(command)} #"}  # git's own words behind it mean nothing
        # An empty push option clears those of the settings: the other end takes none, and git would push nothing.
        checked = as_variables({"fetch.fsckObjects": "true", "push.pushOption": ""})
        call, environment = Git(self.checkout, variables | checked).command(*words)
        answer = ssh.listen(call, "its machine", patience, environment=environment, folder=self.checkout)
        if answer.code:
            why = visible(_why(answer.errors)) or f"git {words[0]} failed"
            raise EnvironmentMissing(why, code=ErrorCode.GIT_FAILED)


class Guest(Repository):
    """The bare repository of another machine's team here, with a worktree for each of its members."""

    def __init__(self, place: Path, tree: Path) -> None:
        self._tree = tree
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with alone(place):
            if not looking.exists(place / "HEAD"):
                # git 3 would choose another object format than home's, and then take nothing from there
                Git(place).run("init", "--quiet", "--bare", "--template=", "--object-format=sha1")
        super().__init__(place)

    def receive(self) -> NoReturn:
        """Become the program that takes what home sends."""
        self._serve("receive-pack")

    def make(self, branch: str) -> Worktree:
        """Make the member's worktree on its branch as home has sent it; one that is there is taken as it is."""
        with self._alone():
            existing = self._find(self._tree)
            if existing and not existing.half_made and looking.exists(self._tree):
                return existing
            self._clear(self._tree, existing)
            head = self._newest(branch)
            self._tree.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._check_out(self._tree, branch, head, there=self.has(branch))
            return Worktree(self._tree, branch, head)

    def give(self, branch: str, message: str) -> NoReturn:
        """Become the program that gives home the member's commits; with a `message`, everything is committed first."""
        with self._alone():
            if message and looking.exists(self._tree) and not self._ours(self._tree).half_made:
                self._save(self._tree, message)
                self._keep_aside(self._tree)
            self._git.run("update-ref", f"{BACK}{self._tree.name}", self._newest(branch))
        self._serve("upload-pack")

    def leave(self, branch: str, tip: str) -> None:
        """Remove the member's worktree, whose commits are home up to `tip`, and with the last one the repository.

        Raises Kept, and removes nothing, when something here is not home.
        """
        with self._alone():
            self._refuse_unless_home(branch, tip)
            if tip:
                self._git.run("update-ref", f"{HOME}{self._tree.name}", tip)
            if looking.exists(self._tree):
                if (tree := self._ours(self._tree)).half_made:
                    self._rescue(tree, HALF_MADE)
                self._git.run("worktree", "remove", "--force", "--force", str(self._tree))
            else:
                self._forget(self._find(self._tree))
            if len(self.all()) > 1:
                return
            if left := self.left():
                text = f"{self.checkout} keeps {', '.join(left)}, with commits that were not brought home"
                raise Kept(text, code=ErrorCode.KEPT, hint="push them to where they belong, then remove it")
            shutil.rmtree(self.checkout)
        for folder in (self._tree.parent, self.checkout.parent):
            with suppress(OSError):
                folder.rmdir()

    def left(self) -> tuple[str, ...]:
        """Return the branches, tags and stashes with commits that home does not have."""
        names = self._git.run("for-each-ref", "--format=%(refname)").split()
        own = (name for name in names if not name.startswith(NOBODYS))
        return tuple(name.removeprefix(HEADS) for name in own if self._beyond(name))

    def _serve(self, service: str) -> NoReturn:
        # A shallow clone at home may be sent: git refuses it otherwise.
        words, variables = self._git.command("-c", "receive.shallowUpdate=true", service, str(self.checkout))
        os.execvpe(words[0], words, variables)

    def _refuse_unless_home(self, branch: str, tip: str) -> None:
        if self._beyond(self._newest(branch), tip):
            raise Kept(f"{self._tree} has commits that were not brought home", code=ErrorCode.KEPT)
        if self.has(branch) and self._beyond(f"{HEADS}{branch}", tip):
            hint = f"check out {branch} in {self._tree}"
            raise Kept(f"{branch} has commits that were not brought home", code=ErrorCode.KEPT, hint=hint)
        if not looking.exists(self._tree) or self._ours(self._tree).half_made:  # it lacks only what was not made yet
            return
        if repositories_in(self._tree) or unsaved(self._tree):
            raise Kept(f"{self._tree} has files that are not committed", code=ErrorCode.KEPT)

    def _newest(self, branch: str) -> str:
        """Return the member's newest commit: that of its worktree, of its branch without one, else what home sent.

        A worktree may be at an earlier commit of the branch, which the member only looks at.
        """
        if looking.exists(self._tree):
            head = Git(self._ours(self._tree).path).run("rev-parse", "HEAD")
            if not self._git.succeeds("merge-base", "--is-ancestor", head, f"{HEADS}{branch}"):
                return head
        start = f"{HEADS}{branch}" if self.has(branch) else f"{SENT}{self._tree.name}"
        return self._git.run("rev-parse", "--verify", f"{start}^{{commit}}")

    def _beyond(self, commit: str, tip: str = "") -> str:
        return beyond_home(self._git, commit, tip)


def takes_code(git: Git) -> bool:
    """Return True for a repository to which another machine has sent code."""
    return bool(git.run("for-each-ref", "--count=1", SENT))


def beyond_home(git: Git, commit: str, tip: str = "") -> str:
    """Return a commit of a history that home does not have, "" for none; home has all of `tip` too."""
    sent_refs = git.run("for-each-ref", "--format=^%(objectname)", SENT, HOME).split()
    return git.run("rev-list", "--max-count=1", commit, *sent_refs, *([f"^{tip}"] if tip else []))


def _why(error_text: str) -> str:
    """Return what went wrong. The last lines of git are guesses, and the first ones of ssh may be harmless."""
    cut, complaint = _CUT.search(error_text), _COMPLAINT.search(error_text)
    reason = ssh.reason(error_text[: cut.start()]) if cut else ""
    return reason or (complaint[0] if complaint else error_text.partition("\n")[0])
