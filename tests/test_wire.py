"""Lines of JSON: cut anywhere, bounded in size and depth, and never more than one line of ASCII on the way out."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0 import wire
from pro0.wire import DEPTH_LIMIT, LINE_LIMIT, LineSplitter, Unreadable, decode, encode, joined

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"")), max_size=8), st.data())
def test_lines_come_out_as_they_went_in_however_they_are_cut(lines: list[bytes], data: st.DataObject) -> None:
    """Check 75."""
    stream, cutter = b"".join(line + b"\n" for line in lines), LineSplitter()
    found: list[bytes | None] = []
    while stream:
        cut = data.draw(st.integers(1, len(stream)))
        found += cutter.feed(stream[:cut])
        stream = stream[cut:]
    assert found == lines


@pytest.mark.parametrize("size", [LINE_LIMIT, LINE_LIMIT + 1, 3 * LINE_LIMIT])
def test_a_line_over_the_limit_is_dropped_and_the_next_one_read(size: int) -> None:
    """Check 75, a 10 MB line: what is kept meanwhile is bounded."""
    cutter, chunk = LineSplitter(), b"x" * 65536
    found: list[bytes | None] = []
    for start in range(0, size, len(chunk)):
        found += cutter.feed(chunk[: size - start])
        assert sum(map(len, cutter._pieces)) <= LINE_LIMIT
    found += cutter.feed(b"\nnext\n")
    assert found == [b"x" * size if size <= LINE_LIMIT else None, b"next"]


@given(VALUES)
def test_a_value_goes_out_as_one_line_of_ascii_and_comes_back(value: object) -> None:
    line = encode(value)
    assert line.isascii()
    assert line.isprintable()
    assert decode(line.encode()) == value


def test_an_object_is_put_together_from_json() -> None:
    assert json.loads(joined({"a": "1", 'b"': encode(["\n"])})) == {"a": 1, 'b"': ["\n"]}


UNREADABLE = {
    "text": b"garbage",
    "half": b'{"jsonrpc": "2.0", "id": 1, "met',
    "two": b"{} {}",
    "not utf-8": b'"\xff"',
    "utf-16": '{"a": 1}'.encode("utf-16"),
    "a bom": b"\xef\xbb\xbf{}",
    "nan": b'{"a": NaN}',
    "infinity": b"[-Infinity]",
    "a number without end": b"1" * 5000,
    "control characters": b'"\x01"',
    "single quotes": b"{'a': 1}",
    "a NUL": b"\0",
}


@pytest.mark.parametrize("line", UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_json_is_said_to_be_none(line: bytes) -> None:
    """-32700."""
    with pytest.raises(Unreadable) as raised:
        decode(line)
    assert not raised.value.too_much


@pytest.mark.parametrize("levels", [DEPTH_LIMIT + 1, sys.getrecursionlimit() + 100, 50_000, 500_000])
@pytest.mark.parametrize(("before", "after"), [(b"", b""), (b'{"a": ', b"}"), (b"", b" and more")])
def test_deep_json_is_refused_as_too_much(levels: int, before: bytes, after: bytes) -> None:
    """Check 72: deep JSON, whole or not."""
    for whole in (nested(levels), b"[" * levels):
        with pytest.raises(Unreadable) as raised:
            decode(before + whole + after)
        assert raised.value.too_much


def test_the_deepest_json_that_is_read() -> None:
    assert decode(nested(DEPTH_LIMIT))
    assert wire.decode(b'{"a": ' + nested(DEPTH_LIMIT - 1) + b"}")
