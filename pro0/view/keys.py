"""Typed bytes, cut into keys: named keys for the view, all others unchanged."""

import re
from typing import NamedTuple

_TOKEN = re.compile(
    rb"\x1b\[M[^\x1b]{3}|\x1b\[[<?]?[0-9;:]*[ -/]*[@-Z^-~]|\x1bO[ -~]|\x1b[ -NP-Z^-\x7f\x08]"
    rb"|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[^\x1b]",
    re.DOTALL,
)
_BEGUN = re.compile(
    rb"(?:\x1b(?:\[[<?]?[0-9;:]*[ -/]*|\[M[^\x1b]{0,2}|O)?"
    rb"|[\xc2-\xf4]|[\xe0-\xf4][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{2})\Z",
    re.DOTALL,
)
"""The start of a sequence; only the next bytes complete it."""
_WHEEL = re.compile(rb"\x1b\[<6([45]);[0-9;]+M")
"""The wheel of a mouse, up or down, as terminals report it in SGR mode."""
_PASTE, _PASTED = b"\x1b[200~", b"\x1b[201~"
_NAMES = {
    b"\x1b[1;2A": "shift-up",
    b"\x1b[1;2B": "shift-down",
    b"\x1b[1;2C": "shift-right",
    b"\x1b[1;2D": "shift-left",
    b"\x1b[5;2~": "shift-page-up",
    b"\x1b[6;2~": "shift-page-down",
    b"\x1b": "escape",
    b"\r": "enter",
    b"\n": "enter",
    b"\t": "tab",
    b"\x7f": "backspace",
    b"\b": "backspace",
    b"\x1b[5~": "page-up",
    b"\x1b[6~": "page-down",
    b"\x1b[1~": "home",
    b"\x1b[7~": "home",
    b"\x1b[4~": "end",
    b"\x1b[8~": "end",
    b"\x1b[3~": "delete",
    b"\x1b[1;5C": "ctrl-right",
    b"\x1b[1;5D": "ctrl-left",
    b"\x1b[1;3C": "alt-f",
    b"\x1b[1;3D": "alt-b",
    b"\x1bb": "alt-b",
    b"\x1bd": "alt-d",
    b"\x1bf": "alt-f",
    b"\x1b\x7f": "alt-backspace",
    b"\x1b\b": "alt-backspace",
}
_NAMES |= {bytes((ord(letter) & 31,)): f"ctrl-{letter}" for letter in "abcdefgklnoprtuvwxyz"}
_NAMES |= {
    b"\x1b" + prefix + final: name
    for prefix in (b"[", b"O")
    for final, name in (
        (b"A", "up"),
        (b"B", "down"),
        (b"C", "right"),
        (b"D", "left"),
        (b"H", "home"),
        (b"F", "end"),
    )
}


class Key(NamedTuple):
    """One key: its bytes and its name.

    The name of a printed key is its text. Other sequences have an empty name.
    """

    data: bytes
    name: str

    @property
    def is_mouse(self) -> bool:
        """Return True for a report of the mouse."""
        return self.data.startswith((b"\x1b[<", b"\x1b[M"))


class Keys:
    """Cuts incoming bytes into keys. An incomplete sequence waits for its rest."""

    def __init__(self) -> None:
        self._rest = b""

    @property
    def waiting(self) -> bool:
        """Return True while a sequence is incomplete. It may be just an Escape."""
        return bool(self._rest)

    def take(self, data: bytes) -> list[Key]:
        """Return the complete keys. A paste is one key named `paste`, including its brackets."""
        data = self._rest + data
        keys: list[Key] = []
        position = 0
        while position < len(data):
            if data.startswith(_PASTE, position):
                end = data.find(_PASTED, position)
                if end < 0:
                    break
                end += len(_PASTED)
                keys.append(Key(data[position:end], "paste"))
                position = end
                continue
            if _BEGUN.match(data, position):
                break
            token = _TOKEN.match(data, position)
            piece = token[0] if token else data[position : position + 1]
            keys.append(_key_of(piece))
            position += len(piece)
        self._rest = data[position:]
        return keys

    def late(self) -> list[Key]:
        """Return an incomplete sequence as a key, since its rest did not come. A paste is kept until complete."""
        if not self._rest or self._rest.startswith(_PASTE):
            return []
        piece, self._rest = self._rest, b""
        return [_key_of(piece)]


def pasted(key: Key) -> str:
    """Return the text of a paste."""
    return key.data[len(_PASTE) : -len(_PASTED)].decode(errors="replace")


def _key_of(piece: bytes) -> Key:
    if piece in _NAMES:
        return Key(piece, _NAMES[piece])
    if turned := _WHEEL.fullmatch(piece):
        return Key(piece, "wheel-up" if turned[1] == b"4" else "wheel-down")
    text = piece.decode(errors="replace")
    return Key(piece, text if text.isprintable() else "")
