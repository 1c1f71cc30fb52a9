"""A command of pro0 below an agent that works here for another machine's team: it is done at home, once.

The command waits while home is out of reach, and asks again by the same id.
"""

import os
import select
import socket
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress

from pro0.errors import Refused, unread
from pro0.link.streams import ANSWER, ASK, ASK_LIMIT, TAKEN
from pro0.store import paths
from pro0.terminals import address, protocol

AGAIN = 0.2
"""Seconds between two tries."""
LOOK = 0.5
"""Seconds between two looks whether the answer is still wanted."""
SILENT = 5.0
"""Seconds until the command says that it waits."""
CONFINED = "a sandbox keeps this command from reaching its team; run it again outside the sandbox"
OVER = "it is over"
INPUT = 1 << 20
"""The most bytes of stdin."""

Answer = dict[str, object]


def call_home(folder: str, words: list[str]) -> int:
    """Let home do a command; print what it printed, and return its exit code."""
    try:
        stdin = sys.stdin.buffer.read(INPUT + 1) if "-" in words and sys.stdin else b""
    except OSError as error:
        problem = unread(error)
        _say(f"{problem.message}\nhint: {problem.hint}")
        return problem.exit_code
    if len(stdin) > INPUT:
        return _refused(f"stdin holds more than {INPUT} bytes")
    printed = []

    def show(answer: Answer) -> bool:
        printed.append(_print(answer))
        return printed[-1]

    code = ask_home(folder, words, stdin.decode(errors="surrogateescape"), show).get("code")
    return code if isinstance(code, int) and all(printed) else 1


def ask_home(
    folder: str,
    words: list[str],
    given: str,
    use: Callable[[Answer], bool] = lambda _answer: True,
    is_over: Callable[[], bool] | None = None,
) -> Answer:
    """Let home do a command with this on stdin; return {code, out, errors}.

    `use` is called with the answer, and returns True when it took the answer. When it did not, or when this process
    ends before, mail in the answer is handed out again. `is_over` is called now and then, and ends the wait without an
    answer.
    """
    id = os.urandom(16).hex()
    message = protocol.packed(ASK, {"id": id, "words": words, "input": given})
    if len(message) > ASK_LIMIT:  # nobody would take it, so it would be sent again and again
        use(too_long := _as_refused(f"a command of more than {ASK_LIMIT} bytes is too long"))
        return too_long
    began, told = time.monotonic(), False
    while True:
        with _socket() or nullcontext() as connection:
            path = f"{folder}/{paths.HOSTED_SOCKET}"
            if connection and (answer := _asked(connection, path, message, is_over)):
                if use(answer):
                    if answer.get("held"):
                        _note_taken(folder, id)
                    with suppress(OSError):  # if it is cut off now, the next connection sends the note
                        connection.sendall(protocol.packed(TAKEN, {"id": id}))
                return answer
        if is_over and is_over():
            return _as_refused(OVER)
        if _has_ended(folder):
            use(over := _as_refused("this session is over"))
            return over
        if not told and time.monotonic() - began > SILENT:
            told = True
            _say("the team's machine is out of reach; this command waits until it is back")
        time.sleep(AGAIN)


def _has_ended(folder: str) -> bool:
    """Return True when a session is certainly over: its end is noted, or its home has no folder of it."""
    if os.path.exists(f"{folder}/{paths.HOSTED_OVER}"):  # noqa: PTH110
        return True
    hosts, name = os.path.split(folder)
    with suppress(OSError):  # a home that is away or unreadable does not prove an end
        home = os.open(hosts, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.stat(name, dir_fd=home)  # in that very folder: a home may come back between two looks
        except FileNotFoundError:
            return True
        finally:
            os.close(home)
    return False


def _note_taken(folder: str, id: str) -> None:
    """Note that the answer is here: if the message to home is lost, home would count the answer as not given."""
    with suppress(OSError):  # a full disk: then the answer is confirmed only once
        os.close(os.open(f"{folder}/{paths.HOSTED_TAKEN}{id}", os.O_CREAT | os.O_WRONLY, 0o600))


def _print(answer: Answer) -> bool:
    """Print an answer to the standard streams that are open; False when it could not be printed completely."""
    try:
        for stream, name in ((sys.stdout or sys.stderr, "out"), (sys.stderr, "errors")):
            data = str(answer.get(name, "")).encode(errors="surrogateescape") if stream else b""
            while data:  # leave nothing in the stream's buffer: at exit Python would print an error for it
                data = data[os.write(stream.fileno(), data) :]
    except BrokenPipeError:
        return False
    except OSError as error:
        _say(f"the output cannot be written: {error.strerror}")
        return False
    return True


def _socket() -> socket.socket | None:
    """Return a socket, None while no descriptor is free for one."""
    with suppress(OSError):
        return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    return None


def _asked(
    connection: socket.socket, path: str, message: bytes, is_over: Callable[[], bool] | None = None
) -> Answer | None:
    """Return the answer, None when there is nobody to ask now."""
    inbox = protocol.MessageReader(protocol.FRAME_LIMIT)
    try:
        with address.reachable(path) as short:
            connection.connect(short)
        connection.sendall(message)
        while data := _received(connection, is_over):
            for kind, payload in inbox.take(data):
                if kind == ANSWER:
                    return protocol.unpacked(payload)
    except PermissionError:
        return _as_refused(CONFINED)
    except (OSError, protocol.Broken):
        pass
    return None


def _received(connection: socket.socket, is_over: Callable[[], bool] | None) -> bytes:
    """Return the next bytes; none when the other end is closed, or when `is_over`."""
    while is_over and not select.select([connection], [], [], LOOK)[0]:
        if is_over():
            return b""
    return connection.recv(1 << 16)


def _as_refused(why: str) -> Answer:
    return {"code": Refused.exit_code, "out": "", "errors": f"pro0: {why}\n"}


def _refused(why: str) -> int:
    _say(why)
    return Refused.exit_code


def _say(text: str) -> None:
    with suppress(OSError):  # stderr may be on a full disk, or closed
        if sys.stderr:
            os.write(sys.stderr.fileno(), f"pro0: {text}\n".encode())
