"""Linux: a mark inherited, through the kernel, by every process below a guard's agent.

The mark is the soft limit RLIMIT_RTTIME: a number of microseconds made of the incarnation, so large it limits
nothing. Fork, exec, setsid, double forks, a cleared environment and namespaces keep it. A copied environment does not
carry it, nor do processes started by a tmux server, cron, at or ssh. Any process can take its own mark off. So a mark
proves the owner of a process; a missing mark proves nothing. macOS has no such limit.
"""

import os

from pro0.processes.linux import GONE, unseen

try:
    import resource

    _LIMIT = resource.RLIMIT_RTTIME if hasattr(resource, "prlimit") else -1
except (ImportError, AttributeError):  # macOS
    _LIMIT = -1

try:  # without OpenSSL, whose loading costs a guard 5 ms
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found, no-redef, unused-ignore]
    except ImportError:
        from hashlib import sha256

_SIGN = 1 << 62
_BYTES = 7
_LINE = b"Max realtime timeout"
_NO_MARK = -1


def mark_of(incarnation: str) -> int:
    """Return the mark of a session."""
    return _SIGN | int.from_bytes(sha256(incarnation.encode()).digest()[:_BYTES], "big")


def carried_by(pid: int) -> int | None:
    """Return a process's mark; None without a mark, without the process, and on systems without marks."""
    if _LIMIT < 0:
        return None
    try:
        return _as_mark(resource.prlimit(pid, _LIMIT)[0])
    except PermissionError:  # another group or user owns it now, as after `sg` and `su`
        return _as_mark(_public_limit(pid))
    except (OSError, OverflowError):
        return None


def put_on(incarnation: str) -> bool:
    """Make all processes started from now on carry a session's mark; False when the system refuses."""
    return _set(mark_of(incarnation))


def take_off() -> None:
    """Make all processes started from now on carry no mark, even when this process was started with one."""
    if _LIMIT >= 0 and carried_by(os.getpid()) is not None:
        _set(resource.getrlimit(_LIMIT)[1])


def available() -> bool:
    """Return True when new processes can carry marks; False on macOS, and under a hard limit below the marks."""
    if _LIMIT < 0:
        return False
    soft, hard = resource.getrlimit(_LIMIT)
    return _set(soft) and (hard == resource.RLIM_INFINITY or hard >= _SIGN | (1 << 8 * _BYTES))


def _set(soft: int) -> bool:
    if _LIMIT < 0:
        return False
    try:
        resource.setrlimit(_LIMIT, (soft, resource.getrlimit(_LIMIT)[1]))
    except (OSError, ValueError):  # above the hard limit, or on a system that only resembles Linux
        return False
    return True


def _as_mark(soft: int) -> int | None:
    return soft if soft >> 8 * _BYTES == _SIGN >> 8 * _BYTES else None


def _public_limit(pid: int) -> int:
    """Return the soft limit as readable by every user."""
    try:
        with open(f"/proc/{pid}/limits", "rb") as file:
            [line] = [line for line in file if line.startswith(_LINE)]
            return int(line[len(_LINE) :].split()[0])
    except (*GONE, ValueError):  # gone, or unlimited
        return _NO_MARK
    except OSError as error:
        raise unseen(error) from error
