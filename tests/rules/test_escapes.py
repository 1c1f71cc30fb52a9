"""What the escapes of a captured terminal say of its text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0.model.screen import Screen
from pro0.rules.screens.escapes import Cell, Style, grey, hue, painted, plain, screen_of

ROWS = [
    ("\x1b[2mdim\x1b[0m not", [Style(dim=True)] * 3 + [Style()] * 4),
    ("\x1b[1;2mx\x1b[22my", [Style(dim=True), Style()]),
    ("\x1b[7m \x1b[27mx", [Style(reverse=True), Style()]),
    ("\x1b[38;5;248mx\x1b[39my", [Style(colour="38;5;248"), Style()]),
    ("\x1b[38;2;1;2;3;2mx", [Style(colour="38;2;1;2;3", dim=True)]),
    ("\x1b[38:2::1:2:3mx", [Style(colour="38;2;1;2;3")]),
    ("\x1b[48;5;2mx", [Style()]),
    ("\x1b[4:3mx\x1b[90my\x1b[31mz", [Style(), Style(colour="90"), Style(colour="31")]),
    ("\x1b[4:2mx\x1b[58:5:2my", [Style(), Style()]),
    ("\x1b[2mx\x1b[my", [Style(dim=True), Style()]),
    ("\x1b]8;;https://x.example\x1b\\x\x1b]8;;\x1b\\y", [Style(), Style()]),
    ("\x0e\x1b(Bx\x1b[K", [Style()]),
    ("\x1b[38;9;2mx", [Style(dim=True, colour="38")]),
    ("\x1b[38mx\x1b[38;5mx", [Style(colour="38"), Style(colour="38;5")]),
]


@pytest.mark.parametrize(("row", "styles"), ROWS)
def test_letters_are_drawn_as_the_escapes_before_them_say(row: str, styles: list[Style]) -> None:
    (cells,) = painted([row])
    assert [cell.style for cell in cells] == styles
    assert "".join(cell.text for cell in cells) == plain(row)


def test_a_style_goes_on_into_the_next_row() -> None:
    assert list(painted(["\x1b[2ma", "b\x1b[0m"])) == [(Cell("a", Style(dim=True)),), (Cell("b", Style(dim=True)),)]


@given(st.lists(st.sampled_from([row for row, _ in ROWS]), max_size=6), st.sets(st.integers(0, 6)))
def test_a_row_looks_the_same_whichever_other_rows_are_wanted(rows: list[str], only: set[int]) -> None:
    """The style of a row that is not wanted goes on into the next one all the same."""
    whole = list(painted(rows))
    assert list(painted(rows, only)) == [cells if number in only else () for number, cells in enumerate(whole)]


@pytest.mark.parametrize(
    ("colour", "says"),
    [
        ("", False),
        ("90", True),
        ("31", False),
        ("38;5;8", True),
        ("38;5;248", True),
        ("38;5;239", False),
        ("38;5;240", True),
        ("38;5;250", True),
        ("38;5;251", False),
        ("38;2;79;79;79", False),
        ("38;2;80;80;80", True),
        ("38;2;190;190;190", True),
        ("38;2;191;191;191", False),
        ("38;2;100;124;110", True),
        ("38;2;100;125;110", False),
        ("91", False),
        ("38;5;88", False),
        ("38;5;231", False),
        ("38;5;255", False),
        ("38;2;128;128;128", True),
        ("38;2;30;30;30", False),
        ("38;2;255;255;255", False),
        ("38;2;128;20;20", False),
        ("38;2;1", False),
        ("38;5", False),
    ],
)
def test_grey_is_neither_black_white_nor_a_hue(colour: str, says: bool) -> None:
    assert grey(colour) is says


@pytest.mark.parametrize(
    ("colour", "says"),
    [
        ("", False),
        ("30", False),
        ("31", True),
        ("96", True),
        ("37", False),
        ("90", False),
        ("38;5;1", True),
        ("38;5;8", False),
        ("38;5;15", False),
        ("38;5;16", False),
        ("38;5;220", True),
        ("38;5;231", False),
        ("38;5;244", False),
        ("38;2;204;102;102", True),
        ("38;2;128;130;128", False),
        ("38;2;100;124;110", False),
        ("38;2;100;125;110", True),
        ("36", True),
        ("97", False),
        ("38;5;0", False),
        ("38;5;6", True),
        ("38;5;7", False),
        ("38;5;9", True),
        ("38;5;14", True),
        ("38;5;17", True),
        ("38;5;22", True),
        ("38;5;52", True),
        ("38;5;59", False),
        ("38;5;230", True),
        ("38;5;232", False),
        ("38;2;1", False),
        ("38", False),
    ],
)
def test_a_hue_is_neither_black_white_nor_grey(colour: str, says: bool) -> None:
    assert hue(colour) is says


def test_a_screen_has_styles_when_its_text_has_escapes() -> None:
    assert screen_of("a\nb\n").rows == ("a", "b")
    assert screen_of("a", "title", (1, 0)) == Screen(rows=("a",), title="title", cursor=(1, 0))
    assert (screen_of("a").title, screen_of("\x1b[2ma").title) == ("", "")
    assert not screen_of("a\nb\n").styled
    screen = screen_of("\x1b[2ma\nb\n", "title", (0, 1))
    assert (screen.rows, screen.title, screen.cursor) == (("a", "b"), "title", (0, 1))
    assert screen.styled == ("\x1b[2ma", "b")


@given(st.text(st.characters(codec="utf-8"), max_size=30) | st.text("\x1b[]();:0123456789mK\x07ab", max_size=30))
def test_any_text_has_letters_and_as_many_styles(row: str) -> None:
    (cells,) = painted([row])
    assert "".join(cell.text for cell in cells) == plain(row)
    assert not any(grey(cell.style.colour) and hue(cell.style.colour) for cell in cells)
