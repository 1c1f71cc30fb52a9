"""Only letters and colours, never wider than there is room for."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0.view.drawing import Canvas, clipped, columns_of, fitted

SAFE = re.compile(r"(?:\x1b\[[0-9;:]*[mGK]|[^\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufe0f])*")


@pytest.mark.parametrize(
    ("row", "columns", "drawn"),
    [
        ("abc", 5, "abc\x1b[K"),
        ("abcde", 5, "abcde"),
        ("abcdef", 5, "abcde"),
        ("\x1b[31mred\x1b[0m x", 5, "\x1b[31mred\x1b[0m x\x1b[0m"),
        ("你好", 4, "你\x1b[3G好"),
        ("你好", 3, "你\x1b[3G\x1b[K"),
        ("a\x1b]52;c;x\x07b", 20, "a]52;c;xb\x1b[K"),
        ("a\x9b31mb\u202ec", 20, "a31mbc\x1b[K"),
        ("", 5, "\x1b[K"),
        ("\ue0b0main", 5, "\ue0b0\x1b[2Gmain"),
        ("\ue0b0main", 4, "\ue0b0\x1b[2Gmai"),
        ("\U0001faff!", 5, "\U0001faff\x1b[3G!\x1b[K"),
        ("\u1112\u1161\u11ab!", 5, "\u1112\u1161\u11ab\x1b[3G!\x1b[K"),
    ],
)
def test_a_row_is_clipped(row: str, columns: int, drawn: str) -> None:
    assert clipped(row, columns).replace("\x1b[0m\x1b[0m", "\x1b[0m") == drawn


@given(
    st.text(alphabet=st.characters() | st.sampled_from("\x1b[]m;0123\x07\x9b你é\u0301👍"), max_size=60),
    st.integers(1, 40),
)
def test_nothing_that_a_terminal_obeys_gets_through(row: str, columns: int) -> None:
    drawn = clipped(row, columns)
    assert SAFE.fullmatch(drawn)
    assert columns_of(re.sub(r"\x1b\[[0-9]*[GK]", "", drawn)) <= columns


@given(st.text(max_size=30), st.integers(0, 20))
def test_a_text_is_made_to_fit_exactly(text: str, columns: int) -> None:
    assert columns_of(fitted(text, columns)) == columns


def test_marks_stay_with_their_letters() -> None:
    """Such as the vowels in a file name that macOS has taken apart."""
    assert fitted("\u1112\u1161\u11ab e\u0301", 5) == "\u1112\u1161\u11ab e\u0301 "


def test_only_what_has_changed_is_painted() -> None:
    canvas = Canvas()
    first = canvas.paint(["one", "two"], 10, (1, 1))
    assert "\x1b[1;1Hone" in first
    assert "\x1b[2;1Htwo" in first
    assert first.endswith("\x1b[2;2H\x1b[?25h\x1b[?2026l")
    second = canvas.paint(["one", "new"], 10, None)
    assert "one" not in second
    assert "\x1b[2;1Hnew" in second
    assert "\x1b[?25h" not in second
    canvas.forget()
    assert "one" in canvas.paint(["one", "new"], 10, None)
