"""What goes over the socket of a terminal: messages of a kind and a length, then as many bytes.

The guard begins, with HELLO. A client asks, and gets one answer to each question in the order of asking; frames come
whenever they are due, to a client that watches, and only when it has taken in the last one: who reads slowly sees fewer
frames, not older ones, and nobody waits for anybody.

Frames, and the answers to LOOK, TEXT and HISTORY, are JSON:

    hello    {version, incarnation, pid}                     pid is the guard's
    frame    {columns, lines, rows, cursor, visible, title, modes}
             rows: index -> text with SGR, those that changed since the last frame; all of them in an answer to LOOK
    taken    {taken}           false: the input is full, for the agent does not read, or somebody types
"""

import json
import struct

VERSION = 2
LIMIT = 1 << 20
"""The longest message that a guard takes in."""
FRAME_LIMIT = 1 << 28
"""The longest that a client takes in."""

HELLO = b"V"
FRAME = b"F"
LOOK = b"L"
WATCH = b"W"
"""{columns, lines}: have frames sent, and give the terminal this size."""
UNWATCH = b"U"
SIZE = b"Z"
"""{columns, lines}."""
INPUT = b"I"
"""Bytes for the agent, which a person has typed; answered with TAKEN."""
PRESS = b"K"
"""{text, quiet}: a key for the agent, unless a person has typed in so many milliseconds; answered with TAKEN."""
PASTE = b"P"
"""The same for a text, which is bracketed when the agent asked for that."""
TAKEN = b"A"
FOCUS = b"O"
"""Asked: every view is to show this terminal, answered with {told}, how many there are. To a client: it shall."""
TEXT = b"T"
"""{lines}: the last lines, also those that scrolled away, as {text}."""
HISTORY = b"H"
"""All rows with SGR from the oldest that is kept, as {rows}."""

_HEAD = struct.Struct(">cI")


class Broken(Exception):
    """What came is no message of this protocol."""


def message(kind: bytes, payload: bytes = b"") -> bytes:
    """Return one message."""
    return _HEAD.pack(kind, len(payload)) + payload


def packed(kind: bytes, value: object) -> bytes:
    """Return one message whose payload is JSON."""
    return message(kind, json.dumps(value, separators=(",", ":")).encode())


def unpacked(payload: bytes) -> dict[str, object]:
    """Return the object that a payload holds; raises Broken for anything else."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise Broken("not JSON") from error
    if not isinstance(value, dict):
        raise Broken("not an object")
    return value


def number(values: dict[str, object], name: str, least: int, most: int) -> int:
    """Return a whole number of an object; raises Broken when it is none, or out of bounds."""
    value = values.get(name)
    if not isinstance(value, int) or not least <= value <= most:
        raise Broken(f"{name} is not a number from {least} to {most}")
    return value


def text(values: dict[str, object], name: str) -> str:
    """Return a text of an object; raises Broken when it is none."""
    value = values.get(name)
    if not isinstance(value, str):
        raise Broken(f"{name} is not a text")
    return value


class Inbox:
    """Puts the messages of one connection together from the pieces that arrive."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._rest = bytearray()

    def take(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """Add what arrived and return the whole messages as kind and payload; raises Broken for one too long."""
        self._rest += data
        found = []
        start = 0
        while len(self._rest) - start >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._rest, start)
            if length > self._limit:
                raise Broken(f"a message of {length} bytes")
            end = start + _HEAD.size + length
            if len(self._rest) < end:
                break
            found.append((kind, bytes(self._rest[start + _HEAD.size : end])))
            start = end
        del self._rest[:start]
        return found
