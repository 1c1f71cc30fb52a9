"""Let a warm process carry out a short command: the same program in a process that has all modules loaded.

It gets this process's streams, folder, environment and identity, so nobody sees a difference. If anything fails before
the work has begun, this process does the work itself.
"""

import os
import sys
from _socket import AF_UNIX, SCM_RIGHTS, SO_PEERCRED, SOCK_STREAM, SOL_SOCKET, socket

import pro0
from pro0 import __version__

SOCKET = "warm.sock"
"""The name of the socket in the folder of a team."""
DIRECT = "PRO0_DIRECT"
"""The variable that makes a command do its work itself, without a warm process."""
READY, GO = b"+", b"g"
"""The warm process is ready; the command agrees. No work begins before both."""
DONE, YOURS = b"d", b"y"
"""The answers: done, followed by the exit code; or nothing done, since only the command's own process can do it."""
SIZE = 4
"""The bytes of a number on the socket."""
STREAMS = 3
PATIENCE = 2.0
"""Seconds until the warm process must be ready; if it is not by then, it never begins the work."""
CUT_OFF = """pro0: the process that ran this command was killed: all of it is done, or nothing
hint: check before you repeat it
"""
KILLED = 137
_CREDENTIALS = 12


def call(arguments: list[str]) -> int | None:
    """Let a warm process carry out a command, and return its exit code, or None when nothing was done."""
    try:
        home = os.environ.get("PRO0_HOME") or os.environ["HOME"] + "/.pro0"
        if os.environ.get(DIRECT) or sys.warnoptions or sys.flags.dev_mode or not _plain():
            return None
        teams = os.listdir(home + "/teams")
    except (KeyError, OSError):
        return None
    own = os.environ.get("PRO0_TEAM")
    for team in [own, *teams] if own in teams else teams:
        if server := _connected(f"{home}/teams/{team}"):
            try:
                return _done_by(server, arguments)
            finally:
                server.close()
    return None


def stamp() -> bytes:
    """Return the identity of this installation: its version, path and time of installation."""
    return f"{__version__} {pro0.__file__} {os.stat(pro0.__file__).st_mtime_ns}".encode(errors="surrogateescape")


def _plain() -> bool:
    """Return True when all three streams are open, and they and the file system use UTF-8."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return sys.getfilesystemencoding() == "utf-8" and all(one and one.encoding.lower() == "utf-8" for one in streams)


def _connected(folder: str) -> socket | None:
    try:
        descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    server = socket(AF_UNIX, SOCK_STREAM)
    try:
        server.settimeout(PATIENCE)
        server.connect(f"/proc/self/fd/{descriptor}/{SOCKET}")  # always short enough
        peer = server.getsockopt(SOL_SOCKET, SO_PEERCRED, _CREDENTIALS)
        if int.from_bytes(peer[4:8], sys.byteorder) == os.geteuid():
            return server
    except OSError:
        pass
    finally:
        os.close(descriptor)
    server.close()
    return None


def _done_by(server: socket, arguments: list[str]) -> int | None:
    try:
        server.sendall(_wish(arguments))
        if server.recv(1) != READY:
            return None
        server.settimeout(None)
        _let_go_on(server)
    except OSError:
        return None  # without agreement no work begins
    try:
        answer = server.recv(2)
    except OSError:
        answer = b""
    if answer == YOURS:
        return None
    if answer[:1] != DONE:
        sys.stderr.write(CUT_OFF)
        return KILLED
    return answer[1]


def _wish(arguments: list[str]) -> bytes:
    words = [
        stamp(),
        str(sys.stdin.errors).encode(),
        str(len(arguments)).encode(),
        *map(os.fsencode, arguments),
        *(name + b"=" + value for name, value in os.environb.items()),
    ]
    text = b"\0".join(words)
    return len(text).to_bytes(SIZE, "big") + text


def _let_go_on(server: socket) -> None:
    """Agree, and hand over the streams and the folder: not earlier, as streams never taken would keep a pipe open."""
    here = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        descriptors = b"".join(number.to_bytes(SIZE, sys.byteorder) for number in (*range(STREAMS), here))
        server.sendmsg([GO], [(SOL_SOCKET, SCM_RIGHTS, descriptors)])
    finally:
        os.close(here)
