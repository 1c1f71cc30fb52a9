"""Where the socket of a terminal is, and who is at its other end."""

import os
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST = 107 if sys.platform == "linux" else 103
"""How many bytes the path of a UNIX socket may have."""


@contextmanager
def reachable(path: str) -> Iterator[str]:
    """Yield a path to the same socket that is short enough; raises OSError when its folder is not there, or it is not.

    Linux reaches a folder through a descriptor, by a path that is always short.
    """
    if len(os.fsencode(path)) <= LONGEST:
        yield path
        return
    folder, name = os.path.split(path)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}"
    finally:
        os.close(descriptor)


def fits(path: str) -> bool:
    """Say whether a socket can have this path on this system."""
    return sys.platform == "linux" or len(os.fsencode(path)) <= LONGEST


def peer(connection: socket.socket) -> int:
    """Return the user id of the process at the other end."""
    if sys.platform == "linux":
        _, uid, _ = struct.unpack("iii", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    else:  # macOS: LOCAL_PEERCRED of level 0 gives a struct xucred, whose second word is the user
        _, uid = struct.unpack_from("II", connection.getsockopt(0, 1, 76))
    return int(uid)
