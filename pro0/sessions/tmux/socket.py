"""Where tmux servers listen, found out without starting tmux."""

import os
import socket
import stat
from contextlib import suppress
from pathlib import Path

from pro0.model.runtime import Handle
from pro0.sessions.backend import Place


class Terminal:
    """The tmux that a person is in, from the value of TMUX: "socket,server pid,session number"."""

    def __init__(self, value: str) -> None:
        self.socket, _, rest = value.partition(",")
        self.server_pid, _, session = rest.partition(",")
        self.session = f"${session}"


def own_name(place: Place) -> str:
    """Return the name of a team's own server: short, since a socket's path has at most 107 bytes."""
    return name_of(place.uid)


def name_of(uid: str) -> str:
    """Return the name of the own server of the team with this uid."""
    return f"pro0-{uid[:8]}"


def folder() -> Path:
    """Return where the servers listen that this process would start."""
    return Path(os.environ.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}"


def own_socket(place: Place) -> str:
    """Return where a team's own server listens: below its TMUX_TMPDIR when that is there, else below /tmp."""
    for base in (place.sockets or os.environ.get("TMUX_TMPDIR", ""), "/tmp"):
        with suppress(OSError):
            if base:
                return str(Path(base).resolve(strict=True) / f"tmux-{os.getuid()}" / own_name(place))
    return ""


def team_socket(place: Place) -> str:
    """Return the socket of the server that shows a team: the person's, or its own."""
    return Terminal(place.inside_tmux).socket if place.inside_tmux else own_socket(place)


def watch(place: Place, handle: Handle) -> tuple[str, ...]:
    """Return how this terminal comes to see a pane: by attaching, or by switching when it is inside that server."""
    here = os.environ.get("TMUX", "")
    if here and Terminal(here).socket == handle.socket:
        return ("tmux", "-S", handle.socket, "switch-client", "-t", handle.pane)
    # tmux refuses to attach from inside another tmux, unless TMUX is not set.
    tmux = ("env", "-u", "TMUX", "tmux") if here else ("tmux",)
    if handle.socket == own_socket(place):
        return (*tmux, "-S", handle.socket, "attach-session", "-t", f"={place.team}")
    pane = ("-t", handle.pane)
    return (*tmux, "-S", handle.socket, "select-window", *pane, ";", "attach-session", *pane)


def listening(path: str) -> bool:
    """Tell whether a server holds this socket; one that is stopped still does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.setblocking(False)
        try:
            client.connect(path)
        except (BlockingIOError, PermissionError):
            return True
        except OSError:
            return False
        return True


def remove(path: str) -> None:
    """Remove the socket, and its lock, that a killed server left behind; nothing that is not a socket."""
    with suppress(FileNotFoundError):
        if stat.S_ISSOCK(Path(path).lstat().st_mode):
            Path(path).unlink()
    with suppress(FileNotFoundError):
        Path(f"{path}.lock").unlink()
