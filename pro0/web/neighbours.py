"""The user at the other end of a connection on this machine: programs of other users get no answer.

The user is looked up once, since it stays the same for the life of a connection.
Linux lists the owner of each end of a connection. On other systems only pairing protects the page. In WSL a browser of
Windows comes through a process of root, or from an end that is not listed (`localhost.cpp` of microsoft/WSL).
"""

import ipaddress
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from starlette.types import Scope

from pro0 import looking

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ADDRESS, _PEER, _OWNER = 1, 2, 7
IN_WSL = "microsoft" in os.uname().release.lower()
ROOT = 0
OURS = "ours"
"""The key of the result in the state of a connection."""


def comes_from_us(scope: Scope) -> bool:
    """Return True when a request or an upgrade is known to come from a program of this user."""
    return scope.get("state", {}).get(OURS) is True


def is_ours(client: tuple[str, int] | None, port: int) -> bool:
    """Return True when the program at `client` belongs to this user, or in WSL perhaps to Windows.

    It is always True on other systems than Linux.
    """
    if sys.platform != "linux":
        return True
    if client is None:
        return False
    tables = (table.read_text() for table in TABLES if looking.exists(table))  # read lazily: the first mostly has it
    uid = owner(tables, client, port)
    return uid == os.geteuid() or (IN_WSL and uid in (ROOT, None))


def owner(tables: Iterable[str], client: tuple[str, int], port: int) -> int | None:
    """Return the user at the client's end of a connection to our port, None when these tables lack it."""
    ends = {f"{form}:{client[1]:04X}" for form in _forms(client[0])}
    for table in tables:
        for line in table.splitlines()[1:]:
            words = line.split()
            if len(words) > _OWNER and words[_ADDRESS] in ends and words[_PEER].endswith(f":{port:04X}"):
                return int(words[_OWNER])
    return None


def _forms(address: str) -> list[str]:
    """Return the forms of an address in the kernel's tables: words of 32 bits in the machine's byte order."""
    ip = ipaddress.ip_address(address)
    both = [ip] if ip.version == 6 else [ip, ipaddress.ip_address(f"::ffff:{ip}")]
    return [_words(form.packed) for form in both]


def _words(packed: bytes) -> str:
    words = [packed[start : start + 4] for start in range(0, len(packed), 4)]
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
