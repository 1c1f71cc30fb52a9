"""Messages on a terminal's socket: a kind, a length, then as many bytes.

The guard begins, with HELLO. A client asks, and gets one answer to each question, in the order of asking. A watching
client also gets frames, each only after it has taken in the last one. So a slow reader sees fewer frames, not older
ones, and nobody waits for anybody.

Frames, and the answers to LOOK, TEXT and HISTORY, are JSON:

    hello    {version, incarnation, pid}                     pid is the guard's
    frame    {columns, lines, rows, cursor, visible, title, modes, keys}
             rows: index -> text with SGR, changed since the last frame; all rows in an answer to LOOK
             keys: the level of keys with modifiers that the program asked for, 0 for none
    taken    {taken}           false: the input is full, for the agent does not read, or a person types
"""

import json
import struct
from collections.abc import Set

VERSION = 2
LIMIT = 1 << 20
"""Bytes of the longest message a guard accepts."""
FRAME_LIMIT = 1 << 28
"""Bytes of the longest message a client accepts."""

HELLO = b"V"
FRAME = b"F"
LOOK = b"L"
WATCH = b"W"
"""{columns, lines}: send frames from now on, and give the terminal this size."""
UNWATCH = b"U"
SIZE = b"Z"
"""{columns, lines}."""
INPUT = b"I"
"""Bytes for the agent, typed by a person; answered with TAKEN."""
PRESS = b"K"
"""{text, quiet}: a key for the agent, unless a person typed in the last `quiet` milliseconds; answered with TAKEN."""
PASTE = b"P"
"""Like PRESS, for a text; the text is bracketed when the agent asked for brackets."""
TAKEN = b"A"
FOCUS = b"O"
"""From a client: all views show this terminal; answered with {told}, their number. To a client: show it."""
TEXT = b"T"
"""{lines}: the last lines, with scrolled-away ones, as {text}."""
HISTORY = b"H"
"""All rows with SGR, from the oldest in the history, as {rows}."""

MODES = (1, 9, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 2004)
"""Modes to repeat on a client's own terminal: keys, mouse, focus, paste."""
_EXCLUSIVE = ({9, 1000, 1002, 1003}, {1005, 1006, 1015, 1016})
"""The events of the mouse, and their forms: a terminal has the one set last, and none after any of them is reset."""

_HEAD = struct.Struct(">cI")


class Broken(Exception):
    """The bytes are no message of this protocol."""


def message(kind: bytes, payload: bytes = b"") -> bytes:
    """Return one message."""
    return _HEAD.pack(kind, len(payload)) + payload


def switches(before: Set[int], now: Set[int]) -> str:
    """Return the sequences that change a terminal's modes from `before` to `now`."""
    changed = before ^ now
    set_again = {mode for modes in _EXCLUSIVE if modes & changed for mode in modes & now}
    off = [f"\x1b[?{mode}l" for mode in sorted(before - now)]
    on = [f"\x1b[?{mode}h" for mode in sorted((now - before) | set_again)]
    return "".join(off + on)


def packed(kind: bytes, value: object) -> bytes:
    """Return one message with a JSON payload."""
    return message(kind, json.dumps(value, separators=(",", ":")).encode())


def unpacked(payload: bytes) -> dict[str, object]:
    """Return the JSON object in a payload; raises Broken for anything else."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise Broken("not JSON") from error
    if not isinstance(value, dict):
        raise Broken("not an object")
    return value


def number(values: dict[str, object], name: str, least: int, greatest: int) -> int:
    """Return an integer value of an object; raises Broken for another type, or a number out of bounds."""
    value = values.get(name)
    if not isinstance(value, int) or not least <= value <= greatest:
        raise Broken(f"{name} is not a number from {least} to {greatest}")
    return value


def text(values: dict[str, object], name: str) -> str:
    """Return a text of an object; raises Broken for another type."""
    value = values.get(name)
    if not isinstance(value, str):
        raise Broken(f"{name} is not a text")
    return value


class MessageReader:
    """Join the arriving pieces of one connection into messages."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._rest = bytearray()

    def take(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """Add a piece and return the whole messages as kind and payload; raises Broken for a message too long."""
        self._rest += data
        messages = []
        start = 0
        while len(self._rest) - start >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._rest, start)
            if length > self._limit:
                raise Broken(f"a message of {length} bytes is too long")
            end = start + _HEAD.size + length
            if len(self._rest) < end:
                break
            messages.append((kind, bytes(self._rest[start + _HEAD.size : end])))
            start = end
        del self._rest[:start]
        return messages
