"""Large pages for what a worker holds: a fork copies an entry for each page, and some tests fork at every call.

After collecting, a worker holds about 80,000 small pages; a fork of it took 26 ms, and takes 8 ms with large ones.
"""

import ctypes
import re
import sys
from pathlib import Path

LARGE = 2 << 20
"""Bytes of a large page where tests run: x86-64, and ARM with small pages of 4 KiB."""
COLLAPSE = 25
"""MADV_COLLAPSE, of Linux 6.1 and later; the module mmap does not name it before Python 3.13."""
OWN = re.compile(r"(?P<first>[0-9a-f]+)-(?P<end>[0-9a-f]+) rw-p 00000000 00:00 0 *(\[heap\])?")


def enlarge() -> None:
    """Ask for large pages wherever this process has memory of its own; where that is refused, forks are slower."""
    if sys.platform != "linux":
        return
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        if own := OWN.fullmatch(line):
            first = -(-int(own["first"], 16) // LARGE) * LARGE
            end = int(own["end"], 16) // LARGE * LARGE
            if first < end:
                madvise(first, end - first, COLLAPSE)
