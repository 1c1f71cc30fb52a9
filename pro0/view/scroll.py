"""Looking back: all kept rows of a session's terminal, with a search, and lines to copy."""

from pro0.view.drawing import RESET, REVERSE, fitted, plain
from pro0.view.keys import Key
from pro0.view.line import Line
from pro0.view.wishes import ViewRequest

HINT = "Esc back · PgUp PgDn g G · / search, n N · Space mark, y copy"


WHEEL = 3
"""Lines that one turn of the wheel moves."""


class Scroll:
    """A window onto all rows; keys move it, search in it, and mark lines to copy.

    It starts at the last rows, or with `from_top` at the first ones, for reading a text.
    """

    def __init__(self, rows: list[str], lines: int, *, from_top: bool = False) -> None:
        self._rows = rows or [""]
        self._lines = lines
        self._reads = from_top
        self._line = 0 if from_top else max(0, len(self._rows) - lines)
        self._mark: int | None = None
        self._typing: Line | None = None
        self._sought = ""
        self._said = ""

    def press(self, key: Key) -> ViewRequest | None:
        """Act on a key; return a request to the view, if any."""
        self._said = ""
        if self._typing is not None:
            self._type(key)
            return None
        if key.name in ("escape", "q", "ctrl-c") or (key.name == "enter" and self._reads):
            return ViewRequest("back")
        if key.name in ("y", "enter"):
            start, end = self._marked()
            return ViewRequest("copy", text="\n".join(plain(row).rstrip() for row in self._rows[start : end + 1]))
        self._move(key.name)
        return None

    def rows(self, columns: int, lines: int) -> list[str]:
        """Return the visible rows, and a footer about them."""
        self._lines = lines - 1
        top = self._top()
        visible_rows = [self._row(index, columns) for index in range(top, min(top + self._lines, len(self._rows)))]
        visible_rows += [""] * (self._lines - len(visible_rows))
        place = f" {self._line + 1}/{len(self._rows)} "
        message = (
            f"/{self._typing.shown(columns - len(place) - 1)[0]}" if self._typing is not None else self._said or HINT
        )
        return [*visible_rows, f"{REVERSE}{fitted(place + message, columns)}{RESET}"]

    def _row(self, index: int, columns: int) -> str:
        start, end = self._marked()
        if (self._mark is not None and start <= index <= end) or (index == self._line and self._sought):
            return f"{REVERSE}{fitted(plain(self._rows[index]), columns)}{RESET}"
        return self._rows[index]

    def _top(self) -> int:
        return max(0, min(self._line, len(self._rows) - self._lines))

    def _marked(self) -> tuple[int, int]:
        start = self._line if self._mark is None else self._mark
        return min(start, self._line), max(start, self._line)

    def _move(self, name: str) -> None:
        last_row = len(self._rows) - 1
        steps = {
            "up": -1,
            "k": -1,
            "down": 1,
            "j": 1,
            "page-up": -self._lines,
            "shift-page-up": -self._lines,
            "page-down": self._lines,
            "wheel-up": -WHEEL,
            "wheel-down": WHEEL,
            "g": -last_row,
            "home": -last_row,
            "G": last_row,
            "end": last_row,
        }
        if name in steps:
            self._line = max(0, min(last_row, self._line + steps[name]))
        elif name == " ":
            self._mark = None if self._mark is not None else self._line
        elif name == "/":
            self._typing = Line()
        elif name in ("n", "N"):
            self._seek(1 if name == "n" else -1)

    def _type(self, key: Key) -> None:
        assert self._typing is not None
        if key.name == "enter":
            self._sought, self._typing = self._typing.text or self._sought, None
            self._seek(-1)
        elif key.name in ("escape", "ctrl-c"):
            self._typing = None
        else:
            self._typing = self._typing.press(key)

    def _seek(self, step: int) -> None:
        """Go to the next row up or down with the sought text, ignoring case."""
        sought = self._sought.casefold()
        index = self._line
        if not sought:
            self._said = "no search yet: / begins one"
            return
        for _ in self._rows:
            index = (index + step) % len(self._rows)
            if sought in plain(self._rows[index]).casefold():
                self._line = index
                return
        self._said = f"{self._sought!r} is not found"
