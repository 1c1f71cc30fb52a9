"""Linux: compare two processes' rights and files, and read a process's limits."""

import os
import resource
from collections.abc import Mapping
from functools import cache

_CONFINED = (b"Uid", b"Gid", b"Groups", b"Cap", b"NoNewPrivs", b"Seccomp")
_PLACES = ("ns/mnt", "ns/pid", "ns/user", "ns/net", "root")
_LIMITS = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})


def alike(pid: int) -> bool:
    """Return whether a process is confined as this one is: user, capabilities, namespaces, root, sandbox."""
    try:
        return _confinement(pid) == _own(os.getpid())
    except OSError:
        return False


def umask(pid: int) -> int:
    """Return the umask of a process; raises OSError when it is gone."""
    return next(int(line.split()[1], 8) for line in _status(pid) if line.startswith(b"Umask:"))


def take_limits(pid: int) -> dict[int, int]:
    """Take over the soft limits of a process, its mark among them; raises OSError or ValueError.

    Returns the earlier values of the changed limits, for `set_limits`.
    """
    before = {}
    for limit in _LIMITS:
        soft, own = resource.prlimit(pid, limit)[0], resource.getrlimit(limit)
        if soft != own[0]:
            resource.setrlimit(limit, (soft, own[1]))
            before[limit] = own[0]
    return before


def set_limits(soft_limits: Mapping[int, int]) -> None:
    """Set soft limits of this process."""
    for limit, soft in soft_limits.items():
        resource.setrlimit(limit, (soft, resource.getrlimit(limit)[1]))


def is_timed(pid: int) -> bool:
    """Return whether a process has a limit of CPU time; raises OSError when it is gone."""
    return resource.prlimit(pid, resource.RLIMIT_CPU)[0] != resource.RLIM_INFINITY


@cache
def _own(pid: int) -> tuple[object, ...]:
    """Return the confinement of this process. Nobody else can change it, and a fork has another pid."""
    return _confinement(pid)


def _confinement(pid: int) -> tuple[object, ...]:
    lines = [line for line in _status(pid) if line.startswith(_CONFINED)]
    places = [os.stat(f"/proc/{pid}/{place}") for place in _PLACES]
    return (lines, *((place.st_dev, place.st_ino) for place in places), _label(pid))


def _status(pid: int) -> list[bytes]:
    with open(f"/proc/{pid}/status", "rb", buffering=0) as status:
        return status.read().splitlines()


def _label(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/attr/current", "rb", buffering=0) as label:
            return label.read()
    except OSError:
        return b""
