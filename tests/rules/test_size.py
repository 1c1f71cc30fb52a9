"""How much a JSON text holds, and how deep, is told before it is parsed (reliability 27)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0.rules.size import holds_more_than, nested_deeper_than

VALUES = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def counted(value: object) -> int:
    """Texts, lists, mappings, and the commas between values."""
    if isinstance(value, str):
        return 1
    if not isinstance(value, list | dict):
        return 0
    items = [*value] if isinstance(value, list) else [*value, *value.values()]
    return 1 + max(0, len(value) - 1) + sum(map(counted, items))


@given(VALUES)
def test_it_counts_texts_lists_mappings_and_commas(value: object) -> None:
    data, number = json.dumps(value).encode(), counted(value)
    assert not holds_more_than(number, data)
    assert number == 0 or holds_more_than(number - 1, data)


@pytest.mark.parametrize("data", [b'"' * 9, b'["' + b"\\" * 9, b'{"a": "never ends, [{'])
def test_what_is_no_json_is_counted_too(data: bytes) -> None:
    assert holds_more_than(0, data)
    assert not holds_more_than(len(data), data)


def levels(value: object) -> int:
    """Levels of lists and mappings."""
    if not isinstance(value, list | dict):
        return 0
    return 1 + max(map(levels, value.values() if isinstance(value, dict) else value), default=0)


@given(VALUES)
def test_it_counts_the_levels_of_lists_and_mappings(value: object) -> None:
    """Whatever brackets and quotes its texts hold."""
    data, number = json.dumps([value, '"[{\\', "]}"]).encode(), 1 + levels(value)
    assert not nested_deeper_than(number, data)
    assert nested_deeper_than(number - 1, data)


@pytest.mark.parametrize("rest", ["", "]" * 50_000, "]" * 50_000 + " and more", '"never ends'])
def test_what_is_nested_too_deep_is_so_in_whatever_text(rest: str) -> None:
    """Every version of Python reads another number of levels."""
    data = ("[" * 50_000 + rest).encode()
    assert nested_deeper_than(49_999, data)
    assert not nested_deeper_than(50_000, data)
