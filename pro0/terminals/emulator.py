"""The interface of a screen model: everything a terminal needs, from any library."""

from typing import NamedTuple, Protocol


class Cursor(NamedTuple):
    """The cursor's place, counted from 0, and its visibility."""

    column: int
    line: int
    visible: bool


class Emulator(Protocol):
    """Take a program's output, and model a terminal's screen."""

    def feed(self, data: bytes) -> None:
        """Take in the program's output; the terminal's answers go to the `reply` given at its making."""
        ...

    def resize(self, columns: int, lines: int) -> None:
        """Give the terminal another size."""
        ...

    def rows(self) -> list[str]:
        """Return every row of the screen as text with SGR escapes only; each row begins plain."""
        ...

    def history(self) -> list[str]:
        """Return all rows, from the oldest in the history to the last of the screen, formatted as in `rows`."""
        ...

    def text(self, lines: int) -> str:
        """Return the last lines as plain text, long lines unwrapped, without empty lines at the end."""
        ...

    def cursor(self) -> Cursor:
        """Return the cursor."""
        ...

    def title(self) -> str:
        """Return the title set by the program."""
        ...

    def mode(self, number: int) -> bool:
        """Return True when a DEC private mode is set."""
        ...

    def modified_keys(self) -> int:
        """Return the level of keys with modifiers that the program asked for (XTMODKEYS); 0 for none."""
        ...
