"""Scratch files and folders in the system's temporary folder. A full disk gives an error of one clear line."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pro0.errors import Unwritable


@contextmanager
def room() -> Iterator[None]:
    """Turn an OSError of this block into Unwritable: no scratch file can be written."""
    try:
        yield
    except OSError as error:
        where = tempfile.tempdir or "TMPDIR, /tmp"
        hint = "free some space there, or name another folder in TMPDIR"
        raise Unwritable(f"no scratch file can be written in {where}: {error.strerror}", hint=hint) from error


@contextmanager
def folder(prefix: str) -> Iterator[Path]:
    """Yield a scratch folder, which goes away with the block; raises Unwritable when there is no room for it."""
    with room():
        directory = tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True)
    with directory as name:
        yield Path(name)


def file() -> IO[bytes]:
    """Return a scratch file without a name; raises Unwritable when there is no room for it."""
    with room():
        return tempfile.TemporaryFile()
