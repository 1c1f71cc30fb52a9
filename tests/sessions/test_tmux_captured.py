"""Screens as tmux prints them: nothing of a row depends on the rows above it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0.model.screen import Screen
from pro0.rules.screens.escapes import painted, plain
from pro0.sessions.tmux.captured import screens

MARK = "mark"
SEQUENCES = [
    "0",
    "0;1;2",
    "31",
    "97",
    "39",
    "38;5;9",
    "38;2;1;2;3",
    "44",
    "48;5;7",
    "58;5;3",
    "2",
    "7",
    "0;4:3",
    "53",
    "",
]
PARTS = st.sampled_from([*(f"\x1b[{words}m" for words in SEQUENCES), "a", "bc", " ", "漢"])
ROWS = st.lists(st.lists(PARTS, max_size=8).map("".join), max_size=8)


def screen(printed: list[str], height: int = 8, title: str = "a title", tabs: str = "8,16", doubled: int = 0) -> Screen:
    head = f"{MARK} a-1 2 3 80 {height} {tabs} {doubled} {title}"
    return screens([head, *printed], MARK)["a-1"]


@given(ROWS)
def test_each_row_by_itself_looks_as_it_did_below_the_others(printed: list[str]) -> None:
    found = screen(printed)
    alone = [next(painted([row])) for row in found.styled]
    assert alone == [*painted([*printed, *[""] * (8 - len(printed))])]
    assert found.rows == tuple(plain(row).rstrip() for row in found.styled)


@given(ROWS, st.sampled_from(SEQUENCES))
def test_a_row_says_no_style_twice(printed: list[str], words: str) -> None:
    """However many rows are above it: one of each kind holds."""
    found = screen([*[f"\x1b[{words}m\x1b[31mx\x1b[32my\x1b[1mz" for _ in range(50)], *printed, "end"], 99)
    beginning = found.styled[50 + len(printed)].removesuffix("end")
    assert len(beginning) < 60


@pytest.mark.parametrize(
    ("printed", "rows"),
    [
        (["\x0elqk", "x\x0f x \x0ex", "mqj\x0f"], ("┌─┐", "│ x │", "└─┘")),
        (["\x0eq\x1b[31mq\x0fq"], ("──q",)),
        (["\x1b]8;;http://h\x1b\\link\x1b]8;;\x1b\\ \x1b(Btext"], ("link text",)),
    ],
    ids=["a box", "with a colour", "links"],
)
def test_letters_that_draw_lines_are_those_lines_and_nothing_but_styles_is_left(
    printed: list[str], rows: tuple[str, ...]
) -> None:
    found = screen(printed, len(rows))
    assert found.rows == rows
    assert tuple(map(plain, found.styled)) == rows
    assert "\x1b]" not in "".join(found.styled)


def test_the_rows_that_a_call_does_not_print_are_empty() -> None:
    found = screen(["one"], 4, "title  with blanks ")
    assert (found.rows, found.styled) == (("one", "", "", ""), ("one", "", "", ""))
    assert (found.title, found.cursor, found.columns) == ("title  with blanks ", (2, 3), 80)


@pytest.mark.parametrize(
    ("printed", "row"),
    [
        ("\ta", "        a"),
        ("1234567\ta", "1234567 a"),
        ("12345678\ta", "12345678        a"),
        ("\x1b[31m漢\x1b[0m\ta", "漢      a"),
        ("e\u0301\t\ta", "e\u0301               a"),
        ("\t\t\ta", " " * 79 + "a"),
        ("\x0eq\ta\x0f", "─       ▒"),
        ("a\t", "a"),
    ],
)
def test_a_tab_is_as_wide_as_on_the_screen(printed: str, row: str) -> None:
    """tmux 3.6 and newer print it as a tab, and where it ends depends on the columns before it."""
    assert screen([printed]).rows[0] == row


@pytest.mark.parametrize(("tabs", "row"), [("3,5", "a  b c"), ("", f"a{' ' * 78}bc")])
def test_a_tab_goes_where_the_program_has_put_its_stops(tabs: str, row: str) -> None:
    assert screen(["a\tb\tc"], tabs=tabs).rows[0] == row


def test_a_backslash_of_a_title_is_one() -> None:
    """tmux 3.7 and newer print two for each."""
    assert screen([], title=r"a\\b\\\\c d", doubled=1).title == r"a\b\\c d"
    assert screen([], title=r"a\\b\c d").title == r"a\\b\c d"
