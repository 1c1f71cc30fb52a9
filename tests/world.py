"""Everything that a team may touch, as one mapping, so that before and after can be compared."""

import hashlib
import os
import re
import stat
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from tests.leftovers import Left, processes_under

PANES = (
    "#{session_name} #{session_id} #{window_id} #{window_index} #{window_name} #{window_active} #{window_layout} "
    "#{pane_id} #{pane_index} #{pane_active} #{pane_pid} #{pane_title} #{pane_current_command} #{pane_in_mode}"
)

World = dict[str, str]


def world(*folders: Path, repository: Path | None = None) -> World:
    """Return what there is: files below these folders, processes whose homes lie there, their ports, tmux, git."""
    left = processes_under(*folders)
    found = dict(files(*folders))
    found |= {f"process {one.process.pid}": " ".join(one.argv) for one in left}
    found |= dict(_ports(left))
    found |= dict(_servers(folders))
    if repository:
        found |= dict(_git(repository))
    return found


def changes(before: World, after: World) -> list[str]:
    """Return what is new, gone or another, one line each."""
    lines = []
    for what in sorted(before.keys() | after.keys()):
        was, now = before.get(what), after.get(what)
        if was != now:
            lines.append(f"{what}: {was if was is not None else 'nothing'} -> {now if now is not None else 'nothing'}")
    return lines


def files(*folders: Path, but: re.Pattern[str] | None = None) -> Iterator[tuple[str, str]]:
    """Yield every file, link and folder below these folders, with its mode and a digest of its content.

    Of a path in which `but` is found nothing is read.
    """
    for folder in folders:
        for path in (folder, *sorted(folder.rglob("*"))):
            if but and but.search(str(path)):
                continue
            with suppress(FileNotFoundError):
                status = path.lstat()
                yield f"file {path}", f"{stat.filemode(status.st_mode)} {_content(path, status.st_mode)}"


def _content(path: Path, mode: int) -> str:
    if stat.S_ISLNK(mode):
        return os.readlink(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if stat.S_ISREG(mode) else ""


def _ports(left: Iterable[Left]) -> Iterator[tuple[str, str]]:
    for one in left:
        with suppress(psutil.Error):
            for connection in one.process.net_connections("inet"):
                if connection.status == psutil.CONN_LISTEN:
                    yield f"port {connection.laddr.port}", " ".join(one.argv)


def _servers(folders: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Yield every pane and paste buffer of the tmux servers whose sockets lie there."""
    for folder in folders:
        for socket in sorted(folder.rglob("tmux-*/*")):
            if socket.is_socket():
                for command, key in ((("list-panes", "-a", "-F", PANES), "panes"), (("list-buffers",), "buffers")):
                    done = subprocess.run(["tmux", "-S", str(socket), *command], capture_output=True, text=True)
                    yield f"{key} of {socket.name}", done.stdout + done.stderr


def _git(repository: Path) -> Iterator[tuple[str, str]]:
    for command in (("for-each-ref",), ("worktree", "list", "--porcelain"), ("status", "--porcelain")):
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(repository), *command], check=True, capture_output=True, text=True
        )
        yield f"git {command[0]}", done.stdout
