"""Files which git ignores, copied from a checkout into a new worktree as `.worktreeinclude` lists them.

The list has the syntax of `.gitignore`. Only files that git does not track are copied, never over a file, never through
a symbolic link, and never a link which leads out of the repository.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from pro0 import looking
from pro0.git.commands import Git, top
from pro0.git.scratch_repository import OWN_EXCLUDE

INCLUDE = ".worktreeinclude"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\*?[]!# "})
"""The characters with a meaning in a list of patterns."""


def include(checkout: Path, tree: Path) -> tuple[int, tuple[str, ...]]:
    """Copy the listed files of a checkout into a worktree; return their number, and the paths left out."""
    source = top(checkout)
    listed = _listed(source)
    if not listed:
        return 0, ()
    _keep_out_of_commits(source, tree, listed)
    skipped = [path for path in listed if not _copied(source, tree, PurePosixPath(path))]
    return len(listed) - len(skipped), tuple(skipped)


def _listed(source: Path) -> list[str]:
    """Return the untracked paths that the list names, without nested repositories."""
    patterns = source / INCLUDE
    if not looking.is_file(patterns) or looking.is_link(patterns):
        return []
    return [path for path in _untracked(source, "--ignored", f"--exclude-from={patterns}") if not path.endswith("/")]


def _untracked(source: Path, *options: str) -> list[str]:
    with Git(source).apart(index=True) as git:
        return [path for path in git.run("ls-files", "-z", "--others", *options).split("\0") if path]


def _keep_out_of_commits(source: Path, tree: Path, listed: list[str]) -> None:
    """Note the copied files that git does not ignore, so saving the worktree does not commit them."""
    loose = {path for path in _untracked(source, "--exclude-standard") if "\n" not in path}.intersection(listed)
    if loose:
        lines = "".join(f"/{path.translate(_MARKS)}\n" for path in sorted(loose))
        place = Git(tree).private() / "info"
        place.mkdir(exist_ok=True)
        (place / OWN_EXCLUDE).write_bytes(os.fsencode(lines))


def _copied(source: Path, tree: Path, path: PurePosixPath) -> bool:
    """Copy one file or link; return False for one which cannot or must not be copied."""
    try:
        with _parent(source, path, make=False) as from_folder, _parent(tree, path, make=True) as to_folder:
            kind = os.stat(path.name, dir_fd=from_folder, follow_symlinks=False).st_mode
            if stat.S_ISLNK(kind):
                return _link(source, path, from_folder, to_folder)
            return stat.S_ISREG(kind) and _copy(path.name, from_folder, to_folder)
    except FileExistsError:
        return True
    except OSError:
        return False


def _copy(name: str, from_folder: int, to_folder: int) -> bool:
    with open(
        os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=from_folder), "rb"
    ) as source:
        mode = os.fstat(source.fileno())
        if not stat.S_ISREG(mode.st_mode):
            return False
        descriptor = os.open(
            name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=to_folder
        )
        with open(descriptor, "wb") as target:
            shutil.copyfileobj(source, target, 1024 * 1024)
            os.fchmod(descriptor, stat.S_IMODE(mode.st_mode) & 0o777)
    return True


def _link(source: Path, path: PurePosixPath, from_folder: int, to_folder: int) -> bool:
    """Make the same link when it is relative and stays inside the repository."""
    target = os.readlink(path.name, dir_fd=from_folder)
    inside = source.resolve()
    leads = Path(os.path.realpath(inside / path))
    if Path(target).is_absolute() or not leads.is_relative_to(inside) or leads.is_relative_to(inside / ".git"):
        return False
    os.symlink(target, path.name, dir_fd=to_folder)
    return True


@contextmanager
def _parent(root: Path, path: PurePosixPath, *, make: bool) -> Iterator[int]:
    """Yield the open folder of a path below a root, reached through real folders only."""
    folder = os.open(root, _FOLDER)
    try:
        for part in path.parts[:-1]:
            if make:
                _make(part, folder)
            inner = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _make(name: str, folder: int) -> None:
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        return
