"""The screens printed by tmux: whole, and each row with its own styles and letters.

tmux does not repeat what a row shares with the row above it: its styles, and the line-drawing letters. Since version
3.6 it prints a tab as a tab, since 3.7 a backslash in a title as two.
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
"""An escape sequence. Group 1 is the parameters of a style, group 2 a switch between character sets."""
_LINES_ON = "\x0e"
_LINES = str.maketrans("+,-.0`afghijklmnopqrstuvwxyz{|}~", "→←↑↓█◆▒°±░␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")
"""The letters of the line-drawing character set."""
_LONG = ("38", "48", "58")
_STOPS = range(8, 1 << 16, 8)
"""The tab stops of a terminal, unless its program has chosen others."""


def capture(handle: Handle, mark: str) -> str:
    """Return the line that prints a head, then a pane's screen. No program in the pane can know the head's `mark`."""
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
    lines = [spread(text, stops) for text in printed]
    styled = _on_their_own([*lines, *[""] * (int(height) - len(printed))])  # a call's last empty rows are cut off
    rows = tuple(_ESCAPE.sub("", text).rstrip() for text in styled)
    title = title.replace("\\\\", "\\") if is_doubled == "1" else title
    return Screen(rows=rows, title=title, styled=styled, cursor=(int(column), int(row)), columns=int(columns))


def spread(text: str, stops: Sequence[int] = _STOPS) -> str:
    """Return a row with each tab replaced by blanks up to the next stop."""
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
    """Return rows that each begin with the styles of the row above, and have line-drawing letters translated."""
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
    """Merge the parameters of one SGR sequence into the present ones."""
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
    """Return the kind of a parameter: a later one of the same kind replaces it. A style is its own kind."""
    digits = re.match("[0-9]+", word)
    number = int(digits[0]) if digits else 0
    if number in (58, 59):
        return "underline"
    return {3: "letters", 9: "letters", 4: "ground", 10: "ground"}.get(number // 10, word)
