"""A pro0 for which the disk is full, from its n-th change on, for as long as a file is there.

Run as `python full.py FLAG NUMBER CODE ARGUMENT...`: before the file FLAG is there nothing is counted.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TAKING = ("write", "pwrite", "mkdir", "rename", "link", "fsync")
"""What may need room, or tells late that there was none; `open` only where a file is made to replace another."""


def main() -> None:
    """Be pro0."""
    sys.path.insert(0, str(ROOT))
    from tests.faults import Call, Shim, fail_with

    flag, first, code = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    sys.argv[:] = ["pro0", *sys.argv[4:]]
    seen = 0

    def fault(shim: Shim, name: str, real: Call, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        nonlocal seen
        if not os.path.lexists(flag) or not _takes(name, args):
            return real(*args, **kwargs)
        seen += 1
        return real(*args, **kwargs) if seen < first else fail_with(code)(shim, name, real, args, kwargs)

    from pro0.cli.main import entry

    with Shim((*TAKING, "open"), None, fault):
        entry()


def _takes(name: str, args: tuple[object, ...]) -> bool:
    """Say whether a call asks the disk for room: not a pipe, not a terminal, not a look."""
    if name == "open":
        return str(args[0]).startswith(".tmp-")
    if name in ("write", "pwrite"):
        return os.path.isfile(f"/proc/self/fd/{args[0]}")
    return True


if __name__ == "__main__":
    main()
