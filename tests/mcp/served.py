"""One server process, and what is said to it and heard from it."""

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.waiting import STUCK

PATIENCE = STUCK
"""Seconds: the machine may be busy with something else."""
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "a test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def program(*options: str) -> list[str]:
    """The argv of a server; options are those of Python."""
    return [sys.executable, *options, "-c", "import sys; from pro0.cli.main import entry; sys.exit(entry())", "mcp"]


class Served:
    """A server for one client."""

    def __init__(self, folder: Path, options: tuple[str, ...] = (), variables: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            program(*options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=os.environ | dict(variables or {}),
        )
        assert self.process.stdin
        assert self.process.stdout
        self._in, self._out = self.process.stdin, self.process.stdout
        self._rest = b""
        self._last = 0

    def open(self, version: str = "2025-11-25") -> "Served":
        """Do the handshake."""
        client = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}}
        assert self.ask("initialize", client)["result"]["protocolVersion"] == version
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def say(self, message: object) -> None:
        """Send one message, or bytes as they are."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self._in.write(data)
        self._in.flush()

    def request(self, method: str, params: object = None) -> int:
        """Send a request and return its id."""
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method}
        self.say(message | ({} if params is None else {"params": params}))
        return self._last

    def ask(self, method: str, params: object = None) -> Any:
        """Send a request and return its response, which is the next line."""
        id = self.request(method, params)
        heard = self.hear()
        assert heard["id"] == id
        return heard

    def call(self, tool: str, **arguments: object) -> Any:
        """Call a tool of the older era and return its result."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]

    def hear(self) -> Any:
        """Return the next message; anything else on stdout fails."""
        return json.loads(self.line())

    def line(self) -> bytes:
        """Return the next line."""
        deadline = time.monotonic() + PATIENCE
        with selectors.DefaultSelector() as selector:
            selector.register(self._out, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                assert selector.select(max(0.0, deadline - time.monotonic())), f"nothing heard, after {self._rest!r}"
                data = os.read(self._out.fileno(), 65536)
                assert data, f"the server has ended: {self.errors()}"
                self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def close(self) -> int:
        """End the input, as clients do, and return the exit code."""
        self._in.close()
        return self.process.wait(PATIENCE)

    def rest(self) -> bytes:
        """Return what is left on stdout of a server that has ended."""
        return self._rest + self._out.read()

    def errors(self) -> str:
        """Return what a server that ends has said on stderr."""
        assert self.process.stderr
        return self.process.stderr.read().decode()

    def kill(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                with suppress(BrokenPipeError):
                    stream.close()
