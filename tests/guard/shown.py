"""A guard with a terminal of its own, and those who look at it."""

from collections.abc import Callable
from pathlib import Path

from pro0.model.runtime import Terminal
from pro0.terminals import protocol
from pro0.terminals.connection import Connection, Silent
from pro0.terminals.library import library
from tests.guard.sessions import Session
from tests.waiting import STUCK, wait_until

SECONDS = STUCK


def terminal(folder: Path, columns: int = 80, lines: int = 24) -> Terminal:
    """What a launch says of a terminal that is served in this folder."""
    return Terminal(socket=str(folder / "t.sock"), library=str(library()), columns=columns, lines=lines)


class Shown:
    """A session with a terminal."""

    def __init__(
        self, session: Session, argv: list[str], columns: int = 80, lines: int = 24, **changes: object
    ) -> None:
        self.session = session
        self.wanted = terminal(session.reports, columns, lines)
        self.log = session.reports.parent / "guard.log"
        self.guard = session.start(argv, terminal=self.wanted, **changes)

    def connect(self) -> Connection:
        """Return a connection, once there is a terminal."""

        def there() -> Connection | None:
            try:
                return Connection(self.wanted.socket, SECONDS)
            except Silent:
                return None

        return wait_until(there, SECONDS, "the terminal is there")  # type: ignore[return-value]

    def rows(self, connection: Connection) -> list[str]:
        """Return what is shown now."""
        rows = connection.ask(protocol.LOOK, answer=protocol.FRAME)["rows"]
        assert isinstance(rows, dict)
        return list(rows.values())

    def shows(self, connection: Connection, condition: Callable[[list[str]], object], what: str) -> list[str]:
        """Wait until the screen is as it should be, and return it."""
        wait_until(lambda: condition(self.rows(connection)), SECONDS, f"the terminal shows {what}")
        return self.rows(connection)


def typed(connection: Connection, text: str | bytes, kind: bytes = protocol.INPUT) -> bool:
    """Type something; False when there was no room for it."""
    data = text.encode() if isinstance(text, str) else text
    return bool(connection.ask(kind, data, protocol.TAKEN)["taken"])
