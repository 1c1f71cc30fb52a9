"""A command of pro0 below an agent that another machine's team has here: it is done at home, once.

The command waits while home is out of reach, and asks again by the same id.
"""

import os
import select
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from pro0.errors import Refused
from pro0.link.streams import ANSWER, ASK, TAKEN
from pro0.store import paths
from pro0.terminals import address, protocol

AGAIN = 0.2
"""Seconds between two tries."""
LOOK = 0.5
"""Seconds between two looks whether the answer is still wanted."""
SILENT = 5.0
"""Seconds until it says that it waits."""
CONFINED = "a sandbox keeps this command from its team; run it again outside of the sandbox"
OVER = "it is over"
INPUT = 1 << 20
"""Bytes that are read from stdin."""

Answer = dict[str, object]


def call_home(folder: str, words: list[str]) -> int:
    """Let home do a command; print what it printed, and return its exit code."""
    stdin = sys.stdin.buffer.read(INPUT + 1) if "-" in words else b""
    if len(stdin) > INPUT:
        return _refused(f"stdin holds more than {INPUT} bytes")
    answer = ask_home(folder, words, stdin.decode(errors="surrogateescape"), _print)
    code = answer.get("code")
    return code if isinstance(code, int) else 1


def ask_home(
    folder: str,
    words: list[str],
    given: str,
    use: Callable[[Answer], bool] = lambda _answer: True,
    is_over: Callable[[], bool] | None = None,
) -> Answer:
    """Let home do a command with this on stdin; return {code, out, errors}.

    `use` is given the answer first, and says whether it took it: mail in it is handed out again when it did not, or
    when this process ends before that. `is_over` is asked now and then, and ends it without an answer.
    """
    id = os.urandom(16).hex()
    message = protocol.packed(ASK, {"id": id, "words": words, "input": given})
    began, told = time.monotonic(), False
    while True:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            if answer := _asked(connection, f"{folder}/{paths.HOSTED_SOCKET}", message, is_over):
                if use(answer):
                    if answer.get("held"):
                        _note_taken(folder, id)
                    with suppress(OSError):  # cut off now: the next connection passes on what is noted
                        connection.sendall(protocol.packed(TAKEN, {"id": id}))
                return answer
        if is_over and is_over():
            return _as_refused(OVER)
        if os.path.exists(f"{folder}/{paths.HOSTED_OVER}") or not os.path.isdir(folder):  # noqa: PTH110, PTH112
            use(over := _as_refused("this session is over"))
            return over
        if not told and time.monotonic() - began > SILENT:
            told = True
            sys.stderr.write("pro0: home is out of reach; this waits until it is back\n")
            sys.stderr.flush()
        time.sleep(AGAIN)


def _note_taken(folder: str, id: str) -> None:
    """Note that mail is here: what is sent to home now may be lost, and then home would hand it out again."""
    with suppress(OSError):  # a full disk: then it is told once
        os.makedirs(f"{folder}/{paths.HOSTED_TAKEN}", mode=0o700, exist_ok=True)  # noqa: PTH103
        os.close(os.open(f"{folder}/{paths.HOSTED_TAKEN}/{id}", os.O_CREAT | os.O_WRONLY, 0o600))


def _print(answer: Answer) -> bool:
    for stream, name in ((sys.stdout, "out"), (sys.stderr, "errors")):
        stream.flush()
        stream.buffer.write(str(answer.get(name, "")).encode(errors="surrogateescape"))
        stream.flush()
    return True


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
    """Return what has arrived; nothing when the other end is closed, or nobody wants it any more."""
    while is_over and not select.select([connection], [], [], LOOK)[0]:
        if is_over():
            return b""
    return connection.recv(1 << 16)


def _as_refused(why: str) -> Answer:
    return {"code": Refused.exit_code, "out": "", "errors": f"pro0: {why}\n"}


def _refused(why: str) -> int:
    sys.stderr.write(f"pro0: {why}\n")
    return Refused.exit_code
