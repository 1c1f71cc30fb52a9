"""Calls of git in one folder."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from errno import EAGAIN, EDQUOT, EMFILE, ENFILE, ENOMEM, ENOSPC
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import IO, Self

import msgspec

from pro0 import looking, scratch
from pro0.errors import EnvironmentMissing, ErrorCode
from pro0.git.environment import ALWAYS, as_variables, environment
from pro0.git.scratch_repository import PLAIN, borrowed, make, settings
from pro0.signals import held_back

HEADS = "refs/heads/"
PASSING = tuple(map(os.strerror, (ENOSPC, EDQUOT, EMFILE, ENFILE, EAGAIN, ENOMEM)))
"""The ends of git's lines, and of our errors, when disk space, open files or processes run out: a passing lack."""
LOCKED = ".lock': File exists."
FATAL = 128
"""The exit code of git for an unreadable file or name."""
_NOWHERE = "fatal: not a git repository"
"""The beginning of git's text for a folder without a repository; any other text is about one that git refuses."""
MOVED = "if it was moved or renamed, move it back"
_WHO = {
    "GIT_AUTHOR_NAME": "pro0",
    "GIT_AUTHOR_EMAIL": "pro0@localhost",
    "GIT_COMMITTER_NAME": "pro0",
    "GIT_COMMITTER_EMAIL": "pro0@localhost",
}


class Worktree(msgspec.Struct, frozen=True):
    """One worktree: its path, its branch ("" for none), and its checked out commit."""

    path: Path
    branch: str
    head: str
    half_made: bool = False
    """True when git was killed before all files were there."""


class Git:
    """Git in a folder, with additional variables."""

    def __init__(self, folder: Path, variables: Mapping[str, str] = MappingProxyType({})) -> None:
        self.folder = folder
        self._variables = variables

    def run(self, *words: str) -> str:
        """Return git's output, stripped; raises EnvironmentMissing when git fails."""
        code, text = self.attempt(*words)
        if code:
            raise self._failure(words, code, text)
        return text

    def succeeds(self, *words: str) -> bool:
        """Return True when git exits with 0."""
        return self.attempt(*words)[0] == 0

    def answers(self, *words: str) -> bool:
        """Return True for git's exit code 0, False for 1; raises EnvironmentMissing for any other, also a signal."""
        code, text = self.attempt(*words)
        if code not in {0, 1}:
            raise self._failure(words, code, text)
        return code == 0

    def attempt(self, *words: str) -> tuple[int, str]:
        """Return git's exit code and its output, or its error text when it failed without output."""
        done = self._done(words)
        return done.returncode, (done.stdout or done.stderr).decode(errors="surrogateescape").strip()

    def stream(self, *words: str) -> Iterator[bytes]:
        """Yield git's output line by line while it runs; raises EnvironmentMissing when git fails."""
        with scratch.file() as errors, self._started(words, errors) as process:
            yield from process.stdout or ()
            code = process.wait()
            if code:
                errors.seek(0)
                raise self._failure(words, code, errors.read().decode(errors="replace").strip())

    def worktrees(self) -> tuple[Worktree, ...]:
        """Return every worktree of the repository, the first checkout first."""
        entries = self.run("worktree", "list", "--porcelain", "-z").split("\0\0")
        return tuple(_parsed(entry) for entry in entries if entry)

    def command(self, *words: str) -> tuple[list[str], dict[str, str]]:
        """Return the argv and the environment of a call of git."""
        return ["git", *ALWAYS, *words], {**environment(), **self._variables}

    @contextmanager
    def apart(self, *, index: bool = False, head: str = "", lasting: bool = True) -> Iterator[Self]:
        """Yield git on the folder's files, in a scratch repository with only the real one's objects and plain settings.

        With `index` it uses the folder's index, else an empty one; `head` is its commit. New objects go into the real
        repository if they are `lasting`, else they vanish with the scratch one. Raises Unwritable without disk space.
        """
        git_dir, common = self._places
        plain = self._plain
        with scratch.folder("pro0-git-") as folder:
            with scratch.room():
                make(folder, git_dir, common, head, plain)
                objects = common / "objects" if lasting else borrowed(folder, common)
            variables = {
                "GIT_DIR": str(folder),
                "GIT_WORK_TREE": self._variables.get("GIT_WORK_TREE") or str(top(self.folder)),
                "GIT_OBJECT_DIRECTORY": str(objects),
                "GIT_INDEX_FILE": str((git_dir if index else folder) / "index"),
            }
            yield self._with(variables | as_variables(settings(plain, common)))

    @contextmanager
    def present(self) -> Iterator[tuple[Self, str, str]]:
        """Yield git, the tree of the folder's files without ignored ones, and why some could not be read, "" for none.

        No object of it lasts. It begins with a copy of the folder's index, which knows the unchanged files.
        """
        with self.apart(lasting=False) as apart:
            copied_index = Path(apart._variables["GIT_INDEX_FILE"])
            with suppress(OSError):
                shutil.copy2(self.private() / "index", copied_index)  # its time tells git what may have changed
            if apart.attempt("update-index", "-q", "--really-refresh")[0] == FATAL:
                copied_index.unlink(missing_ok=True)
            code, why = apart.attempt("add", "--all", "--ignore-errors", "--", ":/")
            yield apart, apart.run("write-tree"), why if code else ""

    def private(self) -> Path:
        """Return git's own folder of this worktree; it goes away with the worktree."""
        return self._places[0]

    def signing(self) -> Self:
        """Return git with a committer's name, ours when git knows none."""
        return self if self.succeeds("var", "GIT_COMMITTER_IDENT") else self._with(_WHO)

    def _with(self, variables: Mapping[str, str]) -> Self:
        return type(self)(self.folder, {**self._variables, **variables})

    @cached_property
    def _places(self) -> tuple[Path, Path]:
        """Git's own folder of this worktree, and that of the repository."""
        words, kinds = ("rev-parse", "--path-format=absolute"), ("--git-dir", "--git-common-dir")
        done = self._done((*words, *kinds))
        if done.returncode:
            self.run("rev-parse", *kinds)
        places = done.stdout.removesuffix(b"\n").split(b"\n")
        if len(places) != len(kinds):  # a name holds a line break
            places = [self._done((*words, kind)).stdout.removesuffix(b"\n") for kind in kinds]
        return Path(os.fsdecode(places[0])), Path(os.fsdecode(places[1]))

    @cached_property
    def _plain(self) -> Mapping[str, str]:
        """The repository's plain settings."""
        entries = os.fsdecode(self._done(("config", "--null", "--get-regexp", PLAIN)).stdout).split("\0")
        parted = (entry.partition("\n") for entry in entries if entry)
        return {name: value if separator else "true" for name, separator, value in parted}

    def _failure(self, words: tuple[str, ...], code: int, text: str) -> EnvironmentMissing:
        why = last_line(text) or code
        return EnvironmentMissing(f"git {words[0]} failed in {self.folder}: {why}", code=ErrorCode.GIT_FAILED)

    def _done(self, words: tuple[str, ...]) -> subprocess.CompletedProcess[bytes]:
        with self._started(words, subprocess.PIPE) as process:
            out, errors = process.communicate()
        return subprocess.CompletedProcess(words, process.returncode, out, errors)

    @contextmanager
    def _started(self, words: tuple[str, ...], errors: int | IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
        """Yield a running git, which ends with us. It has no terminal: a person's filter must give no verdicts."""
        argv, variables = self.command(*words)
        with ExitStack() as stack:
            stack.enter_context(held_back())
            try:
                process = subprocess.Popen(
                    argv,
                    cwd=self.folder,
                    env=variables,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,
                )
            except OSError as error:
                if isinstance(error, FileNotFoundError) and looking.is_gone(self.folder):
                    raise EnvironmentMissing(f"there is no folder {self.folder}", hint=MOVED) from None
                raise EnvironmentMissing(f"git cannot be run in {self.folder}: {error.strerror}") from None
            with process:
                try:
                    stack.close()  # a signal that came meanwhile is handled here
                    yield process
                except BaseException:  # keys in our terminal do not reach it
                    process.terminate()
                    process.wait()  # `with` does not, after Ctrl+C
                    raise


def last_line(text: str) -> str:
    """Return the line of git's output that says why it failed: one about a lack or a lock, else the last."""
    lines = ["", *text.splitlines()]
    return next((line for line in lines if line.endswith((*PASSING, LOCKED))), lines[-1])


def no_repository(folder: Path, text: str, hint: str) -> EnvironmentMissing:
    """Return the error for git's refusal of a folder: it has no repository, or git may not use the one there.

    Git refuses one of another user, and one of a kind that it does not know. Its text then ends with what to do.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reason = next((line for line in lines if line.startswith("fatal: ")), "")
    if reason.startswith(_NOWHERE) or not reason:
        return EnvironmentMissing(f"{folder} is not in a git repository", code=ErrorCode.NO_REPOSITORY, hint=hint)
    last = lines[-1] if lines[-1].startswith("git ") else None
    why = reason if last else " ".join(lines[lines.index(reason) :])
    text = f"git refuses the repository of {folder}: {why.removeprefix('fatal: ')}"
    return EnvironmentMissing(text, code=ErrorCode.GIT_FAILED, hint=last)


def top(folder: Path) -> Path:
    """Return the nearest folder upwards with a repository, else `folder`; a `core.worktree` setting is ignored."""
    return next((place for place in (folder, *folder.parents) if looking.exists(place / ".git")), folder)


def _parsed(entry: str) -> Worktree:
    fields = dict(line.partition(" ")[::2] for line in entry.split("\0") if line)
    branch = fields.get("branch", "").removeprefix(HEADS)
    return Worktree(
        path=Path(fields.get("worktree", "")),
        branch=branch,
        head=fields.get("HEAD", ""),
        half_made=fields.get("locked") == "initializing",
    )
