"""The terminal of a conversation: plain lines, and below them the input and one row that names the state."""

import os
import sys
import unicodedata

from pro0.agents.acp.leave import Leave
from pro0.agents.acp.news import Drawn
from pro0.rules.text import visible

PROMPT = "›"
STATE = "──"
HELD_BACK = 4096
"""The most characters of an unfinished line to hold back."""
_SIGNS = {"words": "", "thought": "~ ", "tool": "• ", "note": "── ", "person": "» ", "mail": "» pro0: ", "ask": "? "}
_CLEAR = "\r\x1b[J"


class Sheet:
    """Draws on the standard output; without a terminal it writes only the lines."""

    def __init__(self) -> None:
        self.has_terminal = os.isatty(0) and os.isatty(1)
        self._lines: list[str] = []
        self._begun = ""
        """The beginning of an unfinished line."""
        self._kind = ""
        self._foot = ""

    def add(self, shown: Drawn) -> None:
        """Add a piece of text; it is drawn with the next `draw`."""
        goes_on = shown.kind in ("words", "thought") and shown.kind == self._kind
        if not goes_on:
            self._end_line()
            self._kind = shown.kind
        text = visible(shown.text).expandtabs(4)
        *whole, self._begun = f"{self._begun or _SIGNS[shown.kind]}{text}".split("\n")
        self._lines += whole
        if len(self._begun) > HELD_BACK or shown.kind not in ("words", "thought"):
            self._end_line()
        if shown.leave:
            self._lines += _question(shown.leave)

    def draw(self, state: str, typed: str) -> None:
        """Draw the added lines, the input with its text, and the state."""
        if not state.startswith("working"):
            self._end_line()
        foot = self._footer(state, typed) if self.has_terminal else ""
        if not self._lines and foot == self._foot:
            return
        lines, self._lines, self._foot = self._lines, [], foot
        text = "".join(f"{line}\n" for line in lines)
        _write(f"{_CLEAR}{text}{foot}" if self.has_terminal else text)

    def close(self) -> None:
        """Draw the last lines, and remove the input and the state."""
        self._end_line()
        text = "".join(f"{line}\n" for line in self._lines)
        _write(f"{_CLEAR}{text}" if self.has_terminal else text)

    def _footer(self, state: str, typed: str) -> str:
        """Return the input and the state below it, with the cursor behind the typed text."""
        columns = os.get_terminal_size(1).columns
        input_row = f"{PROMPT} {_fit_end(visible(typed).replace(chr(10), '⏎'), columns - 4)}"
        state_row = _fit(f"{STATE} {visible(' '.join(state.split()))}", columns - 1)
        right = _width(input_row)
        return f"{input_row}\n{state_row}\x1b[A\r" + (f"\x1b[{right}C" if right else "")

    def _end_line(self) -> None:
        if self._begun:
            self._lines.append(self._begun)
        self._begun = self._kind = ""


def _question(leave: Leave) -> list[str]:
    """Return the content of a request, and its numbered answers."""
    input_lines = [f"  {line}" for line in visible(leave.shown).splitlines()]
    return [*input_lines, *(f"  {number} {_one_line(option.name)}" for number, option in enumerate(leave.options, 1))]


def answers(leave: Leave) -> str:
    """Return the answers to a request in one row."""
    return " · ".join(f"{number} {_one_line(option.name)}" for number, option in enumerate(leave.options, 1))


def _one_line(text: str) -> str:
    return visible(" ".join(text.split()))


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _fit(text: str, columns: int) -> str:
    text = text[: max(columns, 1)]
    while _width(text) > max(columns, 1):
        text = text[:-1]
    return text


def _fit_end(text: str, columns: int) -> str:
    text = text[-max(columns, 1) :]
    while _width(text) > max(columns, 1):
        text = text[1:]
    return text


def _write(text: str) -> None:
    data = text.encode(errors="replace")
    while data:
        try:
            data = data[os.write(1, data) :]
        except OSError:  # the terminal is gone, and the guard ends this session
            sys.exit(1)
