"""Git in one folder: it runs no program named by a repository, asks nothing, and ignores a hook's variables.

Programs with a fixed key in git's settings are turned off in every call. Filters and drivers have keys chosen by the
repository. Git runs them when it reads or writes files. So such calls use a repository of our own around the same
objects. It takes only plain values from the real repository's settings. Only filters and drivers of the person's own
settings (`~/.gitconfig`) run. Only a call for a member on another machine reaches another repository. Commits of
worktrees use an index of their own. So neither the lock of a killed git nor an unfinished merge is in the way.
"""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import IO, Self

import msgspec

from pro0 import scratch
from pro0.errors import EnvironmentMissing, ErrorCode
from pro0.signals import held_back

HEADS = "refs/heads/"
FULL = ("No space left on device", "Disk quota exceeded")  # how lines of git end
LOCKED = ".lock': File exists."
FATAL = 128
"""The exit code of git for what it cannot read."""
_OFF = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.splitIndex": "false",
    "core.pager": "cat",
    "core.editor": "false",
    "core.sshCommand": "false",
    "core.askPass": "false",
    "core.gitProxy": "false",
    "core.alternateRefsCommand": "false",
    "credential.helper": "",
    "diff.external": "false",
    "interactive.diffFilter": "false",
    **dict.fromkeys(("commit.gpgSign", "tag.gpgSign", "log.showSignature", "merge.verifySignatures"), "false"),
    **dict.fromkeys(("gpg.program", "gpg.ssh.program", "gpg.x509.program"), "false"),
    "submodule.recurse": "false",
    "protocol.allow": "never",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
_ALWAYS = ("--no-pager", *(word for name, value in _OFF.items() for word in ("-c", f"{name}={value}")))
_QUIET = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    **dict.fromkeys(("GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_SSH_COMMAND"), "false"),
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LFS_SKIP_DOWNLOAD_ERRORS": "1",
}
_THEIRS = re.compile(r"GIT_(?:(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM))")
"""Git variables set by the person: their name, and the place of their settings."""
_OF_HOOKS = frozenset(
    f"GIT_{name}"
    for name in ("DIR", "WORK_TREE", "INDEX_FILE", "COMMON_DIR", "OBJECT_DIRECTORY", "NAMESPACE", "PREFIX")
)
_PLAIN = (
    r"^(core\.(autocrlf|eol|safecrlf|checkroundtripencoding|filemode|symlinks|ignorecase|precomposeunicode"
    r"|protecthfs|protectntfs|longpaths|excludesfile|sparsecheckout|sparsecheckoutcone|bigfilethreshold|quotepath)"
    r"|extensions\.(objectformat|partialclone)|merge\.(renames|renamelimit|directoryrenames|conflictstyle))$"
)
"""Repository settings about the form of files, without any program."""
OWN_EXCLUDE = "pro0-exclude"
"""A list of ignored files in a worktree's own `info`, for our calls alone."""
_NOTES = 1024 * 1024
"""Byte limit for copied lists, such as ignore rules."""
_WHO = {"GIT_AUTHOR_NAME": "pro0", "GIT_AUTHOR_EMAIL": "pro0@localhost"}
_WHO |= {"GIT_COMMITTER_NAME": "pro0", "GIT_COMMITTER_EMAIL": "pro0@localhost"}


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
            why = last_line(text) or code
            raise EnvironmentMissing(f"git {words[0]} failed in {self.folder}: {why}", code=ErrorCode.GIT_FAILED)
        return text

    def succeeds(self, *words: str) -> bool:
        """Return True when git exits with 0."""
        return self.attempt(*words)[0] == 0

    def attempt(self, *words: str) -> tuple[int, str]:
        """Return git's exit code and its output, or its error text when it failed without output."""
        done = self._done(words)
        return done.returncode, (done.stdout or done.stderr).decode(errors="surrogateescape").strip()

    def stream(self, *words: str) -> Iterator[bytes]:
        """Yield git's output line by line while it runs; raises EnvironmentMissing when git fails."""
        with scratch.file() as errors, self._started(words, errors) as process:
            yield from process.stdout or ()
            if process.wait():
                errors.seek(0)
                why = last_line(errors.read().decode(errors="replace").strip()) or process.returncode
                raise EnvironmentMissing(f"git {words[0]} failed in {self.folder}: {why}", code=ErrorCode.GIT_FAILED)

    def worktrees(self) -> tuple[Worktree, ...]:
        """Return every worktree of the repository, the first checkout first."""
        return tuple(map(_parsed, filter(None, self.run("worktree", "list", "--porcelain", "-z").split("\0\0"))))

    def command(self, *words: str) -> tuple[list[str], dict[str, str]]:
        """Return the argv and the environment of a call of git."""
        return ["git", *_ALWAYS, *words], {**_environment(), **self._variables}

    @contextmanager
    def apart(self, *, index: bool = False, head: str = "", lasting: bool = True) -> Iterator[Self]:
        """Yield git on the folder's files, in a scratch repository with only the real one's objects and plain settings.

        With `index` it uses the folder's index, else an empty one; `head` is its commit. New objects go into the real
        repository, or away with the scratch one when they are not `lasting`. Raises Unwritable without room for it.
        """
        (git_dir, common), plain = self._places, self._plain
        with scratch.folder("pro0-git-") as folder:
            with scratch.room():
                _make(folder, git_dir, common, head, plain)
                objects = common / "objects" if lasting else _borrowed(folder, common)
            variables = {
                "GIT_DIR": str(folder),
                "GIT_WORK_TREE": self._variables.get("GIT_WORK_TREE") or str(top(self.folder)),
                "GIT_OBJECT_DIRECTORY": str(objects),
                "GIT_INDEX_FILE": str((git_dir if index else folder) / "index"),
            }
            yield self._with(variables | _as_variables({**plain, "lfs.storage": str(common / "lfs")}))

    @contextmanager
    def present(self) -> Iterator[tuple[Self, str, str]]:
        """Yield git, the tree of the folder's files, except ignored ones, and what is unreadable; nothing of it lasts.

        It begins with a copy of the folder's index, which knows the files that have not changed.
        """
        with self.apart(lasting=False) as apart:
            copied_index = Path(apart._variables["GIT_INDEX_FILE"])
            with suppress(OSError):
                shutil.copy2(self.private() / "index", copied_index)  # its time tells git what may have changed since
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
        if (done := self._done((*words, *kinds))).returncode:
            self.run("rev-parse", *kinds)
        places = done.stdout.removesuffix(b"\n").split(b"\n")
        if len(places) != len(kinds):  # a name holds a line break
            places = [self._done((*words, kind)).stdout.removesuffix(b"\n") for kind in kinds]
        return Path(os.fsdecode(places[0])), Path(os.fsdecode(places[1]))

    @cached_property
    def _plain(self) -> Mapping[str, str]:
        """The repository's plain settings."""
        entries = os.fsdecode(self._done(("config", "--null", "--get-regexp", _PLAIN)).stdout).split("\0")
        parted = (entry.partition("\n") for entry in entries if entry)
        return {name: value if separator else "true" for name, separator, value in parted}

    def _done(self, words: tuple[str, ...]) -> subprocess.CompletedProcess[bytes]:
        with self._started(words, subprocess.PIPE) as process:
            out, errors = process.communicate()
        return subprocess.CompletedProcess(words, process.returncode, out, errors)

    @contextmanager
    def _started(self, words: tuple[str, ...], errors: int | IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
        """Yield git at work, ended with us; it has no terminal: a filter of the person's settings gives no verdicts."""
        argv, variables = self.command(*words)
        how = {"cwd": self.folder, "env": variables, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
        with ExitStack() as stack:
            stack.enter_context(held_back())
            try:
                process = subprocess.Popen(argv, stderr=errors, start_new_session=True, **how)  # type: ignore[call-overload]
            except OSError as error:
                raise EnvironmentMissing(f"git cannot be run in {self.folder}: {error.strerror}") from None
            with process:
                try:
                    stack.close()  # what came meanwhile is heard here
                    yield process
                except BaseException:  # keys in our terminal do not reach it
                    process.terminate()
                    process.wait()  # `with` does not, after Ctrl+C
                    raise


def last_line(text: str) -> str:
    """Return the last line of git's output, usually the reason of a failure, but one before it about room or a lock."""
    *_, last = lines = ["", *text.splitlines()]
    return next((line for line in lines if line.endswith((*FULL, LOCKED))), last)


def outside_hooks(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without what git's own hooks get: there git would write into the hook's checkout alone."""
    return {name: value for name, value in environment.items() if name not in _OF_HOOKS}


def _environment() -> dict[str, str]:
    """Return git's environment: of the git variables only the person's own and ours."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or _THEIRS.fullmatch(name)}
    return env | _QUIET


def _as_variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings as git's configuration variables. The settings turned off stay off."""
    pairs = list(settings.items())
    names = {f"GIT_CONFIG_KEY_{at}": name for at, (name, _) in enumerate(pairs)}
    values = {f"GIT_CONFIG_VALUE_{at}": value for at, (_, value) in enumerate(pairs)}
    return {"GIT_CONFIG_COUNT": str(len(pairs)), **names, **values}


def _make(target: Path, git_dir: Path, common: Path, head: str, plain: Mapping[str, str]) -> None:
    """Make a scratch repository without any setting able to name a program."""
    (target / "refs").mkdir()
    (target / "info").mkdir()
    (target / "HEAD").write_text(f"{head}\n" if head else "ref: refs/heads/none\n")
    (target / "config").write_text(_form(plain))
    for name in ("shallow", "info/exclude", "info/attributes"):  # without the first, git would look for cut-off commits
        _take(common / name, target / name)
    _take(git_dir / "info" / "sparse-checkout", target / "info" / "sparse-checkout")
    _take(git_dir / "info" / OWN_EXCLUDE, target / "info" / "exclude")
    for shared in git_dir.glob("sharedindex.*"):
        (target / shared.name).symlink_to(shared)


def _borrowed(target: Path, common: Path) -> Path:
    """Return a scratch folder of objects which reads those of the repository too."""
    objects = target / "objects"
    (objects / "info").mkdir(parents=True, exist_ok=True)
    (objects / "info" / "alternates").write_bytes(os.fsencode(common / "objects") + b"\n")
    return objects


def _form(plain: Mapping[str, str]) -> str:
    """Return the config only a repository itself can hold: its object format, and the sign of missing objects."""
    lines = ["[core]", "repositoryformatversion = 1", "[extensions]"]
    if plain.get("extensions.objectformat", "").lower() == "sha256":
        lines.append("objectformat = sha256")
    if "extensions.partialclone" in plain:
        lines += ["partialclone = elsewhere", '[remote "elsewhere"]', "promisor = true"]
    return "\n".join([*lines, ""])


def _take(source: Path, target: Path) -> None:
    """Add a list to another, if it is a regular file."""
    with suppress(OSError), open(os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
        if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            with target.open("ab") as copy:
                copy.write(stream.read(_NOTES))


def top(folder: Path) -> Path:
    """Return the nearest folder with a repository, whatever the settings of that say about its files' place."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)


def _parsed(entry: str) -> Worktree:
    fields = dict(line.partition(" ")[::2] for line in entry.split("\0") if line)
    branch = fields.get("branch", "").removeprefix(HEADS)
    place, is_half_made = Path(fields.get("worktree", "")), fields.get("locked") == "initializing"
    return Worktree(place, branch, fields.get("HEAD", ""), is_half_made)
