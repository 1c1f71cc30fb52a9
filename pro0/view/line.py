"""A line of text being typed, edited as in a shell."""

import re
from typing import NamedTuple

from pro0.rules.text import visible, width
from pro0.view.drawing import columns_of
from pro0.view.keys import Key, pasted

_WORD = re.compile(r"\w+")
_NAMES = {
    "ctrl-a": "home",
    "ctrl-b": "left",
    "ctrl-d": "delete",
    "ctrl-e": "end",
    "ctrl-f": "right",
    "ctrl-h": "backspace",
    "ctrl-left": "alt-b",
    "ctrl-right": "alt-f",
}
"""Keys that act like another key."""


def _fitting(letters: str, columns: int) -> tuple[list[str], int]:
    """Return as many first letters as fit, in their visible form, and the number of their columns."""
    texts: list[str] = []
    used = 0
    for letter in letters:
        text = visible(letter)
        wide = columns_of(text)
        if used + wide > columns:
            break
        texts.append(text)
        used += wide
    return texts, used


class Line(NamedTuple):
    """A text, the position of the cursor in it, and the text cut last."""

    text: str = ""
    at: int = 0
    cut: str = ""

    def press(self, key: Key) -> "Line":
        """Return the line after one key; a key without a meaning changes nothing."""
        name = _NAMES.get(key.name, key.name)
        if name == "paste":
            return self.put(" ".join(pasted(key).split()))
        if len(name) == 1:
            return self.put(name)
        if name == "ctrl-y":
            return self.put(self.cut)
        if name in ("ctrl-k", "ctrl-u", "ctrl-w", "alt-d", "alt-backspace"):
            return self._cut_to(self._place(name), keeps=True)
        if name in ("backspace", "delete"):
            return self._cut_to(self._place("left" if name == "backspace" else "right"), keeps=False)
        return self._replace(at=self._place(name))

    def put(self, text: str) -> "Line":
        """Return the line with a text inserted before the cursor."""
        return self._replace(text=self.text[: self.at] + text + self.text[self.at :], at=self.at + len(text))

    def shown(self, room: int) -> tuple[str, int]:
        """Return the part of the line around the cursor that fits, and the cursor's column in it."""
        backwards, after = self.text[: self.at][::-1], self.text[self.at :]
        before, used = _fitting(backwards, room - 1)
        rest, _ = _fitting(after, room - 1 - used)
        if len(before) + len(rest) < len(self.text) and (len(before) < self.at or used == room - 1):
            before, used = _fitting(backwards, room - 2)
            before, used = [*before, "…"], used + 1
            rest, _ = _fitting(after, room - 1 - used)
        return "".join([*reversed(before), *rest]), used

    def _place(self, name: str) -> int:
        """Return the index after a move, or at the other end of a cut."""
        match name:
            case "home" | "ctrl-u":
                return 0
            case "end" | "ctrl-k":
                return len(self.text)
            case "left":
                return self._over(-1)
            case "right":
                return self._over(1)
            case "ctrl-w":
                return len(re.sub(r"\S*\s*\Z", "", self.text[: self.at], count=1))
            case "alt-b" | "alt-backspace":
                return max((match.start() for match in _WORD.finditer(self.text, 0, self.at)), default=0)
            case "alt-f" | "alt-d":
                word = _WORD.search(self.text, self.at)
                return word.end() if word else len(self.text)
        return self.at

    def _over(self, step: int) -> int:
        """Return the index of the next letter with a width: combining marks belong to the letter before them."""
        at = self.at + step
        while 0 < at < len(self.text) and not width(self.text[at]):
            at += step
        return max(0, min(len(self.text), at))

    def _cut_to(self, place: int, *, keeps: bool) -> "Line":
        start, end = sorted((self.at, place))
        cut = self.text[start:end] if keeps and start < end else self.cut
        return Line(self.text[:start] + self.text[end:], start, cut)
