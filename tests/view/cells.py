"""What rows with colours look like, however the colours were said: to compare what two terminals show."""

import re
from collections.abc import Iterable

Style = dict[str, object]
Cell = tuple[str, tuple[tuple[str, object], ...]]
_PART = re.compile(r"\x1b\[([0-9;:]*)m|(.)", re.DOTALL)
_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 5: "blink", 7: "reverse", 8: "hidden", 9: "struck"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 25: ("blink",), 27: ("reverse",), 28: ("hidden",)}
_OFF |= {29: ("struck",), 39: ("letter",), 49: ("ground",)}
_SEEN_ON_BLANKS = ("ground", "reverse", "underline", "struck")
_BLANK: Cell = (" ", ())


def cells(rows: Iterable[str]) -> list[list[Cell]]:
    """Return the cells of rows, whose colours last from one row to the next; those at the end that show nothing go."""
    style: Style = {}
    found = []
    for row in rows:
        line: list[Cell] = []
        for match in _PART.finditer(row):
            if match[2] is None:
                _learn(style, [int(number or 0) for number in re.split("[;:]", match[1])])
            else:
                seen = [name for name in style if match[2] != " " or name in _SEEN_ON_BLANKS]
                line.append((match[2], tuple(sorted((name, style[name]) for name in seen))))
        while line and line[-1] == _BLANK:
            line.pop()
        found.append(line)
    return found


def _learn(style: Style, numbers: list[int]) -> None:
    """Change a style as these numbers of an SGR say."""
    while numbers:
        number = numbers.pop(0)
        if number == 0:
            style.clear()
        elif number in _ON:
            style[_ON[number]] = True
        elif number in _OFF:
            for name in _OFF[number]:
                style.pop(name, None)
        elif number in (38, 48):
            count = {5: 1, 2: 3}[numbers.pop(0)]
            style["letter" if number == 38 else "ground"] = tuple(numbers[:count])
            del numbers[:count]
        else:
            what = "ground" if number // 10 in (4, 10) else "letter"
            style[what] = (number % 10 + (8 if number >= 90 else 0),)
