"""Starting families (family.py) in tests, and seeing who of them still lives."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pro0 import processes
from pro0.model.runtime import Process
from tests.waiting import wait_until

PROGRAM = Path(__file__).with_name("family.py")
KINDS = ("plain", "nohup", "setsid", "double_fork", "grandchild", "deaf", "stopped", "untagged", "forking")
TAG = "PRO0_INCARNATION"


@contextmanager
def running(
    argv: Sequence[str | bytes | Path],
    *,
    env: Mapping[str, str] | None = None,
    stdin: int | None = None,
    apart: bool = False,
) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a program, `apart` in a terminal session of its own; end it when the test ends, also when that fails."""
    with subprocess.Popen(argv, env=env, stdin=stdin, start_new_session=apart) as child:
        try:
            yield child
        finally:
            child.kill()


def argv(folder: Path, end: str, *kinds: str) -> list[str]:
    """Return the argv of a family that leaves its pids in `folder`."""
    return [sys.executable, "-I", "-S", str(PROGRAM), str(folder), end, *kinds]


def settled(folder: Path, *kinds: str) -> dict[str, Process]:
    """Wait until these of a family are there, and return who they are (those that have ended already are left out)."""
    wait_until(lambda: all((folder / kind).exists() for kind in kinds), 10, f"{kinds} have settled in {folder}")
    found = {kind: processes.identify(int((folder / kind).read_text())) for kind in kinds}
    return {kind: process for kind, process in found.items() if process}


def alive(family: dict[str, Process]) -> list[str]:
    """Return the kinds that still live."""
    return [kind for kind, process in family.items() if processes.alive(process)]


def start(folder: Path, tag: str, *kinds: str) -> "subprocess.Popen[bytes]":
    """Start a family that stays and carries a tag; its head is `agent`."""
    return subprocess.Popen(argv(folder, "stay", *kinds), env={**os.environ, TAG: tag}, start_new_session=True)


def all_of(head: int, tag: str) -> list[Process]:
    """Return whoever descends from a process or carries the tag, and the process itself."""
    own = processes.identify(head)
    return [*([own] if own else []), *processes.descendants(head), *processes.tagged(TAG, [tag])[tag]]
