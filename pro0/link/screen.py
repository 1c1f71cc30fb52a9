"""The other machine's terminal, drawn on this one in whole rows: so missed frames do no harm."""

import fcntl
import os
import re
import struct
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pro0.terminals import protocol

SIZE = (160, 48)
"""The columns and lines to assume without a terminal."""
_INDEX, _PLACES = re.compile(r"[0-9]{1,3}"), 1000
"""The pattern of a row's index, and the most columns and lines."""
_HELD = "\x1b[?2026h\x1b[?25l\x1b[?7l"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class LinkScreen:
    """What the link's own terminal shows."""

    def __init__(self, descriptor: int = 1) -> None:
        self._descriptor = descriptor
        self._modes: set[int] = set()
        self._title = ""
        self._keys = 0

    def size(self) -> dict[str, int]:
        """Return its columns and lines."""
        with suppress(OSError):
            packed = fcntl.ioctl(self._descriptor, termios.TIOCGWINSZ, bytes(8))
            lines, columns, _, _ = struct.unpack("HHHH", packed)
            if columns > 1 and lines > 1:
                return {"columns": columns, "lines": lines}
        return {"columns": SIZE[0], "lines": SIZE[1]}

    def draw(self, frame: dict[str, object]) -> None:
        """Draw the changed rows of a frame; a malformed frame draws nothing."""
        rows, cursor = frame.get("rows"), frame.get("cursor")
        if not isinstance(rows, dict):
            return
        parts = [_HELD]
        parts += [f"\x1b[{int(index) + 1};1H\x1b[0m\x1b[2K{row}" for index, row in rows.items() if _is_row(index, row)]
        parts += ["\x1b[0m", *self._titled(frame.get("title")), self._switched(frame.get("modes"))]
        parts += self._with_modifiers(frame.get("keys"))
        if isinstance(cursor, list) and len(cursor) == 2 and all(_is_place(place) for place in cursor):
            parts.append(f"\x1b[{cursor[1] + 1};{cursor[0] + 1}H")
        if frame.get("visible"):
            parts.append("\x1b[?25h")
        self.write("".join((*parts, "\x1b[?2026l")))

    def tell(self, sentence: str) -> None:
        """Write a line of text from pro0 itself."""
        self.write(f"\r\n\x1b[0mpro0: {_CONTROL.sub(' ', sentence)}\r\n")

    def write(self, text: str) -> None:
        """Write all of a text; a terminal that is gone shows nothing."""
        data = text.encode(errors="replace")
        with suppress(OSError):
            while data:
                data = data[os.write(self._descriptor, data) :]

    def _titled(self, title: object) -> list[str]:
        if not isinstance(title, str) or title == self._title:
            return []
        self._title = title
        return [f"\x1b]2;{_CONTROL.sub(' ', title[:200])}\x07"]

    def _switched(self, modes: object) -> str:
        """Return the sequences to repeat the modes of keys, mouse, focus and paste."""
        now = self._modes
        if isinstance(modes, list):
            now = {mode for mode in modes if isinstance(mode, int) and mode in protocol.MODES}
        switches = protocol.switches(self._modes, now)
        self._modes = now
        return switches

    def _with_modifiers(self, level: object) -> list[str]:
        """Return the sequence to ask for keys with modifiers, as the program there did."""
        if level not in (0, 1, 2) or level == self._keys:
            return []
        self._keys = int(level)
        return [f"\x1b[>4;{self._keys}m"]


@contextmanager
def raw(descriptor: int = 0) -> Iterator[None]:
    """Put a terminal into raw mode: every key passes unchanged."""
    try:
        before = termios.tcgetattr(descriptor)
    except termios.error:
        yield
        return
    tty.setraw(descriptor)
    try:
        yield
    finally:
        with suppress(termios.error):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _is_row(index: object, row: object) -> bool:
    return isinstance(index, str) and bool(_INDEX.fullmatch(index)) and isinstance(row, str)


def _is_place(value: object) -> bool:
    return isinstance(value, int) and 0 <= value <= _PLACES
