"""Terminals, as a person has them: panes that are looked at and typed into, and one of its own for a test."""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import psutil

from pro0.model.screen import Screen
from pro0.rules.escapes import screen_of
from tests.waiting import wait_until


class Pane:
    """One pane of a tmux server, both named as tmux names them."""

    def __init__(self, *server: str, target: str = "") -> None:
        self._server = server
        self._target = ("-t", target) if target else ()

    def tmux(self, *words: str) -> str:
        """Call tmux on this pane's server and return what it prints."""
        done = subprocess.run(["tmux", *self._server, *words], capture_output=True, text=True)
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

    def copy_mode(self, *, leave: bool = False) -> None:
        """Begin to look back in what the pane has shown, or go on with the present."""
        self.tmux(*(("send-keys", "-X", *self._target, "cancel") if leave else ("copy-mode", *self._target)))


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
        with suppress(RuntimeError, psutil.Error):
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
