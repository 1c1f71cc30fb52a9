"""The screens printed by tmux: whole, and each row with its own styles and letters.

tmux leaves out what a row has from the row above it: its styles, and whether its letters are those that draw lines.
From version 3.6 on it prints a tab as a tab, from 3.7 on a backslash of a title as two.
"""

import re
from collections.abc import Iterable, Sequence

from pro0.model.runtime import Handle
from pro0.model.screen import Screen
from pro0.rules.text import width
from pro0.sessions.tmux.script import at_least, line

_ESCAPE = re.compile(
    r"\x1b\[([0-9;:]*)m|([\x0e\x0f])|\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])"
)
"""A sequence; its first group are the parameters of a style, its second switches between the sets of letters."""
_LINES_ON = "\x0e"
_LINES = str.maketrans("+,-.0`afghijklmnopqrstuvwxyz{|}~", "→←↑↓█◆▒°±░␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")
"""The letters of the set that draws lines."""
_LONG = ("38", "48", "58")
_STOPS = range(8, 1 << 16, 8)
"""The columns of a terminal to which tabs go, unless its program has chosen others."""


def capture(handle: Handle, mark: str) -> str:
    """Return the line to print a pane's screen below a head; nobody in the pane can know the `mark`."""
    numbers = "#{cursor_x} #{cursor_y} #{pane_width} #{pane_height} #{pane_tabs}"
    head = f"{mark} {handle.incarnation} {numbers} {at_least(3, 7)} #{{pane_title}}"
    return line(("display-message", "-p", "-t", handle.pane, head), ("capture-pane", "-p", "-e", "-t", handle.pane))


def screens(lines: Iterable[str], mark: str) -> dict[str, Screen]:
    """Return the screens printed by `capture`, by incarnation."""
    heads: dict[str, str] = {}
    printed: dict[str, list[str]] = {}
    current = ""
    for text in lines:
        if text.startswith(f"{mark} "):
            current = text.split(" ")[1]
            heads[current], printed[current] = text, []
        elif current:
            printed[current].append(text)
    return {incarnation: _screen(head, printed[incarnation]) for incarnation, head in heads.items()}


def _screen(head: str, printed: list[str]) -> Screen:
    _, _, column, row, columns, height, tabs, is_doubled, title = head.split(" ", 8)
    stops = [*(int(stop) for stop in tabs.split(",") if stop), int(columns) - 1]
    shown = [spread(text, stops) for text in printed]
    styled = _on_their_own([*shown, *[""] * (int(height) - len(printed))])  # a call's last empty rows are cut off
    rows = tuple(_ESCAPE.sub("", text).rstrip() for text in styled)
    title = title.replace("\\\\", "\\") if is_doubled == "1" else title
    return Screen(rows=rows, title=title, styled=styled, cursor=(int(column), int(row)), columns=int(columns))


def spread(text: str, stops: Sequence[int] = _STOPS) -> str:
    """Return a row with blanks up to the next stop for each of its tabs."""
    *before, last = text.split("\t")
    parts: list[str] = []
    column = 0
    for part in before:
        column += sum(map(width, _ESCAPE.sub("", part)))
        stop = next((stop for stop in stops if stop > column), column)
        parts += (part, " " * (stop - column))
        column = stop
    return "".join([*parts, last])


def _on_their_own(printed: Iterable[str]) -> tuple[str, ...]:
    """Return rows of letters and styles, each with all its styles."""
    held: dict[str, str] = {}
    draws_lines = False
    rows = []
    for text in printed:
        parts = [f"\x1b[{';'.join(held.values())}m"] if held and text else []
        done = 0
        for escape in _ESCAPE.finditer(text):
            parts.append(_letters(text[done : escape.start()], draws_lines))
            done = escape.end()
            if escape[1] is not None:
                parts.append(escape[0])
                _hold(held, escape[1])
            elif escape[2]:
                draws_lines = escape[2] == _LINES_ON
        parts.append(_letters(text[done:], draws_lines))
        rows.append("".join(parts))
    return tuple(rows)


def _letters(text: str, draws_lines: bool) -> str:
    return text.translate(_LINES) if draws_lines else text


def _hold(held: dict[str, str], parameters: str) -> None:
    """Take the parameters of one SGR sequence into the present ones."""
    words = parameters.split(";")
    while words:
        word = words.pop(0)
        if word in ("", "0"):
            held.clear()
            continue
        if word in _LONG and words:
            count = 4 if words[0] == "2" else 2
            word, words = ";".join([word, *words[:count]]), words[count:]
        kind = _kind(word)
        held.pop(kind, None)  # the last one counts, so it comes last
        held[kind] = word


def _kind(word: str) -> str:
    """Return the subject of a parameter: the next one of it takes its place. A style is its own subject."""
    digits = re.match("[0-9]+", word)
    number = int(digits[0]) if digits else 0
    if number in (58, 59):
        return "underline"
    return {3: "letters", 9: "letters", 4: "ground", 10: "ground"}.get(number // 10, word)
