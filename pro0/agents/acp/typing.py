"""One line typed by a person: letters, pasted text and a few keys."""

import codecs
import re
from typing import Literal, NamedTuple

from pro0.rules.text import drawn

LIMIT = 64 * 1024
"""Letters of one line, at most."""
_PASTE, _PASTED = "\x1b[200~", "\x1b[201~"
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~]|[^\[O\x1b])")
_BEGUN = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?")


class Keystroke(NamedTuple):
    """An act of the person: to send a line, or to ask for the end of the turn."""

    kind: Literal["line", "stop"]
    text: str = ""


class LineEditor:
    """Takes keys in; Enter sends, Escape and Ctrl+C stop the turn, a pasted line break sends nothing."""

    def __init__(self) -> None:
        self.text = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._pasting = False

    def feed(self, keys: bytes) -> list[Keystroke]:
        """Take in typed bytes, and return their effect."""
        acts: list[Keystroke] = []
        keys_left = self._rest + self._decoder.decode(keys)
        self._rest = ""
        while keys_left:
            if keys_left.startswith("\x1b"):
                keys_left = self._escape(keys_left, acts)
            else:
                self._letter(keys_left[0], acts)
                keys_left = keys_left[1:]
        return acts

    @property
    def holds_escape(self) -> bool:
        """Return True after an Escape that may also be the beginning of another key, or of a paste."""
        return self._rest == "\x1b" and not self._pasting

    def settle(self) -> list[Keystroke]:
        """Count a held Escape as the key, since nothing has followed it."""
        if not self.holds_escape:
            return []
        self._rest = ""
        return [Keystroke("stop")]

    def _escape(self, keys: str, acts: list[Keystroke]) -> str:
        """Consume one escape sequence, or keep its beginning for later; return the keys after it."""
        if match := _SEQUENCE.match(keys):
            self._pasting = match[0] == _PASTE or (self._pasting and match[0] != _PASTED)
            return keys[match.end() :]
        if _BEGUN.fullmatch(keys):  # the rest of it comes with the next keys
            self._rest = keys
            return ""
        if not self._pasting:
            acts.append(Keystroke("stop"))
        return keys[1:]

    def _letter(self, letter: str, acts: list[Keystroke]) -> None:
        if letter in "\r\n":
            self._enter(acts)
        elif letter in "\x7f\x08":
            self.text = self.text[:-1]
        elif letter == "\x15":
            self.text = ""
        elif letter == "\x03":
            acts.append(Keystroke("stop"))
        elif len(self.text) < LIMIT and letter >= " ":
            self.text += drawn(letter)

    def _enter(self, acts: list[Keystroke]) -> None:
        if self._pasting:
            self.text += "\n"
        elif self.text.strip():
            acts.append(Keystroke("line", self.text))
            self.text = ""
