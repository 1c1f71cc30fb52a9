"""Linux: a mark that the kernel hands down from a guard's agent to all that it ever starts.

It is the soft limit RLIMIT_RTTIME: a number of microseconds made of the incarnation, so large that it limits nothing.
Fork, exec, setsid, double forks, a cleared environment and namespaces keep it. A copied environment does not bring it,
and what a tmux server, cron, at or ssh starts does not have it. Who wants to be rid of it can be: it proves whose
a process is, not that one is nobody's. macOS has no such limit.
"""

import os

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
_UNLIMITED = -1


def mark_of(incarnation: str) -> int:
    """Return the mark of a session."""
    return _SIGN | int.from_bytes(sha256(incarnation.encode()).digest()[:_BYTES], "big")


def carried_by(pid: int) -> int | None:
    """Return the mark that a process carries; None for none, for no such process, and where there are no marks."""
    if _LIMIT < 0:
        return None
    try:
        return _as_mark(resource.prlimit(pid, _LIMIT)[0])
    except PermissionError:  # another group or user has it now, as `sg` and `su` do
        return _as_mark(_shown(pid))
    except (OSError, OverflowError):
        return None


def put_on(incarnation: str) -> bool:
    """Have what this process starts from now on carry the mark of a session; False where that cannot be."""
    return _set(mark_of(incarnation))


def take_off() -> None:
    """Have what this process starts from now on carry no mark, whoever started it."""
    if _LIMIT >= 0 and carried_by(os.getpid()) is not None:
        _set(resource.getrlimit(_LIMIT)[1])


def available() -> bool:
    """Say whether what is started here can carry marks: no where the hard limit, above which none can be, is low."""
    if _LIMIT < 0:
        return False
    soft, hard = resource.getrlimit(_LIMIT)
    return _set(soft) and (hard == _UNLIMITED or hard >= _SIGN | (1 << 8 * _BYTES))


def _set(soft: int) -> bool:
    if _LIMIT < 0:
        return False
    try:
        resource.setrlimit(_LIMIT, (soft, resource.getrlimit(_LIMIT)[1]))
    except (OSError, ValueError):  # above the hard limit, or a system that only looks like Linux
        return False
    return True


def _as_mark(soft: int) -> int | None:
    return soft if soft >> 8 * _BYTES == _SIGN >> 8 * _BYTES else None


def _shown(pid: int) -> int:
    """Return the soft limit as anybody may read it."""
    try:
        with open(f"/proc/{pid}/limits", "rb") as file:
            [line] = [line for line in file if line.startswith(_LINE)]
            return int(line[len(_LINE) :].split()[0])
    except (OSError, ValueError):  # gone, or unlimited
        return _UNLIMITED
