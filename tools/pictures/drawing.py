"""A terminal's screen as a picture: its text and colours in cells, as SVG, the same bytes for the same screen."""

import re
from collections.abc import Iterable
from html import escape
from typing import NamedTuple

from rich.cells import cell_len
from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

CELL, ROW, SIZE, EDGE, BAR = 8.4, 18, 14, 12, 30
"""The sizes of a cell, its letters, the edge and the title bar, in units of the picture."""
GROUND, FRAME, DIM = "#1b1d21", "#3a3d43", "#8b8f98"
LIGHTS = ("#ff5f57", "#febc2e", "#28c840")
FONTS = "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
_PLAIN = Console(color_system="truecolor", width=1000, no_color=False)

Row = tuple["Run", ...]


class Run(NamedTuple):
    """Letters of one style, from a column on."""

    at: int
    text: str
    fill: str
    back: str = ""
    bold: bool = False


def rows(screen: str, lines: int) -> tuple[Row, ...]:
    """Return the output of `tmux capture-pane -e` as this many rows of runs."""
    found = list(Text.from_ansi(screen.rstrip("\n"), tab_size=8).split("\n", allow_blank=True))
    return tuple(_row(found[at]) if at < len(found) else () for at in range(lines))


def still(screen: str, columns: int, lines: int, title: str) -> str:
    """Return the picture of one screen."""
    drawn = "\n".join(_drawn(row, at) for at, row in enumerate(rows(screen, lines)) if row)
    return framed(drawn, columns, lines, title)


def framed(inside: str, columns: int, lines: int, title: str, head: str = "") -> str:
    """Return the picture of a window with this title, around the drawn rows."""
    width, height = width_of(columns), round(lines * ROW + BAR + EDGE)
    lights = "".join(f'<circle cx="{20 + 18 * at}" cy="15" r="5.5" fill="{fill}"/>' for at, fill in enumerate(LIGHTS))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>{escape(title)}</title>
<style>
text {{ font: {SIZE}px {FONTS}; white-space: pre }}
.b {{ font-weight: bold }}
{head}</style>
<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" fill="{GROUND}" stroke="{FRAME}"/>
{lights}
<text x="{width / 2:g}" y="20" fill="{DIM}" text-anchor="middle">{escape(title)}</text>
<svg x="{EDGE}" y="{BAR}" width="{columns * CELL:g}" height="{lines * ROW}">
{inside}
</svg>
</svg>
"""


def width_of(columns: int) -> int:
    """Return the width of a picture with so many columns."""
    return round(columns * CELL + 2 * EDGE)


def _drawn(row: Row, at: int) -> str:
    return "".join(inked(row, at * ROW))


def inked(row: Row, top: int = 0) -> Iterable[str]:
    """Yield the shapes of one row: backgrounds first, so that they cover no letter."""
    for run in row:
        if run.back:
            at, wide = run.at * CELL, cell_len(run.text) * CELL
            yield f'<rect x="{at:g}" y="{top}" width="{wide:g}" height="{ROW}" fill="{run.back}"/>'
    for run in row:
        yield from _words(run, top)


def _words(run: Run, top: int) -> Iterable[str]:
    """Yield the words of a run, each at its column, since fonts differ in how wide they are."""
    at = run.at
    for part in _parts(run.text):
        if not part.isspace():
            wide = cell_len(part)
            fixed = f' textLength="{wide * CELL:g}" lengthAdjust="spacingAndGlyphs"' if wide > 1 else ""
            look = f'x="{at * CELL:g}" y="{top + ROW - 5}" fill="{run.fill}"' + (' class="b"' if run.bold else "")
            yield f"<text {look}{fixed}>{escape(part, quote=False)}</text>"
        at += cell_len(part)


def _parts(text: str) -> Iterable[str]:
    """Split a text into words, joined as long as single spaces part them, and gaps."""
    return re.findall(r"\s+|\S+(?: \S+)*", text)


def _row(text: Text) -> Row:
    runs, at = list[Run](), 0
    for segment in text.render(_PLAIN, end=""):
        fill, back, bold = _look(segment.style or Style.null())
        runs.append(Run(at, segment.text, fill, back, bold))
        at += cell_len(segment.text)
    while runs and runs[-1].text.isspace() and not runs[-1].back:
        runs.pop()
    return tuple(runs)


def _look(style: Style) -> tuple[str, str, bool]:
    """Return the colours of the letters and of their background, and whether they are bold."""
    fore, back = _colour(style.color, True), _colour(style.bgcolor, False)
    if style.reverse:
        fore, back = back or GROUND, fore
    return (DIM if style.dim and fore == _colour(None, True) else fore), back, bool(style.bold)


def _colour(colour: Color | None, letters: bool) -> str:
    if colour is None or colour.is_default:
        return "#d7dae0" if letters else ""
    return colour.get_truecolor(SVG_EXPORT_THEME).hex
