"""Where tests keep their files: in memory where there is room, since a disk takes milliseconds for each of many fsyncs.

The folder goes when the run ends; what a killed run leaves goes when the next one begins. `--basetemp` keeps one.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM = 1 << 30
"""What must be free, in bytes: several times of what a whole run has in it at any moment."""
NAME = "pro0-tests-"


@contextmanager
def folder(memory: Path = MEMORY, room: int = ROOM) -> Iterator[Path | None]:
    """Lend a folder in memory; nothing where there is none, too little of it, or none that runs programs."""
    if not _usable(memory, room):
        yield None
        return
    with _locked(memory):
        _sweep(memory)
        made = Path(tempfile.mkdtemp(prefix=NAME, dir=memory))
        claim = _claim(made)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(claim)


def _usable(memory: Path, room: int) -> bool:
    if not (memory.is_dir() and os.access(memory, os.W_OK | os.X_OK)):
        return False
    return shutil.disk_usage(memory).free >= room and not os.statvfs(memory).f_flag & os.ST_NOEXEC


def _sweep(memory: Path) -> None:
    """Remove the folders of runs that were killed: nobody holds them."""
    for left in memory.glob(f"{NAME}*"):
        try:
            claim = _claim(left)
        except OSError:
            continue
        shutil.rmtree(left, ignore_errors=True)
        os.close(claim)


def _claim(folder: Path) -> int:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def _locked(memory: Path) -> Iterator[None]:
    """Keep other runs from sweeping a folder that is not claimed yet."""
    descriptor = os.open(memory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
