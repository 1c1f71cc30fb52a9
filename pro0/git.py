"""Git, run in one folder: no hooks, no questions, and nothing of what a hook or an alias has set for it.

What is committed here goes through an index of its own, so that neither a lock that a killed git left, nor a merge
that is going on can stand in its way.
"""

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Self

import msgspec

from pro0.errors import EnvironmentMissing

HEADS = "refs/heads/"
_ALWAYS = ("-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0")
_ELSEWHERE = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"}
)
"""What a hook or an alias may have set, and which would lead git elsewhere."""
_WHO = {"GIT_AUTHOR_NAME": "pro0", "GIT_AUTHOR_EMAIL": "pro0@localhost"}
_WHO |= {"GIT_COMMITTER_NAME": "pro0", "GIT_COMMITTER_EMAIL": "pro0@localhost"}


class Worktree(msgspec.Struct, frozen=True):
    """One worktree: where it is, its branch ("" for none), and the commit that is checked out."""

    path: Path
    branch: str
    head: str
    half_made: bool = False
    """Whether git was killed before all of it was there."""


class Git:
    """Git in a folder, with some variables set."""

    def __init__(self, folder: Path, variables: Mapping[str, str] = MappingProxyType({})) -> None:
        self.folder = folder
        self._variables = variables

    def run(self, *words: str) -> str:
        """Return what git printed, without the space around it; raises EnvironmentMissing when it fails."""
        code, text = self.attempt(*words)
        if code:
            why = last_line(text) or code
            raise EnvironmentMissing(f"git {words[0]} failed in {self.folder}: {why}", code="git_failed")
        return text

    def succeeds(self, *words: str) -> bool:
        """Return whether git exits with 0."""
        return self.attempt(*words)[0] == 0

    def attempt(self, *words: str) -> tuple[int, str]:
        """Return git's exit code, and what it printed, or its complaint when it failed without a word."""
        kept = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
        try:
            done = subprocess.run(
                ["git", *_ALWAYS, *words],
                cwd=self.folder,
                env={**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", **self._variables},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except OSError as error:
            raise EnvironmentMissing(f"git cannot be run in {self.folder}: {error.strerror}") from None
        said = done.stdout if done.returncode in (0, 1) and done.stdout else done.stdout or done.stderr
        return done.returncode, said.decode(errors="surrogateescape").strip()

    def worktrees(self) -> tuple[Worktree, ...]:
        """Return every worktree of the repository, the first checkout first."""
        listed = self.run("worktree", "list", "--porcelain", "-z")
        return tuple(_parsed(entry) for entry in listed.split("\0\0") if entry)

    def tree(self, base: str, what: str = "--all") -> str:
        """Write everything in the folder that git does not ignore as a tree, which begins as that of a commit."""
        with tempfile.TemporaryDirectory(prefix="pro0-index-") as scratch:
            index = self._with({"GIT_INDEX_FILE": f"{scratch}/index"})
            index.run("read-tree", base)
            index.run("add", what, "--", ".")
            return index.run("write-tree")

    def commit_all(self, onto: str, message: str, what: str = "--all") -> str:
        """Commit everything in the folder on top of a commit; return what no branch names yet, "" for nothing new."""
        tree = self.tree(onto, what)
        if tree == self.run("rev-parse", f"{onto}^{{tree}}"):
            return ""
        return self.signing().run("commit-tree", tree, "-p", onto, "-m", message)

    def signing(self) -> Self:
        """Return the same with a name for who commits, where git knows nobody."""
        return self if self.succeeds("var", "GIT_COMMITTER_IDENT") else self._with(_WHO)

    def _with(self, variables: Mapping[str, str]) -> Self:
        return type(self)(self.folder, {**self._variables, **variables})


def last_line(text: str) -> str:
    """Return what git said last, which is why it failed."""
    return text.splitlines()[-1] if text else ""


def _parsed(entry: str) -> Worktree:
    fields = dict(line.partition(" ")[::2] for line in entry.split("\0") if line)
    branch = fields.get("branch", "").removeprefix(HEADS)
    half_made = fields.get("locked") == "initializing"
    return Worktree(Path(fields.get("worktree", "")), branch, fields.get("HEAD", ""), half_made)
