"""Acts on one repository, one after the other."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pro0.errors import EnvironmentMissing, ErrorCode, StoreError
from pro0.git.commands import PASSING, Git, last_line, no_repository

PATIENCE = 60.0
"""Seconds to wait for another act on the same repository."""


def common_folder(git: Git) -> Path:
    """Return the folder shared by all worktrees of a repository; raises EnvironmentMissing without a repository."""
    code, text = git.attempt("rev-parse", "--path-format=absolute", "--git-common-dir")
    if code and (why := last_line(text)).endswith(PASSING):
        raise EnvironmentMissing(f"git rev-parse failed in {git.folder}: {why}", code=ErrorCode.GIT_FAILED)
    if code:
        raise no_repository(git.folder, text, "worktrees need one: git init, and a first commit")
    return Path(text)


@contextmanager
def alone(repository: Path) -> Iterator[None]:
    """Wait for every other act on a repository; raises StoreError when one does not end."""
    folder = os.open(repository, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _lock(folder, repository)
        yield
    finally:
        os.close(folder)


def _lock(folder: int, path: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StoreError(
                    f"another operation on the worktrees of {path} does not end", code=ErrorCode.LOCK_TIMEOUT
                ) from None
            time.sleep(0.02)
