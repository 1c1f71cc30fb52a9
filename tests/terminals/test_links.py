"""Links in a program's output: they never reach the screen's library, and nothing else is lost with them."""

import ctypes
import subprocess
import sys
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0.terminals.ghostty import Ghostty
from pro0.terminals.library import library

KILLING = """
from pro0.terminals.ghostty import Ghostty
from pro0.terminals.library import library
screen = Ghostty(str(library()), {columns}, {lines}, 10000, lambda answer: None)
for piece in {pieces!r}:
    screen.feed(piece)
print(len(screen.rows()))
"""
MANY = b"x" * 50000 + b"\x1b[H\x1b[5M" + b"x" * 50000
FORMS = {
    "ended by ST": [b"\x1b]8;;h\x1b\\", MANY],
    "ended by BEL": [b"\x1b]8;id=1;http://h\x07", MANY],
    "in many pieces": [b"\x1b", b"]", b"8", b";", b";", b"h", b"\x07", MANY],
    "with controls within": [b"\x1b\0\xe4", b"\n]\x19", b"8\r", b";;h\x07", MANY],
    "begun by one byte": [b"\x1b[3\x9d8;;h\x07", MANY],
    "begun by one byte, in many pieces": [b"\x1b]0;t\x07", b"\x1b", b"\x9d", b"8", b";;h\x07", MANY],
    "behind one that is not ended": [b"\x1b]8;;a\x1b]8;;h\x1b\\", MANY],
    "again and again": [b"\x1b]8;;h\x1b\\xxxx"] * 20000,
}


@pytest.mark.parametrize("size", [(80, 24), (160, 48), (400, 130)], ids=str)
@pytest.mark.parametrize("pieces", FORMS.values(), ids=list(FORMS))
def test_no_number_of_linked_letters_ends_the_process(pieces: list[bytes], size: tuple[int, int]) -> None:
    """It would be the guard's end, and so the member's."""
    program = KILLING.format(columns=size[0], lines=size[1], pieces=pieces)
    done = subprocess.run([sys.executable, "-"], input=program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{size[1]}\n", "")


PIECES = st.sampled_from(
    [
        *(b"\x1b]8;;http://h\x1b\\", b"\x1b]8;id=7;h\x07", b"\x1b]8;;\x07", b"\x9d8;;h\x07", b"\x1b[\x9d8;;h\x07"),
        *(b"\x1b]", b"\x1b", b"]", b"\x9d", b"8", b";", b"8;", b"\x1b\\", b"\x07", b"\x18", b"\x9c", b"\0", b"\xa0"),
        *(b"\x1b]0;title", b"\x1b]8", b"\x1b[", b"\x1b[31", b"m", b"\x1bP", b"q", b"\x1b_", b"\x9b", b"\x1b[?1049h"),
        *("“8”8;".encode(), "❝8;".encode(), b"\xe2", b"\x80", b"text", b"a\r\n", b"\x1b[1;31mred\x1b[0m", b"\x1b[H"),
    ]
)
STREAMS = st.lists(PIECES, max_size=30).map(b"".join)


@given(STREAMS, st.data())
def test_the_screen_is_the_same_but_for_links_however_the_output_is_cut(stream: bytes, data: st.DataObject) -> None:
    whole, cut, raw = (Ghostty(str(library()), 20, 6, 100, lambda answer: None) for _ in range(3))
    try:
        unfiltered(raw, stream)
        whole.feed(stream)
        for piece in pieces(stream, data):
            cut.feed(piece)
        assert looks(whole) == looks(cut) == looks(raw)
        for screen in (whole, cut):
            unfiltered(screen, b"\x1b\\letters")
            assert not linked(screen)
    finally:
        for screen in (whole, cut, raw):
            screen.close()


def test_a_link_that_is_not_ended_takes_no_memory() -> None:
    screen = Ghostty(str(library()), 20, 6, 100, lambda answer: None)
    for piece in [b"\x1b", b"\0" * 100000, b"]8", b"\0" * 100000]:
        screen.feed(piece)
        assert len(screen._links._begun) <= 3
    screen.feed(b";" + b"h" * 100000)
    assert not screen._links._begun
    screen.close()


def pieces(stream: bytes, data: st.DataObject) -> Iterable[bytes]:
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        yield stream[:size]
        stream = stream[size:]


def unfiltered(screen: Ghostty, data: bytes) -> None:
    screen._library.ghostty_terminal_vt_write(screen._terminal, data, len(data))


def looks(screen: Ghostty) -> tuple[object, ...]:
    return screen.rows(), screen.cursor(), screen.title(), screen.history()


def linked(screen: Ghostty) -> bool:
    """Return True when a cell of the screen has a link."""
    length = ctypes.c_size_t()
    for line in range(6):
        for column in range(20):
            place = ctypes.byref(screen._ref(column, line))
            screen._library.ghostty_grid_ref_hyperlink_uri(place, None, 0, ctypes.byref(length))
            if length.value:
                return True
    return False
