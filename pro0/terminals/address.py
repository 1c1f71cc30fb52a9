"""The address of a socket, and who is at its other end."""

import os
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LONGEST = 107 if sys.platform == "linux" else 103
"""Bytes in the path of a UNIX socket, at most."""


@contextmanager
def reachable(path: str) -> Iterator[str]:
    """Yield a short path to the same socket; raises OSError when its folder is missing, or the path stays too long.

    Linux reaches a folder through a descriptor, by an always short path.
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


def bound(path: str) -> socket.socket:
    """Return a socket bound to this path, open to our user alone from its first moment; raises OSError."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with suppress(OSError):  # macOS can set a mode only after the bind; until then the folder keeps others out
            os.fchmod(listener.fileno(), 0o600)
        with reachable(path) as short:
            listener.bind(short)
        Path(path).chmod(0o600)
    except OSError:
        listener.close()
        raise
    return listener


def fits(path: str) -> bool:
    """Return True when a socket can have this path on this system."""
    return sys.platform == "linux" or len(os.fsencode(path)) <= LONGEST


def peer(connection: socket.socket) -> int:
    """Return the user id of the process at the other end."""
    if sys.platform == "linux":
        _, uid, _ = struct.unpack("iii", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    else:  # macOS: LOCAL_PEERCRED of level 0 gives a struct xucred, whose second word is the user
        _, uid = struct.unpack_from("II", connection.getsockopt(0, 1, 76))
    return int(uid)


def peer_process(connection: socket.socket) -> int:
    """Return the pid of the connected process, 0 when the system does not show it."""
    if sys.platform == "linux":
        pid, _, _ = struct.unpack("iii", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    else:  # macOS: LOCAL_PEERPID of level 0
        (pid,) = struct.unpack("i", connection.getsockopt(0, 2, 4))
    return int(pid)
