"""Bytes that an act reads and writes, counted at the calls."""

import os
from collections.abc import Callable
from typing import NamedTuple
from unittest.mock import patch


class Traffic(NamedTuple):
    """Bytes read, and bytes written."""

    read: int
    written: int


def traffic(act: Callable[[], object]) -> Traffic:
    """Do an act and return its bytes; only what this process reads and writes through `os`, as the store does."""
    read, write = os.read, os.write
    sizes = {"read": 0, "written": 0}

    def counting_read(descriptor: int, length: int, /) -> bytes:
        data = read(descriptor, length)
        sizes["read"] += len(data)
        return data

    def counting_write(descriptor: int, data: bytes, /) -> int:
        size = write(descriptor, data)
        sizes["written"] += size
        return size

    with patch.object(os, "read", counting_read), patch.object(os, "write", counting_write):
        act()
    return Traffic(**sizes)
