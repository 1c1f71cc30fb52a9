"""Whose program is at the other end of a connection on this machine: no other user's gets an answer.

It is looked up once, since a connection stays with one program's user for its life.
The kernel lists the owner of each end of a connection; where there is no such list, the pairing alone must do.
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
OURS = "ours"
"""Where the state of a connection says what was found about it."""


def comes_from_us(scope: Scope) -> bool:
    """Return whether a request or an upgrade comes from a program of this user; what nobody looked up does not."""
    return scope.get("state", {}).get(OURS) is True


def is_ours(client: tuple[str, int] | None, port: int) -> bool:
    """Return True unless the program that connected from there belongs to another user."""
    if sys.platform != "linux":
        return True
    if client is None:
        return False
    tables = (table.read_text() for table in TABLES if looking.exists(table))  # one at a time: the first mostly has it
    return owner(tables, client, port) == os.geteuid()


def owner(tables: Iterable[str], client: tuple[str, int], port: int) -> int | None:
    """Return the user of the end of a connection that connected to a port of ours, None for none in these tables."""
    ends = {f"{form}:{client[1]:04X}" for form in _forms(client[0])}
    for table in tables:
        for line in table.splitlines()[1:]:
            words = line.split()
            if len(words) > _OWNER and words[_ADDRESS] in ends and words[_PEER].endswith(f":{port:04X}"):
                return int(words[_OWNER])
    return None


def _forms(address: str) -> list[str]:
    """Return an address as the kernel's tables have it: words of 32 bits in the machine's own order."""
    ip = ipaddress.ip_address(address)
    both = [ip] if ip.version == 6 else [ip, ipaddress.ip_address(f"::ffff:{ip}")]
    return [_words(form.packed) for form in both]


def _words(packed: bytes) -> str:
    words = [packed[start : start + 4] for start in range(0, len(packed), 4)]
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
