"""The sockets of tmux servers, found without starting tmux."""

import os
import socket
import stat
from contextlib import suppress
from pathlib import Path

from pro0.model.runtime import Handle
from pro0.sessions.backend import Place
from pro0.sessions.tmux.script import Command, line
from pro0.terminals.colours import is_deep


class SurroundingTmux:
    """The person's surrounding tmux, from the value of TMUX: "socket,server pid,session number"."""

    def __init__(self, value: str) -> None:
        self.socket, self.server_pid, session = (*value.rsplit(",", 2), "", "")[:3]
        self.session = f"${session}"


def own_name(place: Place) -> str:
    """Return the name of a team's own server: short, since a socket's path has at most 107 bytes."""
    return name_of(place.uid)


def name_of(uid: str) -> str:
    """Return the name of a team's own server, by the team's uid."""
    return f"pro0-{uid[:8]}"


def folder() -> Path:
    """Return the socket folder of servers started by this process."""
    return Path(os.environ.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}"


def own_socket(place: Place) -> str:
    """Return the socket of a team's own server: below its TMUX_TMPDIR when that exists, else below /tmp."""
    for base in (place.sockets or os.environ.get("TMUX_TMPDIR", ""), "/tmp"):
        with suppress(OSError):
            if base:
                return str(Path(base).resolve(strict=True) / f"tmux-{os.getuid()}" / own_name(place))
    return ""


def team_socket(place: Place) -> str:
    """Return the socket of the team's server: the person's, or the team's own."""
    return SurroundingTmux(place.inside_tmux).socket if place.inside_tmux else own_socket(place)


def watch(place: Place, handle: Handle) -> tuple[str, ...]:
    """Return the command to show a pane in this terminal: attach, or switch when inside that server."""
    surrounding = os.environ.get("TMUX", "")
    if surrounding and SurroundingTmux(surrounding).socket == handle.socket:
        return ("tmux", "-S", handle.socket, "switch-client", "-t", handle.pane)
    # tmux refuses to attach from inside another tmux, unless TMUX is not set.
    tmux = ("env", "-u", "TMUX", "tmux") if surrounding else ("tmux",)
    pane = ("-t", handle.pane)
    to_pane: tuple[Command, Command] = (("select-window", *pane), ("attach-session", *pane))
    if handle.socket == own_socket(place):
        to_team: Command = ("attach-session", "-t", f"={place.team}")
        return (
            *tmux,
            *_features(),
            "-S",
            handle.socket,
            "if-shell",
            "-F",
            *pane,
            _renamed(place.team),
            line(*to_pane),
            line(to_team),
        )
    return (*tmux, "-S", handle.socket, *to_pane[0], ";", *to_pane[1])


def _features() -> tuple[str, ...]:
    """Return the options that give this terminal 24-bit colours and shaped underlines, if it has them."""
    if not is_deep(os.environ):
        return ()
    # Terminal.app shows black bars for underlines with a shape, also where it has the colours.
    return ("-T", "RGB" if os.environ.get("TERM_PROGRAM") == "Apple_Terminal" else "RGB,usstyle")


def _renamed(team: str) -> str:
    """Return the condition "a person has renamed the session of this pane"; without the pane it is false."""
    return f"#{{&&:#{{!=:#{{session_name}},}},#{{!=:#{{session_name}},{team}}}}}"


def listening(path: str) -> bool:
    """Return True while a server holds this socket; a stopped server holds it too."""
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
    """Remove a killed server's socket and its lock; nothing but a socket."""
    with suppress(FileNotFoundError):
        if stat.S_ISSOCK(Path(path).lstat().st_mode):
            Path(path).unlink()
    with suppress(FileNotFoundError):
        Path(f"{path}.lock").unlink()
