"""Reading an agent's state from its title and its drawn screen, by rules that are data."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from pro0.model.runtime import State
from pro0.model.screen import Reading, Screen
from pro0.rules.screens import words
from pro0.rules.screens.drawing import Block, Box, Frame, Parts, cut
from pro0.rules.screens.escapes import hue, painted

NOTE_LIMIT = 120


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """The signs of one state on a drawn screen: every sign in a rule must be there."""

    name: str
    state: State
    menu: tuple[str, ...] | None = None
    """Each pattern matches a row of the open menu; empty for any menu, None for no menu."""
    box: tuple[Box, ...] = ()
    """The allowed states of the input box; empty for any."""
    above: tuple[str, ...] = ()
    """Each pattern matches the first row of the lowest block above the input box, or above the foot without a box."""
    over: str = ""
    """Blocks whose first row matches are skipped on the way up. The rule reads them and the next block above them."""
    foot: tuple[str, ...] = ()
    """Each pattern matches a row at the foot."""
    rim: tuple[str, ...] = ()
    """Each pattern matches the upper edge of the input box."""
    coloured: bool = False
    """True when the match above must be drawn in a colour, if colours are known: a model's own text is not."""
    anywhere: tuple[str, ...] = ()
    """Each pattern matches any row of the screen: for things an agent draws over everything else."""
    absent: tuple[str, ...] = ()
    """No pattern matches any row looked at."""
    note: tuple[str, ...] = ()
    """A note for people: the first group of each pattern with a match in these same rows."""


class TitleRule(msgspec.Struct, frozen=True, kw_only=True):
    """The sign of one state in the title that an agent sets."""

    name: str
    state: State
    title: str


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """The display of one agent's state: its places, and the rules to read them; the first match counts."""

    frame: Frame
    rules: tuple[Rule, ...]
    titles: tuple[TitleRule, ...] = ()
    sign: str = ""
    """The pattern of a title that shows a state, without signs known to mean nothing. If no rule matches such a title,
    its sign is an unknown word."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A reading and its evidence."""

    reading: Reading
    place: str = ""
    """The end of the screen: `menu`, `empty input box`, `typed text`, or nothing known."""
    rows: tuple[str, ...] = ()
    """The rows matched by the rule's patterns."""


def read(drawing: Drawing | None, screen: Screen) -> tuple[Reading, ...]:
    """Return the title's reading, if any, and the screen's reading, even an unknown one."""
    return tuple(evidence.reading for evidence in explain(drawing, screen)) if drawing else ()


def explain(drawing: Drawing, screen: Screen) -> tuple[Evidence, ...]:
    """Return the readings of the title and, unless nothing was captured, of the screen, with their evidence."""
    titled = _titled(drawing, screen.title)
    return (*([titled] if titled else []), *([_drawn(drawing, screen)] if screen.rows else []))


def typed(drawing: Drawing, screen: Screen) -> str | None:
    """Return the text typed in the input box as one line, empty for nothing; None without an input box."""
    parts = cut(drawing.frame, screen)
    return {"none": None, "empty": "", "typed": parts.text}[parts.box]


def _titled(drawing: Drawing, title: str) -> Evidence | None:
    for rule in drawing.titles:
        if re.search(rule.title, title):
            return Evidence(reading=Reading(state=rule.state, source="title", rule=rule.name), rows=(title,))
    if drawing.sign and re.search(drawing.sign, title):
        unknown = Reading(state=State.UNKNOWN, source="title", rule=words.RULE, note=title[:NOTE_LIMIT])
        return Evidence(reading=unknown, rows=(title,))
    return None


def _drawn(drawing: Drawing, screen: Screen) -> Evidence:
    """Return the reading by the first matching rule, or an unknown reading."""
    parts = cut(drawing.frame, screen)
    for rule in drawing.rules:
        rows = _fits(rule, parts, screen)
        if rows is not None:
            reading = Reading(state=rule.state, source="screen", rule=rule.name, note=_note(rule, parts, rows))
            return Evidence(reading=reading, place=_place(parts), rows=rows)
    return Evidence(reading=Reading(state=State.UNKNOWN, source="screen"), place=_place(parts))


def _place(parts: Parts) -> str:
    if parts.menu is not None:
        return "menu"
    return {"none": "", "empty": "empty input box", "typed": "typed text"}[parts.box]


def _fits(rule: Rule, parts: Parts, screen: Screen) -> tuple[str, ...] | None:
    """Return the rows matched by a rule, or None when it does not match."""
    if (rule.menu is None) != (parts.menu is None) or (rule.box and parts.box not in rule.box):
        return None
    blocks = _above(rule, parts)
    above = tuple(row for block in blocks for row in block.rows)
    firsts = tuple(block.rows[0] for block in blocks)
    patterns_and_rows = (
        (rule.menu or (), parts.menu or ()),
        (rule.above, firsts),
        (rule.foot, parts.foot),
        (rule.rim, (parts.rim,)),
        (rule.anywhere, screen.rows),
    )
    rows_hit = [_first_hit(pattern, rows) for patterns, rows in patterns_and_rows for pattern in patterns]
    if not all(rows_hit) or any(_first_hit(pattern, (*_own_place(parts), *above)) for pattern in rule.absent):
        return None
    if rule.coloured and not all(_coloured(pattern, blocks, screen) for pattern in rule.above):
        return None
    content = [parts.chosen] if parts.menu is not None else [parts.text] if parts.box == "typed" else []
    return tuple(row for row in (*rows_hit, *content) if row)


def _note(rule: Rule, parts: Parts, matched: Sequence[str]) -> str:
    """Return the matches of the note's patterns, as one shortened line."""
    rows = (*(row for block in _above(rule, parts) for row in block.rows), *_own_place(parts), parts.rim, *matched)
    note = " · ".join(filter(None, (_group(pattern, rows) for pattern in rule.note)))
    return note if len(note) <= NOTE_LIMIT else note[: NOTE_LIMIT - 1] + "…"


def _own_place(parts: Parts) -> tuple[str, ...]:
    return (*(parts.menu or ()), *parts.foot)


def _above(rule: Rule, parts: Parts) -> tuple[Block, ...]:
    """Return the blocks above for a rule to look at."""
    if not rule.above or not parts.above:
        return ()
    lowest = len(parts.above) - 1
    while rule.over and lowest > 0 and re.search(rule.over, parts.above[lowest].rows[0]):
        lowest -= 1
    return parts.above[lowest:]


def _coloured(pattern: str, blocks: Sequence[Block], screen: Screen) -> bool:
    """Return True when a matching first row begins with a colour; always True when no colour is known."""
    cells = list(painted(screen.styled))
    if not any(hue(cell.style.colour) for row in cells for cell in row):
        return True
    first_rows = [cells[block.start] for block in blocks if re.search(pattern, block.rows[0])]
    begins = ([cell for cell in row if cell.text.strip()][:1] for row in first_rows)
    return any(hue(letter.style.colour) for letters in begins for letter in letters)


def _first_hit(pattern: str, rows: tuple[str, ...]) -> str | None:
    return next(_hits(pattern, rows), None)


def _hits(pattern: str, rows: tuple[str, ...]) -> Iterator[str]:
    return (row for row in rows if re.search(pattern, row))


def _group(pattern: str, rows: tuple[str, ...]) -> str:
    """Return the pattern's first match in a row, or in a pair of rows when it spans the end of a row."""
    pairs = tuple(map("\n".join, pairwise(rows))) if "\n" in pattern else rows
    for row in _hits(pattern, pairs):
        match = re.search(pattern, row)
        if match and match.group(1).strip():
            return " ".join(match.group(1).split())
    return ""
