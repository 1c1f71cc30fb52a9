"""The demo's programs on this machine: git and tmux. It installs tmux if that needs no password."""

import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterable

from pro0.errors import EnvironmentMissing

Say = Callable[[str], None]
Command = tuple[str, ...]

LONGEST = 300
"""Seconds that an installation may take."""

_APT = ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y")
INSTALLERS: dict[str, tuple[Command, ...]] = {
    "apt-get": ((*_APT, "install", "tmux"), (*_APT, "update"), (*_APT, "install", "tmux")),
    "dnf": (("dnf", "-q", "-y", "install", "tmux"),),
    "pacman": (("pacman", "-Sy", "--noconfirm", "tmux"),),
    "apk": (("apk", "add", "tmux"),),
}
"""Package manager → the commands to try, in this order, until tmux is installed."""
_BREW = ("brew", "install", "--quiet", "tmux")


def require_git() -> None:
    """Raise EnvironmentMissing when there is no git."""
    if not shutil.which("git"):
        raise EnvironmentMissing("git is not installed, and the demo works in a git repository", hint="install git")


def choose_mode(requested: str, say: Say) -> tuple[str, str]:
    """Return the mode, and the reason for it; raises EnvironmentMissing when tmux is requested but unavailable."""
    if requested == "headless":
        return "headless", "asked for"
    if shutil.which("tmux"):
        return "tmux", "asked for" if requested == "tmux" else "tmux is installed; the demo has a server of its own"
    why = install(say)
    if not why:
        return "tmux", "tmux was installed just now"
    if requested == "tmux":
        raise EnvironmentMissing(f"tmux is not installed: {why}", hint="install it, or: pro0 demo --mode headless")
    return "headless", f"tmux is not installed: {why}"


def install(say: Say) -> str:
    """Install tmux if that needs no password; return the reason of a failure, empty for success."""
    steps = _steps()
    if isinstance(steps, str):
        return steps
    for step in steps:
        say(f"tmux is missing, so: {' '.join(step)}")
        if not _done(step):
            say("that did not work")
        if shutil.which("tmux"):
            return ""
    return "installing it failed"


def _steps() -> Iterable[Command] | str:
    """Return the commands that install tmux, or the reason for having none."""
    if platform.system() == "Darwin":
        return [_BREW] if shutil.which("brew") else "brew, which would install it, is missing"
    installer = next((name for name in INSTALLERS if shutil.which(name)), None)
    if installer is None:
        return "no package manager that is known here"
    if os.geteuid() == 0:
        return INSTALLERS[installer]
    if shutil.which("sudo") and _done(("sudo", "-n", "true")):
        return [("sudo", "-n", *step) for step in INSTALLERS[installer]]
    return "installing it needs a password"


def _done(command: Command) -> bool:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LONGEST
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
