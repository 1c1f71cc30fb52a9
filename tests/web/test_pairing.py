"""The code that a phone's camera reads, drawn on the person's terminal."""

import re
import sys

import pytest
import segno

from pro0.store.teams import TeamStore
from tests.cli.test_verdicts import typed

HALVES = {" ": (1, 1), "▀": (0, 1), "▄": (1, 0), "█": (0, 0)}
"""The upper and the lower module of a letter: 1 is dark, the colours are white on black."""
QUIET = 4


def drawn(text: str) -> list[list[int]]:
    """Return the modules of the code in a terminal's output, without the quiet zone around them."""
    rows: list[list[int]] = []
    for line in re.findall("\x1b\\[38;5;231;48;5;16m(.*?)\x1b\\[0m", text):
        pairs = [HALVES[letter] for letter in line]
        rows += [[upper for upper, _ in pairs], [lower for _, lower in pairs]]
    return [row[QUIET:-QUIET] for row in rows[QUIET:]]


def test_a_terminal_shows_the_address_as_a_code(team: TeamStore) -> None:
    shown = typed("-m", "pro0", "web", "pair", program=sys.executable, TERM="xterm-256color")
    assert shown.code == 0, shown.out
    address = re.findall(r"^\S*#pair=\S+", shown.out, re.MULTILINE)[0]
    expected = [list(row) for row in segno.make(address, error="l", micro=False).matrix]
    assert drawn(shown.out)[: len(expected)] == expected


@pytest.mark.parametrize("term", ["dumb", "xterm"])
def test_it_is_for_terminals_alone(team: TeamStore, term: str) -> None:
    shown = typed("-m", "pro0", "web", "pair", program=sys.executable, TERM=term)
    assert ("█" in shown.out) is (term == "xterm")
