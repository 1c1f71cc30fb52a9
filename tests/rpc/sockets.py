"""A client of a socket that is not ours: lines of JSON, sent and heard."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.waiting import STUCK

ASK = """
import json, socket, sys
path, *calls = sys.argv[1:]
with socket.socket(socket.AF_UNIX) as s:
    s.connect(path)
    f = s.makefile("rwb")
    for call in calls:
        f.write(call.encode() + b"\\n")
        f.flush()
        print(f.readline().decode().strip(), flush=True)
"""
"""A program that sends each of its arguments and prints the answers."""


class Wire:
    """One connection."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(STUCK)
        try:
            self.socket.connect(str(path))
        except OSError:
            self.socket.close()
            raise
        self._rest = b""
        self._last = 0

    def say(self, message: object) -> None:
        """Send one message, or bytes as they are."""
        self.socket.sendall(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")

    def request(self, method: str, params: object = None, id: object = None) -> object:
        """Send a request and return its id."""
        self._last += 1
        key = self._last if id is None else id
        message = {"jsonrpc": "2.0", "id": key, "method": method}
        self.say(message | ({} if params is None else {"params": params}))
        return key

    def hear(self) -> Any:
        """Return the next message; raises EOFError when the other side has gone."""
        while b"\n" not in self._rest:
            data = self.socket.recv(65536)
            if not data:
                raise EOFError(self._rest)
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def ask(self, method: str, params: object = None) -> Any:
        """Send a request and return its response; what is told in between is passed over."""
        key = self.request(method, params)
        deadline = time.monotonic() + STUCK
        while time.monotonic() < deadline:
            heard = self.hear()
            if heard.get("id") == key and "method" not in heard:
                return heard
        raise AssertionError(f"no answer to {method}")

    def result(self, method: str, params: object = None) -> Any:
        """Return the result of a request."""
        heard = self.ask(method, params)
        assert "result" in heard, heard
        return heard["result"]

    def told(self) -> Any:
        """Return the params of the next notification."""
        while "method" not in (heard := self.hear()):
            pass
        return heard["params"]

    def rest(self) -> Iterator[Any]:
        """Yield the messages until the other side has gone."""
        try:
            while True:
                yield self.hear()
        except (EOFError, ConnectionError):
            return

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it."""
        self.socket.close()
