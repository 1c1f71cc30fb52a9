"""The places on an agent's screen: its input box, its menus, the rows above and below.

The output of an agent's work can quote any word of any state. A screen is therefore cut first, into places drawn only
by the agent itself. The rules of `rules/screens/screens.py` look there and nowhere else.
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Literal

import msgspec

from pro0.model.screen import Screen
from pro0.rules.screens.escapes import Cell, grey, painted
from pro0.rules.text import drawn

Box = Literal["none", "empty", "typed"]
Span = tuple[int, int]

_OVER = re.compile(r"^Pane is dead \(")
"""The text tmux writes into the last row after a pane's program has ended: then nothing else counts."""
_SHADE = re.compile(r"^[\s▀▄]+$")
"""A row that only rounds off a coloured field, as good as empty."""

_POINTER = r"^[\s│]*[❯›→▸▶]\s+[^\s\d]"
"""The chosen line of a menu without numbers."""
_CONFIRM = r"(?i)\benter\b.*\b(?:confirm|select|choose|continue|submit|accept)\b"
"""The row with the key that answers such a menu."""
LAST = 20
"""The most rows returned as a program's last output."""
_BELOW = 3
"""Most non-empty rows from the row of `_CONFIRM` to the end of the screen."""


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """The drawing of one agent's input box and menus, as patterns of whole rows without trailing blanks."""

    prompt: str
    """The start of the input box's first row; typed text or a hint follows."""
    edge: str = ""
    """The row above the input box and the row below it. Without edges the box goes from its prompt to the last empty
    row above the rows at the foot."""
    edges_alike: str = ""
    """A row that may be an edge or typed text. It is the upper edge only if it has the width and the colour of the
    lower one."""
    foot: str = ""
    """The first row at the foot, below an input box without edges: rows below it may be left from another size."""
    floor: str = ""
    """The row below an input box whose rows all begin like a prompt, and whose last row names the model."""
    holds_cursor: bool = False
    """True when the cursor always stands in the input box: elsewhere, something else covers the box and gets the
    keys."""
    hints: str = ""
    """The texts that may stand in the input box while nothing is typed."""
    hint_colours: tuple[str, ...] = ()
    """The colours of a hint, as parameters of SGR, for hints neither dim nor grey."""
    menu: str = r"^[\s│]*[❯›●]\s*\d+\.\s"
    """The chosen line of a menu."""
    keys: str = r"(?i)\b(enter|esc)\b.*\b(confirm|cancel|submit|continue|select|skip|back|exit)\b"
    """The row with the keys that answer a menu."""
    menu_in_box: bool = False
    """True when a menu is drawn between the edges, in the place of typed text."""
    menu_height: int = 24
    """Most non-empty rows from a menu's chosen line to the end of the screen."""
    top: str = ""
    """A row above a menu: the menu begins below the lowest such row."""


class Block(msgspec.Struct, frozen=True):
    """Rows without an empty one between them."""

    start: int
    """The screen row of the block's first row, counted from 0."""
    rows: tuple[str, ...]


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """A cut screen: blocks of rows above the agent's own place, then a menu or an input box, then the foot."""

    above: tuple[Block, ...] = ()
    """From the top."""
    menu: tuple[str, ...] | None = None
    """The rows of an open menu, with its question; None without a menu."""
    chosen: str = ""
    """The chosen line of that menu."""
    box: Box = "none"
    """The state of the input box: not drawn, empty, or with typed text."""
    text: str = ""
    """The text in the input box, typed or a hint."""
    rim: str = ""
    """The row above the input box, its upper edge."""
    foot: tuple[str, ...] = ()
    """The non-empty rows below the input box; without menu and box, the last rows of the screen."""


def cut(frame: Frame, screen: Screen) -> Parts:
    """Return the parts of a screen; an empty screen, or one with an ended program, has none."""
    rows = ["" if _SHADE.match(row) else row.rstrip() for row in screen.rows]
    while rows and not rows[-1]:
        rows.pop()
    if not rows or _OVER.match(rows[-1]):
        return Parts()
    span = _box(frame, screen, rows)
    menu = _menu(frame, rows, span)
    if menu is not None:
        top = _lowest(frame.top, rows[:menu]) if frame.top else None
        start = 0 if top is None else top + 1
        return Parts(above=_blocks(rows[:start]), menu=_filled(rows[start:]), chosen=rows[menu])
    if span is None:
        blocks = _blocks(rows)
        return Parts(above=blocks[:-1], foot=blocks[-1].rows)
    start, end = span
    text, box = _inside(frame, screen, rows, span)
    below = end + 1 if frame.edge or frame.floor else end
    above, rim = (rows[: start - 1], rows[start - 1]) if frame.edge else (rows[:start], "")
    return Parts(above=_blocks(above), box=box, text=text, rim=rim, foot=_filled(rows[below:]))


def ending(frame: Frame, screen: Screen) -> str:
    """Return a program's output above its input, since the last line typed there."""
    rows = [row for block in cut(frame, screen).above for row in block.rows]
    typed = _lowest(frame.prompt, rows) if frame.prompt else None
    return "\n".join(rows[0 if typed is None else typed + 1 :][-LAST:])


def _menu(frame: Frame, rows: Sequence[str], box: Span | None) -> int | None:
    """Return the row of a menu's chosen line, if the screen ends with a menu and no input box."""
    chosen = _lowest(frame.menu, rows)
    if chosen is None or not _is_last(frame, rows, box, chosen):
        return _pointed(frame, rows, box)
    edge = _lowest(frame.edge, rows) if frame.edge else None
    bordered = edge is not None and edge < chosen
    return chosen if bordered or _lowest(frame.keys, rows[chosen:]) is not None else _pointed(frame, rows, box)


def _is_last(frame: Frame, rows: Sequence[str], box: Span | None, chosen: int) -> bool:
    """Return True when the screen ends close below a menu's chosen line, with no input box after it."""
    after = frame.edge and not frame.menu_in_box
    boxed = box is not None and (box[1] if after else box[0]) > chosen
    return not boxed and len(_filled(rows[chosen:])) <= frame.menu_height


def _pointed(frame: Frame, rows: Sequence[str], box: Span | None) -> int | None:
    """Return the chosen line of a menu without numbers: its only marked row, above the key that confirms it."""
    confirm = _lowest(_CONFIRM, rows)
    chosen = None if confirm is None else _lowest(_POINTER, rows[:confirm])
    if chosen is None or len(_filled(rows[confirm:])) > _BELOW or not _is_last(frame, rows, box, chosen):
        return None
    block = next(block for block in _blocks(rows) if chosen < block.start + len(block.rows))
    return chosen if sum(bool(re.search(_POINTER, row)) for row in block.rows) == 1 else None


def _box(frame: Frame, screen: Screen, rows: Sequence[str]) -> Span | None:
    """Return the first row of the input box, and the row after its last."""
    if frame.edge:
        span = _between_edges(frame, screen, rows)
    else:
        span = _on_a_floor(frame, rows) if frame.floor else _below_its_prompt(frame, rows)
    if span and frame.holds_cursor and screen.cursor and not span[0] <= screen.cursor[1] < span[1]:
        return None
    return span


def _below_its_prompt(frame: Frame, rows: Sequence[str]) -> Span | None:
    start = _lowest(frame.prompt, rows)
    if start is None:
        return None
    foot = next((i for i in range(start + 1, len(rows)) if frame.foot and re.search(frame.foot, rows[i])), len(rows))
    return start, next((i for i in range(foot - 1, start, -1) if not rows[i]), foot)


def _between_edges(frame: Frame, screen: Screen, rows: Sequence[str]) -> Span | None:
    edges = [i for i, row in enumerate(rows) if re.search(frame.edge, row)]
    if frame.edges_alike and edges:
        edges = _like_the_last(frame, edges, screen, rows)
    if len(edges) < 2 or not re.search(frame.prompt, rows[edges[-2] + 1]):
        return None
    return edges[-2] + 1, edges[-1]


def _like_the_last(frame: Frame, edges: Sequence[int], screen: Screen, rows: Sequence[str]) -> list[int]:
    """Return the edges, without possible texts that differ from the last edge in width or in a known colour."""
    from unicodedata import east_asian_width

    cells = dict(enumerate(painted(screen.styled, set(edges))))

    def look(edge: int) -> tuple[int, str]:
        colours = (cell.style.colour for cell in cells.get(edge, ()) if cell.text.strip())
        return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in rows[edge]), next(colours, "")

    return [edge for edge in edges if look(edge) == look(edges[-1]) or not re.search(frame.edges_alike, rows[edge])]


def _on_a_floor(frame: Frame, rows: Sequence[str]) -> Span | None:
    floor = _lowest(frame.floor, rows)
    start = floor
    while start and re.search(frame.prompt, rows[start - 1]):
        start -= 1
    return None if start is None or floor is None or start == floor else (start, floor)


def _inside(frame: Frame, screen: Screen, rows: Sequence[str], span: Span) -> tuple[str, Box]:
    """Return the visible text in the input box as one line, and the box's state: empty or typed."""
    places = _places(frame, rows, span)
    text = " ".join(drawn(" ".join(rows[i][start:stop].strip() for i, start, stop in places)).split())
    if not text:
        return "", "empty"
    return text, "empty" if _is_hint(frame, screen, text, places) else "typed"


def _places(frame: Frame, rows: Sequence[str], span: Span) -> list[tuple[int, int, int]]:
    """Return the places of text in the box: each a row, with its first and last column."""
    start, end = span
    if not frame.floor:
        prompt = re.search(frame.prompt, rows[start])
        start_column = prompt.end() if prompt else 0
        return [(start, start_column, len(rows[start])), *((i, 0, len(rows[i])) for i in range(start + 1, end))]
    width = len(rows[end])
    bars = [(i, match.end()) for i in range(start, end - 1) if (match := re.search(frame.prompt, rows[i]))]
    return [(i, start_column, width) for i, start_column in bars]


def _is_hint(frame: Frame, screen: Screen, text: str, places: Sequence[tuple[int, int, int]]) -> bool:
    """Return True when the agent itself wrote the text in its input box, while nothing is typed.

    Dim text is always a hint. A known hint text is one too, with two exceptions: the cursor stands behind its start, or
    it is drawn like any other text on a screen with colours. When in doubt it is a person's draft.
    """
    cells = _letters(screen, places)
    if cells and all(cell.style.dim for cell in cells):
        return True
    if not frame.hints or not re.match(frame.hints, text):
        return False
    if screen.cursor is not None:
        column, row = screen.cursor
        if any(i == row and column > start + 1 for i, start, _ in places):
            return False
        if not _has_colours(screen):
            return True
    colours = {cell.style.colour for cell in cells if not cell.style.dim}
    return all(grey(colour) or colour in frame.hint_colours for colour in colours)


def _letters(screen: Screen, places: Sequence[tuple[int, int, int]]) -> list[Cell]:
    """Return the visible letters at these places, without the one under the cursor; none when styles are unknown."""
    cells_by_row = list(painted(screen.styled, {i for i, _, _ in places}))
    cells = [cell for i, start, stop in places if i < len(cells_by_row) for cell in cells_by_row[i][start:stop]]
    return [cell for cell in cells if drawn(cell.text).strip() and not cell.style.reverse]


def _has_colours(screen: Screen) -> bool:
    """Return True for a screen with dim or coloured letters: its hints are drawn so too."""
    return any(cell.style.dim or cell.style.colour for row in painted(screen.styled) for cell in row)


def _lowest(pattern: str, rows: Sequence[str]) -> int | None:
    return next((i for i in range(len(rows) - 1, -1, -1) if re.search(pattern, rows[i])), None)


def _filled(rows: Sequence[str]) -> tuple[str, ...]:
    return tuple(row for row in rows if row)


def _blocks(rows: Sequence[str]) -> tuple[Block, ...]:
    """Split rows into blocks at empty rows."""
    starts = [i for i, row in enumerate(rows) if row and not (i and rows[i - 1])]
    return tuple(Block(start, tuple(takewhile(bool, rows[start:]))) for start in starts)
