"""The only table of colours: the look of a state, a status or a result on the command line and in the view."""

import os
import re
from collections.abc import Mapping
from functools import lru_cache

_RED, _GREEN, _CYAN, _ASKS, _DIM = "31", "32", "36", "1;33", "2"
_TABLE = {
    **dict.fromkeys(("crashed", "failed", "unresponsive", "unreachable", "error", "fail", "gone"), _RED),
    **dict.fromkeys(("working", "running", "in progress", "ok"), _GREEN),
    **dict.fromkeys(("starting", "stopping"), _CYAN),
    **dict.fromkeys(("waiting", "dialog", "draft", "awaiting", "warn"), _ASKS),
    **dict.fromkeys(("completed", "cancelled", "exited", "shutdown", "stopped"), _DIM),
}
_WITHOUT_COLOUR = {_ASKS: "1"}
"""The part of a style kept without colours: bold is no colour."""
_SHALLOW = ("linux", "screen", "vt1", "vt2", "ansi", "xterm-16color", "xterm-color")
"""The beginnings of the TERM of terminals without 24-bit colours."""
_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_LEVELS = (0, 95, 135, 175, 215, 255)
"""The levels of red, green and blue in the palette of 256 colours."""


def code(word: str) -> str:
    """Return the numbers of the SGR sequence for a word, "" for a word without a style."""
    numbers = _TABLE.get(word, "")
    if numbers != _DIM and os.environ.get("NO_COLOR"):
        return _WITHOUT_COLOUR.get(numbers, "")
    return numbers


def style(word: str) -> str:
    """Return the sequence that begins the style of a word, or an empty string."""
    numbers = code(word)
    return f"\x1b[{numbers}m" if numbers else ""


def is_deep(environment: Mapping[str, str]) -> bool:
    """Return False for a terminal known to lack 24-bit colours: it would take their numbers for styles.

    Over ssh most terminals tell only `xterm-256color`, and have them. Terminal.app lacks them before macOS 26, unless
    COLORTERM tells otherwise. tmux shows the nearest ones where its own terminal has less.
    """
    if environment.get("COLORTERM", "").lower() in ("truecolor", "24bit") or environment.get("TMUX"):
        return True
    return environment.get("TERM_PROGRAM") != "Apple_Terminal" and not environment.get("TERM", "").startswith(_SHALLOW)


def shallow(text: str) -> str:
    """Return a text with the nearest of 256 colours, and with plain underlines, for a terminal that is not deep."""
    return _SGR.sub(lambda style: _in_palette(style[1]), text)


@lru_cache(4096)
def _in_palette(parameters: str) -> str:
    left = parameters.split(";")
    kept: list[str] = []
    while left:
        word = left.pop(0)
        if word in ("38", "48", "58") and left[:1] == ["2"]:
            colour, left = [int(number or 0) for number in [*left[1:4], "", "", ""][:3]], left[4:]
            kept += [word, "5", str(_nearest(colour))] if word != "58" else []
        elif word in ("38", "48", "58") and left[:1] == ["5"]:
            kept += [word, *left[:2]] if word != "58" else []
            left = left[2:]
        elif ":" not in word:
            kept.append(word)
        elif word.startswith("4:"):
            kept.append("24" if word == "4:0" else "4")
    return f"\x1b[{';'.join(kept)}m" if kept else ""


def _nearest(colour: list[int]) -> int:
    """Return the number of the colour in the palette's cube or greys that is nearest."""
    steps = [min(range(6), key=lambda step: abs(_LEVELS[step] - part)) for part in colour]
    grey = max(0, min(23, round((sum(colour) / 3 - 8) / 10)))
    candidates = {232 + grey: [8 + 10 * grey] * 3, _number(steps): [_LEVELS[step] for step in steps]}
    return min(
        candidates, key=lambda number: sum((a - b) ** 2 for a, b in zip(candidates[number], colour, strict=False))
    )


def _number(steps: list[int]) -> int:
    number = 0
    for step in steps:
        number = 6 * number + step
    return 16 + number
