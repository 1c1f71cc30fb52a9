"""What a text may hold, and how long it may be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0.errors import BadInput
from pro0.rules import text


@pytest.mark.parametrize("fill", ["x", "ä", "😀", "\0"])
def test_the_limit_is_in_bytes_and_exact(fill: str) -> None:
    """Reliability 28, rulings 3.4."""
    width = len(fill.encode())
    assert text.checked(fill * (256 * 1024 // width), "message")
    with pytest.raises(BadInput, match="bytes, more than 262144"):
        text.checked(fill * (256 * 1024 // width) + "y", "message")


@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_text_is_kept_as_it_is_or_refused(value: str) -> None:
    """Reliability 33: lossless, or refused at the boundary."""
    if any(0xD800 <= ord(char) < 0xE000 for char in value):
        with pytest.raises(BadInput, match="not valid Unicode"):
            text.checked(value, "message")
    else:
        assert text.checked(value, "message") == value


@given(st.text(st.characters(exclude_categories=()), max_size=60), st.integers(9, 60))
def test_what_a_program_says_is_kept_whole_or_cut_in_its_middle(value: str, limit: int) -> None:
    kept = text.within(value, limit)
    assert len(text.checked(kept, "text").encode()) <= limit
    whole = value.encode(errors="replace").decode()
    if len(whole.encode()) <= limit:
        assert kept == whole
    else:
        beginning, _, end = kept.partition("\n…\n") if "\n…\n" not in whole else ("", "", "")
        assert whole.startswith(beginning)
        assert whole.endswith(end)


@pytest.mark.parametrize("bad", ["", "  ", "a\nb", "a\rb", "x" * 1025])
def test_a_title_is_one_short_line(bad: str) -> None:
    with pytest.raises(BadInput):
        text.title(bad)


@pytest.mark.parametrize(
    ("given_", "wrong"),
    [
        (["a", ""], "a label is empty"),
        (["a", "  "], "a label is empty"),
        (["a\nb"], "the label is more than one line"),
        (["x" * (text.LINE_LIMIT + 1)], "the label has 201 bytes, more than 200"),
        ([str(number) for number in range(text.LABELS + 1)], "51 labels are more than 50"),
    ],
    ids=["empty", "blank", "two lines", "long", "many"],
)
def test_labels_that_are_refused(given_: list[str], wrong: str) -> None:
    with pytest.raises(BadInput, match=wrong):
        text.labels(given_)


def test_labels_are_kept_once_in_order() -> None:
    most = [str(number) for number in range(text.LABELS)]
    assert text.labels([*most, " 0 ", "1"]) == tuple(most)
    assert text.labels(["x" * text.LINE_LIMIT]) == ("x" * text.LINE_LIMIT,)
    assert text.labels([]) == ()


SHOWN = {
    "plain äöü 漢字 😀": "plain äöü 漢字 😀",
    "two\nlines\tand a tab": "two\nlines\tand a tab",
    "\x1b[31mred": "\\x1b[31mred",
    "\x00\x7f\x9b": "\\x00\\x7f\\x9b",
    "\r over": "\\x0d over",
    "\u202eright": "\\u202eright",
    "zero\u200bwidth": "zero\\u200bwidth",
    "\u2028\u2029": "\\u2028\\u2029",
    "\ue000": "\\ue000",
    "\u00ad\u0600": "\\xad\\u0600",
    "X\tX\n": "X\tX\n",
    "\ud800": "\\ud800",
    "\uffff\U00010000": "\\uffff\U00010000",
    "\U000e0041": "\\U000e0041",
}


@pytest.mark.parametrize("given_", SHOWN)
def test_what_a_terminal_would_obey_or_nobody_would_see_is_shown(given_: str) -> None:
    """Issue 3, item 5."""
    assert text.visible(given_) == SHOWN[given_]


@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_nothing_that_is_shown_is_obeyed_or_unseen(value: str) -> None:
    shown = text.visible(value)
    assert not any(text.unseen(character) for character in shown)
    assert text.visible(shown) == shown


def test_a_title_loses_its_margins() -> None:
    assert text.title("  do it ") == "do it"
