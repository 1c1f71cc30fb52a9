"""The port of the screen model: all that a terminal needs of one, whichever library draws."""

from typing import NamedTuple, Protocol


class Cursor(NamedTuple):
    """Where the cursor stands, from 0, and whether it is shown."""

    column: int
    line: int
    visible: bool


class Emulator(Protocol):
    """Takes in what a program prints, and knows what a terminal would show."""

    def feed(self, data: bytes) -> None:
        """Take in what the program printed; what the terminal answers goes to the `reply` it was made with."""
        ...

    def resize(self, columns: int, lines: int) -> None:
        """Give the terminal another size."""
        ...

    def rows(self) -> list[str]:
        """Return every row of the screen with SGR escapes and nothing else beside text; each begins plain."""
        ...

    def history(self) -> list[str]:
        """Return all rows, from the oldest that is kept to the last of the screen, as `rows` does."""
        ...

    def text(self, lines: int) -> str:
        """Return the last lines as plain text, long lines whole, without empty ones at the end."""
        ...

    def cursor(self) -> Cursor:
        """Return the cursor."""
        ...

    def title(self) -> str:
        """Return the title that the program set."""
        ...

    def mode(self, number: int) -> bool:
        """Return whether a DEC private mode is set."""
        ...
