"""The demo's own folder, the environment that confines everything to it, and the clean-up, which always happens."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from pro0 import looking, processes
from pro0.errors import EnvironmentMissing
from pro0.model.runtime import Process
from pro0.store.paths import HOME_VARIABLE

SOCKETS = "TMUX_TMPDIR"
GRACE = 3.0
"""Seconds between TERM and KILL for processes that an interrupted demo leaves."""

NO_PROGRAMS = getattr(os, "ST_NOEXEC", 0)
"""The flag of a file system that does not run programs; 0 on systems without such a flag."""
ELSEWHERE = "choose a folder with free space where programs may run: TMPDIR=FOLDER"

_NOT_OURS = ("PRO0_", "TMUX", "GIT_", "XDG_", "PYTHON")
"""Variables of the person's session, tmux, git and Python, which must not reach the demo."""


class Scratch:
    """The places of a demo: a store, a home, tools and a project below one folder with a short path."""

    def __init__(self, kind: str = "demo") -> None:
        self.folder = _base() / f"pro0-{kind}-{secrets.token_hex(4)}"
        self.home = self.folder / "pro0"
        self.user = self.folder / "home"
        self.bin = self.folder / "bin"
        self.material = self.folder / "material"
        self.project = self.folder / "tally"

    def make(self) -> None:
        """Make the folder, with only the person's home in it."""
        try:
            self.folder.mkdir(mode=0o700)
            self.user.mkdir()
        except OSError as error:
            raise EnvironmentMissing(f"{self.folder} cannot be made: {error.strerror}", hint=ELSEWHERE) from error

    def remove(self) -> None:
        """Remove the folder; try again if a late writer adds a file meanwhile."""
        for _ in range(20):
            shutil.rmtree(self.folder, ignore_errors=True)
            if not looking.exists(self.folder):
                return
        shutil.rmtree(self.folder)

    def environment(self, before: Mapping[str, str]) -> dict[str, str]:
        """Return the environment for the whole demo, without the person's identity, home, tmux and git settings."""
        inherited = {name: value for name, value in before.items() if not name.startswith(_NOT_OURS)}
        return inherited | {
            HOME_VARIABLE: str(self.home),
            SOCKETS: str(self.folder),
            "HOME": str(self.user),
            "PATH": f"{self.bin}{os.pathsep}{before.get('PATH') or os.defpath}",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def processes(self) -> list[Process]:
        """Return every living process of the demo but this one."""
        homes = processes.tagged(HOME_VARIABLE, [str(self.home)])[str(self.home)]
        tmux = processes.tagged(SOCKETS, [str(self.folder)])[str(self.folder)]
        return list({process.pid: process for process in (*homes, *tmux) if process.pid != os.getpid()}.values())

    def end(self) -> list[Process]:
        """End every process of the demo, and return those that did not end."""
        stubborn = processes.end(self.processes, GRACE)
        return stubborn or processes.end(self.processes, GRACE)


@contextmanager
def inside(scratch: Scratch) -> Iterator[None]:
    """Give this process, and all that it starts, the demo's environment during the block."""
    before = dict(os.environ)
    _set(scratch.environment(before))
    try:
        yield
    finally:
        _set(before)


def _set(environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)


def _base() -> Path:
    """Return the parent of the folder: /tmp if possible, since the path of a unix socket has at most 104 bytes.

    Raises EnvironmentMissing when neither allows a folder with programs to run.
    """
    for name in ("/tmp", ""):
        with suppress(OSError):
            path = Path(name or tempfile.gettempdir()).resolve(strict=True)
            if os.access(path, os.W_OK | os.X_OK) and not os.statvfs(path).f_flag & NO_PROGRAMS:
                return path
    raise EnvironmentMissing("programs may not run in /tmp, or nothing can be written there", hint=ELSEWHERE)
