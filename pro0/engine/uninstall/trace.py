"""One trace of pro0 on a machine, and what becomes of it."""

import os
import stat
from enum import StrEnum
from pathlib import Path

import msgspec


class TraceFate(StrEnum):
    """What `pro0 uninstall` does with a trace."""

    REMOVED = "removed"
    """It is removed."""
    KEPT = "kept"
    """It stays: it holds work, or something that pro0 did not put there."""
    YOURS = "yours"
    """It stays: the person or another program wrote it, and may remove it."""


class Trace(msgspec.Struct, frozen=True):
    """One thing on this machine that is there because of pro0."""

    kind: str
    name: str
    fate: TraceFate
    note: str = ""
    command: str = ""
    """The command to remove it by hand."""


def file_trace(kind: str, path: Path, *, ours: bool) -> Trace:
    """Return the trace of one file, which stays unless it is a regular file of this user with our content."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        return Trace(kind, str(path), TraceFate.KEPT, "it is not a regular file")
    if status.st_uid != os.geteuid():
        return Trace(kind, str(path), TraceFate.KEPT, "it belongs to another user")
    if not ours:
        return Trace(kind, str(path), TraceFate.KEPT, "its content differs from what this pro0 writes")
    return Trace(kind, str(path), TraceFate.REMOVED)


def folder_trace(kind: str, path: Path, note: str = "") -> Trace:
    """Return the trace of one folder, which stays unless it is a folder of this user."""
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return Trace(kind, str(path), TraceFate.KEPT, "it is not a folder of yours")
    return Trace(kind, str(path), TraceFate.REMOVED, note)
