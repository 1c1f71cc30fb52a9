"""An agent's terminal without tmux: always drained, remembered as a screen, served on a socket.

The terminal has its own thread, so no other work of a guard keeps a printing agent waiting. This module is loaded only
for a launch with a terminal. A viewer is a client; clients may come, go and die.
"""

import math
import os
import re
import select
import socket
import sys
import threading
import time
from collections.abc import Callable

from pro0.guard.client import Client, Frame, Gone, size_of
from pro0.guard.launch import Terminal as Wanted
from pro0.guard.pty import Pty
from pro0.terminals import address, protocol
from pro0.terminals.emulator import Emulator
from pro0.terminals.ghostty import Ghostty

SETTLED = 0.003
"""Seconds to wait for more output before showing it: programs draw in several pieces."""
HELD = 0.2
"""Seconds for a program to hold its drawing back (mode 2026)."""
LAST = 0.5
"""Seconds for the last output, and for clients to read the last frame."""
CLIENTS = 64
CUT = 0.5
"""Seconds without typed bytes that end a paste."""
LAST_LINES = 2000
"""Lines of the screen and its history written to the log at a session's end."""
_HOLD, _BRACKETED = 2026, 2004
_KITTY = re.compile(rb"\x1b\[\?\d+u")
"""An answer about kitty's keyboard protocol, never passed on: keys come as the client's terminal sends them."""


Source = int | socket.socket | Client


class AgentTerminal:
    """The terminal of one guard's agent."""

    def __init__(self, settings: Wanted, incarnation: str) -> None:
        self._pty = Pty(settings.columns, settings.lines)
        self.path = self._pty.path
        self._screen: Emulator = Ghostty(
            settings.library, settings.columns, settings.lines, settings.scrollback, self._answer
        )
        self._size = (settings.columns, settings.lines)
        self._hello = {"version": protocol.VERSION, "incarnation": incarnation, "pid": os.getpid()}
        self._socket = settings.socket
        self._listener = _listening(settings.socket)
        self._stop, self._stopper = os.pipe()
        self._asked, self._asker = os.pipe()
        self._last_output = ""
        self._told = threading.Event()
        self._clients: list[Client] = []
        self._state = 0
        self._shown: tuple[int, list[str], Frame] = (-1, [], {})
        self._settled = self._held = 0.0
        self._typed = -math.inf
        """The time of a person's last typing."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def last_output(self, lines: int, patience: float) -> str:
        """Return the screen's last lines with all output of an ended agent; empty if that takes too long."""
        os.write(self._asker, bytes([lines]))
        return self._last_output if self._told.wait(patience) else ""

    def end(self) -> None:
        """Read the last output, write the screen's end to the log, and leave; call it once no process prints."""
        self._pty.let_go()
        os.close(self._stopper)
        self._thread.join(2 * LAST)
        try:
            os.unlink(self._socket)  # noqa: PTH108
        except OSError:
            pass

    def _run(self) -> None:
        try:
            while self._turn():
                pass
            self._finish()
        except Exception as error:  # noqa: BLE001 - whatever failed here, the agent goes on
            sys.stderr.write(f"pro0 guard: its terminal cannot be shown any more: {type(error).__name__}: {error}\n")
            sys.stderr.flush()
            self._listener.close()
            for client in self._clients:  # a view would go on showing its last frame, and take keys
                client.close()
            # Nobody can watch any more, but an undrained agent would block on its output.
            while not select.select([self._stop], [], [], 0)[0]:
                select.select([self._pty.fileno, self._stop], [], [])
                self._pty.read()

    def _turn(self) -> bool:
        """Wait for the next events and handle them; False when the session is over."""
        asking = [client for client in self._clients if not client.sending]
        sending = [client for client in self._clients if client.sending]
        sources: list[Source] = [self._stop, self._asked, self._pty.fileno, self._listener, *asking]
        sinks: list[Source] = [*([self._pty.fileno] if self._pty.waiting else []), *sending]
        ready, room, _ = select.select(sources, sinks, [], self._patience())
        if self._pty.fileno in room:
            self._pty.write()
        if self._pty.fileno in ready:
            self._drain()
        if self._asked in ready:
            self._tell_last_output(os.read(self._asked, 1)[0])
        if self._listener in ready:
            self._welcome()
        for client in sending:
            if client in room:
                self._with(client, client.flush)
        for client in asking:
            if client in ready:
                self._with(client, self._serve, client)
        self._show()
        return self._stop not in ready

    def _drain(self) -> None:
        data = self._pty.read()
        if data:
            self._screen.feed(data)
            self._changed()

    def _tell_last_output(self, lines: int) -> None:
        deadline = time.monotonic() + LAST  # a survivor may print without end
        while select.select([self._pty.fileno], [], [], 0)[0] and time.monotonic() < deadline:
            self._drain()
        self._last_output = self._screen.text(lines)
        self._told.set()

    def _changed(self) -> None:
        now = time.monotonic()
        if all(client.seen == self._state for client in self._clients if client.watching):
            self._settled = now + SETTLED
        self._state += 1
        self._held = (self._held or now + HELD) if self._screen.mode(_HOLD) else 0.0

    def _due(self, client: Client) -> float:
        return max(client.due, self._settled, self._held)

    def _patience(self) -> float | None:
        """Return the seconds until the next frame is due, or None when none is."""
        waiting = [self._due(client) for client in self._clients if self._lags(client)]
        return max(0.0, min(waiting) - time.monotonic()) if waiting else None

    def _lags(self, client: Client) -> bool:
        return client.watching and not client.sending and client.seen != self._state

    def _show(self) -> None:
        now = time.monotonic()
        for client in [client for client in self._clients if self._lags(client) and self._due(client) <= now]:
            self._with(client, client.show, self._state, *self._drawn(), now)

    def _drawn(self) -> tuple[list[str], Frame]:
        """Return the current rows and the rest of a frame."""
        if self._shown[0] != self._state:
            cursor = self._screen.cursor()
            rest: Frame = {
                "columns": self._size[0],
                "lines": self._size[1],
                "cursor": [cursor.column, cursor.line],
                "visible": cursor.visible,
                "title": self._screen.title(),
                "modes": [number for number in protocol.MODES if self._screen.mode(number)],
                "keys": self._screen.modified_keys(),
            }
            self._shown = (self._state, self._screen.rows(), rest)
        return self._shown[1:]

    def _welcome(self) -> None:
        """Accept a new client of the same user; close any other."""
        try:
            connection, _ = self._listener.accept()
            ours = address.peer(connection) == os.geteuid()
        except OSError:
            return
        if not ours or len(self._clients) >= CLIENTS:
            connection.close()
            return
        client = Client(connection)
        self._clients.append(client)
        self._with(client, client.send, protocol.packed(protocol.HELLO, self._hello))

    def _with(self, client: Client, act: Callable[..., None], *arguments: object) -> None:
        """Act on a client; drop a departed client, or one breaking the protocol."""
        try:
            act(*arguments)
        except (Gone, protocol.Broken):
            client.close()
            self._clients = [viewer for viewer in self._clients if viewer is not client]
            self._fit(size_of(self._clients))

    def _serve(self, client: Client) -> None:
        for kind, payload in client.read():
            self._answer_to(client, kind, payload)

    def _answer_to(self, client: Client, kind: bytes, payload: bytes) -> None:
        match kind:
            case protocol.LOOK:
                rows, rest = self._drawn()
                client.send(protocol.packed(protocol.FRAME, {**rest, "rows": dict(enumerate(rows))}))
            case protocol.WATCH:
                client.views = True
                client.watch(watching=True)
                self._resize(client, payload)
            case protocol.UNWATCH:
                client.watch(watching=False)
                self._fit(size_of(self._clients))
            case protocol.SIZE:
                client.views = True
                self._resize(client, payload)
            case protocol.INPUT:
                self._typed = time.monotonic()
                client.send(protocol.packed(protocol.TAKEN, {"taken": self._put_typed(client, payload)}))
            case protocol.PRESS | protocol.PASTE:
                taken = self._put_when_quiet(
                    protocol.unpacked(payload), self._pasted if kind == protocol.PASTE else bytes
                )
                client.send(protocol.packed(protocol.TAKEN, {"taken": taken}))
            case protocol.FOCUS:
                views = [viewer for viewer in self._clients if viewer.views and viewer is not client]
                for viewer in views:
                    self._with(viewer, viewer.send, protocol.packed(protocol.FOCUS, {}))
                client.send(protocol.packed(protocol.FOCUS, {"told": len(views)}))
            case protocol.TEXT:
                lines = protocol.number(protocol.unpacked(payload), "lines", 1, 1 << 20)
                client.send(protocol.packed(protocol.TEXT, {"text": self._screen.text(lines)}))
            case protocol.HISTORY:
                client.send(protocol.packed(protocol.HISTORY, {"rows": self._screen.history()}))
            case _:
                raise protocol.Broken(f"nothing is called {kind!r}")

    def _put_typed(self, client: Client, data: bytes) -> bool:
        """Put typed bytes in; once refused, refuse the rest of the paste too: a hole would change its meaning."""
        now = time.monotonic()
        taken = now >= client.cut_until and self._pty.put(data)
        if not taken:
            client.cut_until = now + CUT
        return taken

    def _put_when_quiet(self, wish: dict[str, object], form: Callable[[bytes], bytes]) -> bool:
        """Put a text in, unless a person has just typed: the text would be sent with the person's unfinished line."""
        text = protocol.text(wish, "text").encode(errors="replace")
        quiet = protocol.number(wish, "quiet", 0, protocol.LIMIT) / 1000
        return time.monotonic() - self._typed >= quiet and self._pty.put(form(text))

    def _pasted(self, text: bytes) -> bytes:
        return b"\x1b[200~" + text + b"\x1b[201~" if self._screen.mode(_BRACKETED) else text

    def _resize(self, client: Client, payload: bytes) -> None:
        values = protocol.unpacked(payload)
        client.size = protocol.number(values, "columns", 2, 1000), protocol.number(values, "lines", 2, 1000)
        self._fit(client.size if client.watching else size_of(self._clients, client.size))

    def _fit(self, size: tuple[int, int] | None) -> None:
        if size and size != self._size:
            self._size = size
            self._screen.resize(*size)
            self._pty.resize(*size)
            self._changed()

    def _answer(self, answer: bytes) -> None:
        """Pass the terminal's answer to the program."""
        if not _KITTY.fullmatch(answer):
            self._pty.put(answer)

    def _finish(self) -> None:
        # A survivor of the tree's end may still print, so the last output has a deadline.
        deadline = time.monotonic() + LAST
        while select.select([self._pty.fileno], [], [], max(0.0, deadline - time.monotonic()))[0]:
            data = self._pty.read()
            if not data:
                break
            self._screen.feed(data)
            self._changed()
            if time.monotonic() >= deadline:
                break
        self._settled = self._held = 0.0
        for client in self._clients:
            client.due = 0.0
        self._show()
        for client in self._clients:
            client.farewell(LAST / max(1, len(self._clients)))
        self._listener.close()
        os.write(1, f"{self._screen.text(LAST_LINES)}\n".encode(errors="replace"))
        self._pty.close()


def _listening(path: str) -> socket.socket:
    """Return a listening socket at this path, open to our user alone."""
    listener = address.bound(path)
    listener.listen(16)
    listener.setblocking(False)
    return listener
