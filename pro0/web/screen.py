"""The screen of a session for a browser: text, colours and a cursor, composed here from rows.

Escape sequences of an agent do not pass, except colours: the output consists of rows of letters, and of numbers.
"""

import re
from collections.abc import Iterable, Mapping

from pro0.terminals import protocol
from pro0.view.drawing import clipped

_HARMLESS = re.compile(r"(?:[ -~\u00c0-\u024f\u2500-\u259f\u2800-\u28ff]|\x1b\[[0-9;:]*m)*")
"""Letters one column wide, and colours. A row with anything else is checked letter by letter."""
_OTHER = re.compile(r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|\[[0-?]*[ -/]*[@-ln-~]|[P^_X][^\x1b]*\x1b\\)")
"""Escape sequences other than colours, with their arguments: links, titles, moves of the cursor."""
_NO_WRAP = "\x1b[?7l"
_HIDDEN, _VISIBLE = "\x1b[?25l", "\x1b[?25h"
MODES = frozenset({1, 9, 66, 1000, 1002, 1003, 1005, 1006, 1015, 2004})
"""Modes for the encoding of keys and of the mouse. No other modes of an agent reach the browser's terminal."""
LARGEST = 1000


class BrowserScreen:
    """The screen of a session, and the part that one browser has not seen yet."""

    def __init__(self) -> None:
        self.size = (0, 0)
        self.typing = False
        """True while this browser has the keyboard: only then it gets the modes."""
        self._rows: list[str] = []
        self._unsent: set[int] = set()
        self._cursor: tuple[int, int] | None = None
        self._modes: frozenset[int] = frozenset()
        self._told: tuple[tuple[int, int], frozenset[int]] = (0, 0), frozenset()

    def take(self, values: Mapping[str, object]) -> bool:
        """Apply a frame of a guard's terminal; return False when the values are no frame."""
        columns, lines, rows, cursor, modes = (
            values.get(name) for name in ("columns", "lines", "rows", "cursor", "modes")
        )
        if not (isinstance(columns, int) and isinstance(lines, int) and isinstance(rows, dict)):
            return False
        self._fit(columns, lines)
        self.put({int(index): str(row) for index, row in rows.items() if str(index).isdecimal()})
        place = [number for number in cursor if isinstance(number, int)] if isinstance(cursor, list) else []
        self._cursor = (place[0], place[1]) if len(place) == 2 and values.get("visible") else None
        all_modes = modes if isinstance(modes, list) else []
        self._modes = frozenset(mode for mode in all_modes if isinstance(mode, int)) & MODES
        return True

    def show(self, rows: Iterable[str], columns: int, cursor: tuple[int, int] | None) -> bool:
        """Apply a whole screen; return True if it has changed."""
        listed = [*rows]
        before = (self.size, self._cursor)
        self._fit(columns, len(listed))
        self.put({index: row for index, row in enumerate(listed) if row != self._rows[index]})
        self._cursor = cursor
        return bool(self._unsent) or before != (self.size, cursor)

    def put(self, rows: Mapping[int, str]) -> None:
        """Apply rows by their numbers; ignore rows outside the screen."""
        for index, row in rows.items():
            if 0 <= index < len(self._rows):
                self._rows[index] = row
                self._unsent.add(index)

    def again(self) -> None:
        """Send the whole screen with the next changes, without modes: another session has begun."""
        self._modes = frozenset()
        self._told = ((0, 0), self._told[1])

    def changes(self) -> str:
        """Return the text to send to a terminal of this size, and count it as sent."""
        columns, lines = self.size
        whole = self._told[0] != self.size
        parts = [_HIDDEN]
        if whole:
            parts.append(f"\x1b[0m{_NO_WRAP}\x1b[2J")
            self._unsent = set(range(lines))
        for index in sorted(self._unsent):
            # Clear the row first: after a full row the cursor is still on its last letter.
            parts.append(f"\x1b[{index + 1};1H\x1b[0m\x1b[2K{_safe(self._rows[index], columns)}\x1b[0m")
        modes = self._modes if self.typing else frozenset()
        parts.append(protocol.switches(self._told[1], modes))
        if self._cursor:
            column, line = self._cursor
            parts.append(f"\x1b[{line + 1};{column + 1}H{_VISIBLE}")
        self._unsent, self._told = set(), (self.size, modes)
        return "".join(parts)

    def _fit(self, columns: int, lines: int) -> None:
        size = (min(max(columns, 1), LARGEST), min(max(lines, 1), LARGEST))
        if size != self.size:
            self.size = size
            self._rows = [*self._rows[: size[1]], *[""] * (size[1] - len(self._rows))]


def _safe(row: str, columns: int) -> str:
    """Return a row without anything but letters and colours."""
    return row if _HARMLESS.fullmatch(row) and len(row) <= 8 * columns else clipped(_OTHER.sub("", row), columns)
