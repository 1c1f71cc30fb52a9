"""Finding, by their environment, processes that tests started and did not end."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from tests.living import everybody

TAGS = ("PRO0_HOME", "HOME", "TMUX_TMPDIR")


class Left(NamedTuple):
    """A process that should be gone."""

    process: psutil.Process
    argv: list[str]
    tag: str

    def __str__(self) -> str:
        return f"  pid {self.process.pid}: {' '.join(self.argv)[:200]} ({self.tag})"


def processes_under(*folders: Path) -> list[Left]:
    """Return the processes of this user, but not this one, whose PRO0_HOME, HOME or TMUX_TMPDIR lies in a folder."""
    found = []
    for process in everybody():
        with suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE:
                environment = process.environ()
                for tag in TAGS:
                    if _lies_in(environment.get(tag, ""), folders):
                        found.append(Left(process, process.cmdline(), f"{tag}={environment[tag]}"))
                        break
    return found


def still_under(*folders: Path, seconds: float) -> list[Left]:
    """Return those processes that are still there after so many seconds; as soon as there is none, none."""
    deadline = time.monotonic() + seconds
    while (found := processes_under(*folders)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def end(left: list[Left]) -> None:
    """End processes by pid: politely, then firmly."""
    processes = [one.process for one in left]
    for process in processes:
        with suppress(psutil.Error):
            process.terminate()
    for process in psutil.wait_procs(processes, timeout=3)[1]:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, timeout=3)


def _lies_in(value: str, folders: tuple[Path, ...]) -> bool:
    return any(value == str(folder) or value.startswith(f"{folder}{os.sep}") for folder in folders)
