"""Look at what is at a path. When the answer is unknown, OSError is raised; unknown never counts as no.

pathlib's own methods do that only up to Python 3.13. Later ones answer False for every error, as `os.path` always did.
With them a file would count as gone while its disk is away.
"""

import errno
import os
import stat

AnyPath = str | os.PathLike[str]

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP})
"""The system's errors which prove that nothing is at a path."""


def exists(path: AnyPath) -> bool:
    """Return True when anything is at the path; for a link, when its target exists."""
    return _mode(path) is not None


def is_folder(path: AnyPath) -> bool:
    """Return True for a folder, or a link to one."""
    return stat.S_ISDIR(_mode(path) or 0)


def is_file(path: AnyPath) -> bool:
    """Return True for a regular file, or a link to one."""
    return stat.S_ISREG(_mode(path) or 0)


def lexists(path: AnyPath) -> bool:
    """Return True when anything is at the path, even a link without a target."""
    return _mode(path, through=False) is not None


def is_gone(path: AnyPath) -> bool:
    """Return True when nothing is at the path, not even a link; False when that is unknown."""
    try:
        return not lexists(path)
    except OSError:
        return False


def is_link(path: AnyPath) -> bool:
    """Return True for a symbolic link."""
    return stat.S_ISLNK(_mode(path, through=False) or 0)


def _mode(path: AnyPath, *, through: bool = True) -> int | None:
    """Return the mode of the file at a path, None when there is none. A path with a NUL byte never exists."""
    try:
        return os.stat(path, follow_symlinks=through).st_mode
    except ValueError:
        return None
    except OSError as error:
        if error.errno in _ABSENT:
            return None
        raise
