"""Start Codex with a server of its own, or without one if the server does not come up.

`python -I -S .../starter.py FOLDER CODEX WORDS ...`: the server's command, and that of the terminal program as its
client, are in a file of the folder; CODEX WORDS start a codex without a server. The server belongs to the session's
guard. This process becomes the terminal program; it imports nothing of pro0.
"""

import json
import os
import select
import signal
import socket
import sys
import time

FILE = "server.json"
"""The file in the session's folder: the server's socket and command, its client's command, and one to run before."""
SOCKET = "codex.sock"
"""The server's socket in that folder; the words of server and client name it."""
ALONE = "--no-daemon"
"""Versions before 0.169 start no server by themselves, and do not take this word."""
COMES_UP = 20.0
"""Seconds for the server to accept connections."""
_PAUSE = 0.02
_SERVES = b"1"
_MISSING = 127


def command(folder: str) -> tuple[str, ...]:
    """Return the words before those of the terminal program."""
    return (sys.executable, "-I", "-S", __file__, folder)


def main(folder: str, words: list[str]) -> int:
    """Become the terminal program; returns only when it cannot be started."""
    with open(os.path.join(folder, FILE), encoding="utf-8") as file:  # noqa: PTH118 - pathlib costs 5 ms
        settings = json.load(file)
    if _serves(settings["argv"], settings["socket"], settings.get("before")):
        words = settings["client"]
    elif ALONE in words and not _takes(words[0], ALONE):
        words.remove(ALONE)
    try:
        os.execvp(words[0], words)
    except OSError as error:
        sys.stderr.write(f"cannot start {words[0]}: {error.strerror}\n")
    return _MISSING


def _serves(argv: list[str], path: str, before: list[str] | None) -> bool:
    """Start the server and wait until it is ready for its client; return False when it ends or takes too long."""
    here, there = os.pipe()
    keeper = os.fork()
    if not keeper:
        os.close(there)
        _keep(argv, here)
    os.close(here)
    deadline = time.monotonic() + COMES_UP
    while time.monotonic() < deadline and not os.waitpid(keeper, os.WNOHANG)[0]:
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(os.path.realpath(path))  # the server makes a link to a shorter path
            except OSError:
                time.sleep(_PAUSE)
            else:
                if before and not _succeeds(before):
                    break
                os.write(there, _SERVES)
                return True
    os.close(there)
    return False


def _takes(program: str, option: str) -> bool:
    """Return False only when the program prints its help without this option."""
    import subprocess  # late: a codex with a server needs none of it

    try:
        answer = subprocess.run([program, "--help"], stdin=subprocess.DEVNULL, capture_output=True, timeout=COMES_UP)
    except (OSError, subprocess.TimeoutExpired):
        return True
    return answer.returncode != 0 or option.encode() in answer.stdout


def _succeeds(argv: list[str]) -> bool:
    child = os.fork()
    if not child:
        _silence()
        _become(argv)
    return os.waitpid(child, 0)[1] == 0


def _keep(argv: list[str], serves: int) -> None:
    """Run the server; once it ends, end the terminal program too, which cannot work without it."""
    client = os.getppid()
    _silence()
    server = os.fork()
    if not server:
        _become(argv)
    while not select.select([serves], [], [], _PAUSE)[0]:
        if os.waitpid(server, os.WNOHANG)[0]:
            os._exit(0)
    wanted = os.read(serves, 1) == _SERVES
    if not wanted:
        os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
    if wanted and client == os.getppid():
        os.kill(client, signal.SIGTERM)
    os._exit(0)


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def _become(argv: list[str]) -> None:
    try:
        os.execvp(argv[0], argv)
    finally:
        os._exit(_MISSING)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
