"""A stand-in for the codex program: its app server, and a terminal program that tells how it was started.

`codex_program.py app-server --listen unix://PATH` serves one thread; with MODE=old it knows no such words, with
MODE=older no `--no-daemon` either, with MODE="as before" it resumes a thread with what that was permitted before.
"""

import base64
import hashlib
import json
import os
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
REQUEST = {"turnId": "t1", "itemId": "call_1", "command": "touch a", "cwd": "/shop", "reason": "May I?"}


class Connection:
    """One client, by the server's side of RFC 6455; each message goes out in two frames, after a ping."""

    def __init__(self, peer: socket.socket) -> None:
        self.peer, self.file = peer, peer.makefile("rb")
        head = b""
        while line := self.file.readline().strip():
            head += line + b"\n"
        (key,) = [line.split(b": ")[1] for line in head.split(b"\n") if line.startswith(b"Sec-WebSocket-Key")]
        accept = base64.b64encode(hashlib.sha1(key + GUID).digest())
        peer.sendall(b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n")

    def read(self) -> bytes | None:
        """Return the next text, None at the end."""
        while True:
            head = self.file.read(2)
            if len(head) < 2:
                return None
            size = head[1] & 0x7F
            if size > 125:
                width = 2 if size == 126 else 8
                size = int.from_bytes(self.file.read(width), "big")
            mask, data = self.file.read(4), self.file.read(size)
            if head[0] & 15 == 1:
                return bytes(byte ^ mask[n % 4] for n, byte in enumerate(data))

    def write(self, data: bytes) -> None:
        """Send a text."""
        half = len(data) // 2
        self._frame(0x89, b"still there?")
        self._frame(0x01, data[:half])
        self._frame(0x80, data[half:])

    def _frame(self, first: int, data: bytes) -> None:
        size = len(data)
        length = bytes([size]) if size < 126 else struct.pack("!BH", 126, size)
        self.peer.sendall(bytes([first]) + (length if size < 1 << 16 else struct.pack("!BQ", 127, size)) + data)


class Server:
    """An app server with one thread beside what `threads` adds to it, by id.

    `said` are the texts of its turns, `told` the threads of these, `decisions` the answers it took.
    """

    def __init__(self, *, asks: bool = False, **request: Any) -> None:
        self.asks, self.request = asks, REQUEST | request
        self.works = False
        self.threads: dict[str, dict[str, Any]] = {"side": {"ephemeral": True}, "main": {}}
        self.said: list[str] = []
        self.told: list[str] = []
        self.decisions: list[str] = []
        self.method = "item/commandExecution/requestApproval"
        self.sandbox, self.policy, self.obeys = "readOnly", "never", True

    def listen(self, path: str) -> None:
        """Let clients come."""
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()

    def serve(self) -> None:
        """Take clients until the listener is shut down."""
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(peer,), daemon=True).start()

    @contextmanager
    def serving(self, path: str) -> Iterator[None]:
        """Serve in a thread of this process."""
        self.listen(path)
        thread = threading.Thread(target=self.serve)
        thread.start()
        yield
        # A close alone wakes no thread that accepts, and one that accepts later would fail, or take another's socket.
        self.listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        self.listener.close()

    def _talk(self, peer: socket.socket) -> None:
        with peer:
            try:
                connection = Connection(peer)
                while (text := connection.read()) is not None:
                    for answer in self.answers(json.loads(text)):
                        connection.write(json.dumps(answer).encode())
            except (OSError, ValueError):
                return

    def answers(self, message: dict[str, Any]) -> list[dict[str, Any]]:
        """Return what is sent for a message."""
        news = [{"method": "configWarning", "params": {"summary": "ünïcode ✳"}}]
        if "method" not in message:
            self.decisions.append(message["result"]["decision"])
            self.asks = False
            return [{"method": "serverRequest/resolved", "params": {"requestId": message["id"]}}]
        if "id" not in message:
            return []
        method, params = message["method"], message.get("params") or {}
        id = params.get("threadId", "")
        status = {
            "type": "active" if self.asks or self.works else "idle",
            "activeFlags": ["waitingOnApproval"] if self.asks else [],
        }
        read = {"id": id, "source": "vscode", "status": status, **self.threads.get(id, {})}
        results: dict[str, Any] = {
            "initialize": {"userAgent": "codex"},
            "thread/loaded/list": {"data": [*self.threads]},
            "thread/read": {"thread": read},
            "thread/resume": {"thread": {}, "sandbox": {"type": self.sandbox}, "approvalPolicy": self.policy},
            "thread/items/list": {"data": [{"item": {"id": "call_1", "changes": [{"path": "a", "diff": "+x"}]}}]},
            "turn/start": {"turn": {"id": "t2"}},
        }
        if method == "thread/resume" and self.obeys and "sandbox" in params:
            first, *others = params["sandbox"].split("-")
            self.sandbox, self.policy = first + "".join(map(str.title, others)), params["approvalPolicy"]
            return self.answers({**message, "params": {}})
        if method == "turn/start":
            if id not in self.threads:
                return [{"id": message["id"], "error": {"code": -32600, "message": "thread not found"}}]
            self.said.append(params["input"][0]["text"])
            self.told.append(id)
        asked = [{"id": 0, "method": self.method, "params": self.request}]
        answer = {"id": message["id"], "result": results[method]}
        return [*news, answer, *(asked if method == "thread/resume" and self.asks else [])]


def main(words: list[str], mode: str) -> None:
    """Be the program."""
    if words[:1] == ["app-server"]:
        if mode.startswith("old"):
            sys.exit("error: unexpected argument '--listen' found")
        server = Server()
        server.obeys = mode != "as before"
        server.listen(words[2].removeprefix("unix://"))
        server.serve()
    if words == ["--help"]:
        print("  --remote ADDRESS", *["  --no-daemon"] * (mode != "older"), sep="\n")
        return
    if mode == "older" and "--no-daemon" in words:
        sys.exit("error: unexpected argument '--no-daemon' found")
    shown = Path(os.environ["SHOWN"])
    shown.with_suffix(".new").write_text(json.dumps([os.getpid(), words]))
    shown.with_suffix(".new").rename(shown)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1:], os.environ.get("MODE", ""))
