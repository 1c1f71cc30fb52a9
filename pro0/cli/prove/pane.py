"""The pane of the member, seen and typed into as a person would."""

import subprocess
import time
from collections.abc import Mapping

from pro0.model.runtime import Handle
from pro0.model.screen import Screen
from pro0.rules.screens.escapes import screen_of
from pro0.rules.screens.screens import Drawing, typed

ERASED = 100
"""The number of key presses to empty an input."""
BETWEEN = 0.02
"""Seconds between two letters."""
ESCAPE = 0.7
"""Seconds to wait after Escape: a key that follows too soon would be taken for one sequence with it."""
GONE = "its pane is gone"


class NotHeld(Exception):
    """A check did not hold; the text is the reason."""


class MemberPane:
    """One pane in tmux; every look and every key raises NotHeld when the pane is gone."""

    def __init__(self, handle: Handle, environment: Mapping[str, str], drawing: Drawing | None) -> None:
        self._handle = handle
        self._environment = environment
        self._drawing = drawing

    def screen(self) -> Screen:
        """Return the content of the pane, as the lead sees it."""
        drawn = self._tmux("capture-pane", "-p", "-e")
        lines = self._tmux("display-message", "-p", "#{pane_title}\n#{cursor_x}\n#{cursor_y}").split("\n")
        if len(lines) < 3 or not (lines[1] and lines[2]):  # for a missing pane tmux prints nothing, without an error
            raise NotHeld(GONE)
        return screen_of(drawn, lines[0], (int(lines[1]), int(lines[2])))

    def holds(self, text: str) -> bool:
        """Return True when pro0 finds a text in the agent's input."""
        shown = typed(self._drawing, self.screen()) if self._drawing else None
        return _bare(text) in _bare(shown or "")

    def shows(self, text: str) -> bool:
        """Return True when a text is anywhere on the screen."""
        return _bare(text) in _bare("".join(self._tmux("capture-pane", "-p").split()))

    def type(self, text: str) -> None:
        """Type a text, letter by letter, without Enter."""
        for letter in text:
            self._tmux("send-keys", "-l", letter)
            time.sleep(BETWEEN)

    def erase(self) -> None:
        """Erase the text in the input."""
        self._tmux("send-keys", "-N", str(ERASED), "BSpace")

    def escape(self) -> None:
        """Press Escape."""
        self._tmux("send-keys", "Escape")
        time.sleep(ESCAPE)

    def last_row(self) -> str:
        """Return the last row that is not blank."""
        rows = [row.strip() for row in self._tmux("capture-pane", "-p").splitlines() if row.strip()]
        return rows[-1] if rows else ""

    def _tmux(self, command: str, *words: str) -> str:
        # -u: without a UTF-8 locale, tmux would print "_" for line breaks and for every character outside ASCII.
        argv = ["tmux", "-u", "-S", self._handle.socket, command, "-t", self._handle.pane, *words]
        done = subprocess.run(
            argv, env=self._environment, capture_output=True, encoding="utf-8", errors="replace", timeout=30
        )
        if done.returncode:
            raise NotHeld(GONE)
        return done.stdout


def _bare(text: str) -> str:
    return "".join(text.split())
