"""Our tmux server's settings from the person's machine: the prefix key, and the known terminal types."""

import os
import re
from contextlib import suppress
from pathlib import Path

from pro0 import looking
from pro0.sessions.tmux.script import Command

_TYPE = "tmux-256color"
_TERMINFO = (
    *("/etc/terminfo", "/lib/terminfo", "/usr/lib/terminfo"),
    *("/usr/share/terminfo", "/usr/local/share/terminfo", "/opt/homebrew/share/terminfo"),
)
USUAL_PREFIX = "C-b"
_PREFIX = re.compile(
    r"^\s*set(?:-option)?\s+(?:-\w+\s+)*prefix\s+"
    r"[\"']?((?:[CM]-){1,2}(?:Space|[!-~])|\^[!-~]|`|F[0-9]{1,2})[\"']?\s*(?:#.*)?$",
    re.MULTILINE,
)
"""The line of a tmux configuration that chooses the prefix, and the key there."""


def prefix_in(configuration: str) -> str:
    """Return the prefix that a tmux configuration chooses last, "" for none."""
    return next(reversed(_PREFIX.findall(configuration)), "")


def persons_prefix() -> str:
    """Return the prefix in the person's own configuration of tmux; it is only read, never run."""
    home = Path(os.environ.get("HOME") or "/")
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    own_prefix = ""
    for path in (Path("/etc/tmux.conf"), home / ".tmux.conf", settings / "tmux" / "tmux.conf"):
        with suppress(OSError):
            own_prefix = prefix_in(path.read_text(encoding="utf-8", errors="replace")) or own_prefix
    return own_prefix or USUAL_PREFIX


def prefix(key: str) -> list[Command]:
    """Return the commands to give our own server a prefix; pressed twice it reaches the program."""
    return [] if key == USUAL_PREFIX else [("set-option", "-g", "prefix", key), ("bind-key", key, "send-prefix")]


def terminal_type() -> Command:
    """Return the command that sets our server's terminal type: tmux's own if this machine knows it."""
    home = Path(os.environ.get("HOME") or "/")
    folders = [os.environ.get("TERMINFO") or home / ".terminfo", *_TERMINFO]
    known = any(looking.exists(Path(folder) / letter / _TYPE) for folder in folders for letter in ("t", "74"))
    return ("set-option", "-g", "default-terminal", _TYPE if known else "screen-256color")
