"""Looks at what is at a path: an answer that is unknown raises OSError, and never counts as a no.

pathlib's own looks do that up to Python 3.13 alone; a later one answers False whatever the system says, as `os.path`
always did. Then a file would be gone while its disk is away.
"""

import errno
import os
import stat

AnyPath = str | os.PathLike[str]

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP})
"""What the system answers where surely nothing is."""


def exists(path: AnyPath) -> bool:
    """Return True when there is anything, for a link where it leads."""
    return _mode(path) is not None


def is_folder(path: AnyPath) -> bool:
    """Return True for a folder, or a link to one."""
    return stat.S_ISDIR(_mode(path) or 0)


def is_file(path: AnyPath) -> bool:
    """Return True for a regular file, or a link to one."""
    return stat.S_ISREG(_mode(path) or 0)


def lexists(path: AnyPath) -> bool:
    """Return True when there is anything, a link that leads nowhere too."""
    return _mode(path, through=False) is not None


def is_gone(path: AnyPath) -> bool:
    """Return True when surely nothing is there, not even a link; False when nobody can tell now."""
    try:
        return not lexists(path)
    except OSError:
        return False


def is_link(path: AnyPath) -> bool:
    """Return True for a symbolic link."""
    return stat.S_ISLNK(_mode(path, through=False) or 0)


def _mode(path: AnyPath, *, through: bool = True) -> int | None:
    """Return the mode of what is at a path, None for nothing; no path at all has a NUL in it."""
    try:
        return os.stat(path, follow_symlinks=through).st_mode
    except ValueError:
        return None
    except OSError as error:
        if error.errno in _ABSENT:
            return None
        raise
