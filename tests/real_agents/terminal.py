"""Terminals, as a person has them: panes that are looked at and typed into, and one of its own for a test."""

import os
import signal
import subprocess
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from pro0.model.screen import Screen
from pro0.rules.screens.escapes import screen_of
from tests.waiting import wait_until

KEYS = {"Enter": b"\r", "Escape": b"\x1b", "BSpace": b"\x7f"}
BETWEEN = 0.02
"""Seconds between two keys."""
ESCAPE = 0.7
"""Seconds after Escape, which tmux takes for the beginning of another key when one comes soon."""


class Pane:
    """One pane of a tmux server, both named as tmux names them."""

    def __init__(self, *server: str, target: str = "") -> None:
        self.server = server
        self._target = ("-t", target) if target else ()

    def tmux(self, *words: str) -> str:
        """Call tmux on this pane's server and return what it prints."""
        done = subprocess.run(["tmux", *self.server, *words], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"tmux {words[0]}: {done.stderr.strip()}")
        return done.stdout

    def screen(self, *, escapes: bool = False) -> str:
        """Return what the pane shows, with its escapes when asked."""
        return self.tmux("capture-pane", "-p", *(["-e"] if escapes else []), *self._target)

    def look(self) -> Screen:
        """Return what the pane shows, as the lead sees it."""
        cursor = int(self.value("cursor_x")), int(self.value("cursor_y"))
        return screen_of(self.screen(escapes=True), self.value("pane_title"), cursor)

    def value(self, name: str) -> str:
        """Return what tmux says of the pane under a name such as pane_title."""
        return self.tmux("display-message", "-p", *self._target, f"#{{{name}}}").rstrip("\n")

    def keys(self, *keys: str) -> None:
        """Press keys, named as tmux names them."""
        self.tmux("send-keys", *self._target, *keys)

    def paste(self, text: str) -> None:
        """Paste text as a terminal does, bracketed where the program asks for it."""
        self.tmux(
            "set-buffer", "-b", "pasted", "--", text, ";", "paste-buffer", "-p", "-d", "-b", "pasted", *self._target
        )

    def redraw(self) -> None:
        """Make the program draw all of its screen anew, as it does when the size changes."""
        width = int(self.value("window_width"))
        for columns in (width - 1, width):
            self.tmux("resize-window", "-x", str(columns), *self._target)

    @contextmanager
    def smaller(self) -> Iterator[None]:
        """Let the person's window be smaller for a while."""
        before = self.value("window_width"), self.value("window_height")
        self._resize("80", "20")
        yield
        self._resize(*before)

    def _resize(self, columns: str, lines: str) -> None:
        self.tmux("resize-window", "-x", columns, "-y", lines, *self._target)

    def copy_mode(self, *, leave: bool = False) -> None:
        """Begin to look back in what the pane has shown, or go on with the present."""
        self.tmux(*(("send-keys", "-X", *self._target, "cancel") if leave else ("copy-mode", *self._target)))


class Client:
    """A person's own terminal on which a tmux server shows a pane: what they type takes the way of every key."""

    def __init__(self, pane: Pane) -> None:
        self._master, slave = os.openpty()
        lines, columns = int(pane.value("window_height")) + 1, int(pane.value("window_width"))
        termios.tcsetwinsize(slave, (lines, columns))
        self._process = subprocess.Popen(
            ["tmux", *pane.server, "attach-session"],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=os.environ | {"TERM": "xterm-256color"},
            start_new_session=True,
        )
        os.close(slave)
        threading.Thread(target=self._look, daemon=True).start()
        wait_until(lambda: pane.tmux("list-clients"), 10, "the person's terminal is attached")

    def type(self, text: str, between: float = BETWEEN) -> None:
        """Type a text, letter by letter."""
        for letter in text:
            os.write(self._master, letter.encode())
            time.sleep(between)

    def press(self, *keys: str) -> None:
        """Press keys, named as tmux names them."""
        for key in keys:
            os.write(self._master, KEYS[key])
            time.sleep(ESCAPE if key == "Escape" else BETWEEN)

    def close(self) -> None:
        """Leave; what the pane runs goes on."""
        self._process.terminate()
        self._process.wait(10)

    def _look(self) -> None:
        with suppress(OSError):  # which is how a terminal ends
            while os.read(self._master, 1 << 16):
                pass
        os.close(self._master)


class Terminal(Pane):
    """One pane of a given size on a server of its own; `run` starts the program in it."""

    def __init__(self, columns: int = 120, lines: int = 40) -> None:
        super().__init__("-L", f"real-{os.getpid()}-{os.urandom(4).hex()}", "-f", os.devnull)
        self.columns, self.lines = columns, lines
        self._started: list[psutil.Process] = []

    def run(self, command: str, folder: Path) -> None:
        """Start a program in the pane, which stays when the program ends."""
        size = ("-x", str(self.columns), "-y", str(self.lines))
        keep = (";", "set", "-g", "remain-on-exit", "on")
        self.tmux("new-session", "-d", *size, "-c", str(folder), f"exec {command}", *keep)

    def close(self) -> None:
        """End the program, its whole tree, and the server."""
        with suppress(RuntimeError, psutil.Error, ValueError):  # since tmux 3.8 a pane has no pid after its program
            leader = psutil.Process(int(self.value("pane_pid")))
            self._started = [leader, *leader.children(recursive=True)]
        for process in self._started:
            with suppress(psutil.Error):
                process.send_signal(signal.SIGTERM)
        for process in psutil.wait_procs(self._started, timeout=5)[1]:
            with suppress(psutil.Error):
                process.kill()
        with suppress(RuntimeError):
            self.tmux("kill-server")

    def ended(self) -> bool:
        """Tell whether nothing of what was closed runs any more."""
        return bool(wait_until(lambda: not any(process.is_running() for process in self._started), 10, "all has ended"))
