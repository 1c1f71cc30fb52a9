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


@pytest.mark.parametrize("bad", ["", "  ", "a\nb", "a\rb", "x" * 1025])
def test_a_title_is_one_short_line(bad: str) -> None:
    with pytest.raises(BadInput):
        text.title(bad)


def test_a_title_loses_its_margins() -> None:
    assert text.title("  do it ") == "do it"
