"""One member in the view: the connection to its terminal, and its screen."""

import json
from collections.abc import Mapping

from pro0.terminals import protocol
from pro0.terminals.connection import Connection, Silent

PATIENCE = 1.0


class Pane:
    """The screen of one session. It stays after the session's end."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.connection: Connection | None = None
        self.rows: list[str] = []
        self.nothing = f"{name} shows nothing yet"
        """The text in place of rows while there are none."""
        self.cursor: tuple[int, int] | None = None
        self.modes: tuple[int, ...] = ()
        self.history: list[str] | None = None
        """All rows, after they were requested and have arrived."""
        self.refused = False
        """True when the agent does not read typed input."""
        self.wanted = False
        """True when somebody asked to show this pane."""
        self.gone = False
        """True when the team has no such member any more."""
        self._incarnation = ""
        self._size = self._last = (0, 0)
        self._watched = False

    def meet(self, incarnation: str, socket: str) -> None:
        """Connect to a session, unless connected. A missing terminal is tried again later."""
        if self.connection and self._incarnation == incarnation:
            return
        self.leave()
        try:
            connection = Connection(socket, PATIENCE)
        except Silent:
            return
        if connection.hello.get("incarnation") != incarnation:
            connection.close()
            return
        self.connection, self._incarnation = connection, incarnation
        self.nothing = f"{self.name} shows nothing yet"
        self._size, watched = (0, 0), self._watched
        self._watched = False
        if watched:
            self.watch(*self._last)

    def remember(self, rows: list[str]) -> None:
        """Show the last screen of an ended session, unless a new session is connected by now."""
        self.nothing = f"{self.name} has shown nothing"
        if not self.connection:
            self.rows = rows

    def watch(self, columns: int, lines: int) -> None:
        """Request all screen changes of this session, in this size."""
        self._last = (columns, lines)
        self._watched = True
        self._size = (columns, lines)
        self._send(protocol.WATCH, {"columns": columns, "lines": lines})

    def unwatch(self) -> None:
        """Request no more screen changes."""
        self._watched = False
        self._send(protocol.UNWATCH)

    def fit(self, columns: int, lines: int) -> None:
        """Set the session's size before it is shown, so that it has been drawn by then."""
        if self.connection and self._size != (columns, lines):
            self._size = self._last = (columns, lines)
            self._send(protocol.SIZE, {"columns": columns, "lines": lines})

    def type(self, data: bytes) -> None:
        """Send typed bytes to the session."""
        for start in range(0, len(data), 1 << 14):
            self._send_bytes(protocol.INPUT, data[start : start + (1 << 14)])

    def ask_history(self) -> None:
        """Request all kept rows."""
        self.history = None
        self._send(protocol.HISTORY)

    def take(self) -> None:
        """Process the messages received so far."""
        try:
            messages = self.connection.take() if self.connection else []
        except Silent:
            self.leave()
            return
        for kind, values in messages:
            self._learn(kind, values)

    def leave(self) -> None:
        """Close the connection. The screen stays."""
        if self.connection:
            self.connection.close()
        self.connection, self._incarnation = None, ""
        self.cursor, self.modes = None, ()

    def let_go(self) -> None:
        """Close the connection for good: there is no such member any more."""
        self.leave()
        self.gone = True
        self.nothing = f"{self.name} is not there any more"

    def _learn(self, kind: bytes, values: Mapping[str, object]) -> None:
        if kind == protocol.FRAME:
            self._frame(values)
        elif kind == protocol.TAKEN:
            self.refused |= not values.get("taken")
        elif kind == protocol.FOCUS:
            self.wanted = True
        elif kind == protocol.HISTORY and isinstance(rows := values.get("rows"), list):
            self.history = [str(row) for row in rows]

    def _frame(self, values: Mapping[str, object]) -> None:
        rows, cursor, modes, lines = (values.get(name) for name in ("rows", "cursor", "modes", "lines"))
        if not isinstance(rows, dict) or not isinstance(lines, int):
            return
        self.rows = [*self.rows[:lines], *[""] * (lines - len(self.rows))]
        for index, row in rows.items():
            if str(index).isdigit() and int(index) < lines:
                self.rows[int(index)] = str(row)
        cursor_visible = values.get("visible") and isinstance(cursor, list) and len(cursor) == 2
        self.cursor = (int(cursor[0]), int(cursor[1])) if cursor_visible and isinstance(cursor, list) else None
        self.modes = tuple(mode for mode in modes if isinstance(mode, int)) if isinstance(modes, list) else ()

    def _send(self, kind: bytes, values: object = None) -> None:
        self._send_bytes(kind, b"" if values is None else json.dumps(values).encode())

    def _send_bytes(self, kind: bytes, payload: bytes) -> None:
        if not self.connection:
            return
        try:
            self.connection.send(kind, payload)
        except Silent:
            self.leave()
