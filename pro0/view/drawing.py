"""Rows for the person's terminal: letters and colours only, never wider than the room."""

import os
import re
from collections.abc import Iterator
from functools import lru_cache

from pro0.rules.text import VARIATIONS, unseen, visible, width
from pro0.terminals.colours import is_deep, shallow

RESET = "\x1b[0m"
REVERSE = "\x1b[7m"
DIM = "\x1b[2m"
BOLD = "\x1b[1m"
_PART = re.compile(r"(\x1b\[[0-9;:]*m)|([^\x1b]+)|\x1b")
_SGR = re.compile(r"\x1b\[[0-9;:]*m")


def plain(row: str) -> str:
    """Return a row without its colours."""
    return _SGR.sub("", row)


def columns_of(row: str) -> int:
    """Return the number of columns of a row."""
    text = plain(row)
    return len(text) if text.isascii() and text.isprintable() else sum(map(width, text))


def clipped(row: str, columns: int) -> str:
    """Return the part of a row that fits. After a letter of uncertain width the next column is set explicitly.

    Only letters and colours pass. Other control sequences are dropped, since any program may have written the row.
    """
    pieces: list[str] = []
    column = 0
    end = ""
    for sgr, text in ((match[1], match[2]) for match in _PART.finditer(row)):
        if sgr:
            pieces.append(sgr)
            end = RESET
        elif text and text.isascii() and text.isprintable():
            pieces.append(text[: columns - column])
            column += len(pieces[-1])
        elif text:
            column = _letters(pieces, text, column, columns)
    return "".join(pieces) + end + _cleared(column, columns)


def _letters(pieces: list[str], text: str, column: int, columns: int) -> int:
    is_placed = False
    for letter in text:
        wide = width(letter)
        if column + wide > columns:
            break
        if _is_drawn(letter):
            pieces.insert(len(pieces) - (is_placed and not wide), letter)  # a mark joins the letter before it
        column += wide
        if wide:
            is_placed = not letter.isascii() and column < columns
        if wide and is_placed:
            pieces.append(f"\x1b[{column + 1}G")
    return column


@lru_cache(4096)
def _is_drawn(letter: str) -> bool:
    return bool(width(letter)) or not (unseen(letter) or letter in "\n\t" or letter in VARIATIONS)


def _cleared(column: int, columns: int) -> str:
    """Return the sequence to clear the rest of a row. In a full row it would clear the last letter."""
    return "\x1b[K" if column < columns else ""


def fitted(text: str, columns: int) -> str:
    """Return a plain text in exactly `columns` columns."""
    letters, used = [], 0
    for letter in text:
        if used + width(letter) > columns:
            break
        letters.append(letter if _is_drawn(letter) else "")
        used += width(letter)
    return "".join(letters) + " " * (columns - used)


class Canvas:
    """The current content of the person's terminal, and the sequences to change it."""

    def __init__(self) -> None:
        self._rows: list[str] = []
        self._is_deep = is_deep(os.environ)

    def forget(self) -> None:
        """Paint all rows anew next time."""
        self._rows = []

    def paint(self, rows: list[str], columns: int, cursor: tuple[int, int] | None) -> str:
        """Return the sequences to paint these rows from the top, and to place the cursor (column, line) or hide it."""
        before = self._rows if len(self._rows) == len(rows) else [None] * len(rows)
        changed = [
            f"\x1b[{line};1H{clipped(row, columns)}"
            for line, (row, old) in enumerate(zip(rows, before, strict=True), 1)
            if row != old
        ]
        self._rows = list(rows)
        painted = "".join(changed) if self._is_deep else shallow("".join(changed))
        place = f"\x1b[{cursor[1] + 1};{cursor[0] + 1}H\x1b[?25h" if cursor else "\x1b[?25l"
        return f"\x1b[?2026h\x1b[?25l{RESET}{painted}{place}\x1b[?2026l"


def wrapped(text: str, columns: int) -> list[str]:
    """Return a text as rows of at most `columns` columns, broken between words if possible."""
    return [row for line in visible(text).expandtabs(4).split("\n") for row in _broken(line, max(columns, 2))]


def _broken(line: str, columns: int) -> Iterator[str]:
    start = 0
    while (room := _fits(line, start, columns)) < len(line):
        space = line.rfind(" ", start + 1, room + 1)
        end = space if space > start else room
        yield line[start:end]
        start = end + (line[end] == " ")
    yield line[start:]


def _fits(line: str, start: int, columns: int) -> int:
    """Return the index of the first letter from `start` on that does not fit; at least one letter always fits."""
    used = 0
    for at in range(start, len(line)):
        used += width(line[at])
        if used > columns:
            return max(at, start + 1)
    return len(line)
