"""A person at a terminal: a tmux server of its own plays the terminal, and what it shows can be read."""

import os
import subprocess
import uuid
from collections.abc import Callable
from pathlib import Path

from tests.waiting import STUCK, wait_until

SECONDS = STUCK


class Person:
    """One terminal in which one command runs; when that ends the shell says `over` and how the terminal is."""

    def __init__(self, folder: Path, command: str, columns: int = 100, lines: int = 20) -> None:
        self._tmux = ("tmux", "-L", f"person-{uuid.uuid4().hex[:8]}", "-f", "/dev/null")
        self._over = folder / f"over-{uuid.uuid4().hex[:8]}"
        script = f"stty -g > {self._over}.before; {command}; echo code $?; stty -g > {self._over}; exec cat"
        size = ("-x", str(columns), "-y", str(lines))
        subprocess.run(
            [*self._tmux, "new-session", "-d", *size, "-c", str(folder), "sh", "-c", script],
            check=True,
            env=os.environ | {"LC_ALL": "C.UTF-8"},
        )

    def __enter__(self) -> "Person":
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)

    def press(self, *keys: str) -> None:
        """Press keys, by tmux's names for them."""
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type a text as it is."""
        self.tmux("send-keys", "-l", text)

    def rows(self, *how: str) -> list[str]:
        """Return what the terminal shows."""
        return self.tmux("capture-pane", "-p", *how).split("\n")

    def sees(self, condition: str | Callable[[list[str]], object], *how: str) -> list[str]:
        """Wait until the terminal shows a text, or is as it should be, and return its rows."""
        if isinstance(condition, str):
            text = condition
            self._until(lambda rows: any(text in row for row in rows), f"it shows {text!r}", how)
        else:
            self._until(condition, "the terminal is as it should be", how)
        return self.rows(*how)

    def _until(self, condition: Callable[[list[str]], object], what: str, how: tuple[str, ...]) -> None:
        try:
            wait_until(lambda: condition(self.rows(*how)), SECONDS, what)
        except AssertionError as error:
            shown = "\n".join(self.rows(*how))
            raise AssertionError(f"{error}; it shows:\n{shown}") from None

    def resize(self, columns: int, lines: int) -> None:
        """Give the terminal another size."""
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def is_back(self) -> None:
        """Wait until the command is over, and see that the terminal is as it was."""
        wait_until(self._over.exists, SECONDS, "the command is over")
        wait_until(lambda: self._over.read_text(), SECONDS, "it is told how the terminal is")
        assert self._over.read_text() == Path(f"{self._over}.before").read_text()
        modes = "#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_cursor_flag} #{wrap_flag}"
        assert self.ask(modes) == "0 1 0 0 1"

    def ask(self, form: str) -> str:
        """Return what tmux knows of the terminal."""
        return self.tmux("display-message", "-p", form)

    def process(self) -> int:
        """Return the pid of the shell that runs the command."""
        return int(self.ask("#{pane_pid}"))

    def tmux(self, *words: str) -> str:
        """Ask the server."""
        done = subprocess.run([*self._tmux, *words], check=True, capture_output=True, text=True, timeout=STUCK)
        return done.stdout.rstrip("\n")
