"""The input of our client of ACP: what keys do, however the system cuts them into reads."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pro0.agents.acp.typing import Keystroke, LineEditor

PASTE, PASTED, ESCAPE = b"\x1b[200~", b"\x1b[201~", b"\x1b"
STREAMS = {
    "a paste, and more": PASTE + "one\ntwo ünï".encode() + PASTED + b" more\rnext\r",
    "two pastes": PASTE + b"a\nb" + PASTED + PASTE + b"c\nd" + PASTED + b"\r",
    "a paste with escapes": PASTE + b"a\x1b[31mb\x1bc\x1b\x1b[0m" + PASTED + b"\r",
    "arrows between letters": b"a\x1b[Ab\x1bOCc\x1b[1;5Dd\r",
}


def fed(*reads: bytes) -> tuple[list[Keystroke], str]:
    """Return what some reads do, and what stands in the input then."""
    editor = LineEditor()
    acts = [act for read in reads for act in editor.feed(read)]
    return acts + editor.settle(), editor.text


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
@given(data=st.data())
def test_where_the_system_cuts_makes_no_difference(stream: bytes, data: st.DataObject) -> None:
    cuts = data.draw(st.sets(st.integers(1, len(stream) - 1)).map(sorted))
    assert fed(*(stream[start:end] for start, end in pairwise([0, *cuts, len(stream)]))) == fed(stream)


def test_a_paste_whose_ends_are_cut_sends_nothing_by_itself() -> None:
    """Else every line would be a prompt, or no Enter would send anything any more."""
    assert fed(ESCAPE, b"[200~hello\nthere\x1b[201~") == ([], "hello\nthere")
    assert fed(PASTE + b"abc\x1b", b"[201~", b" more\r") == ([Keystroke("line", "abc more")], "")


def test_an_escape_that_nothing_follows_is_the_key() -> None:
    editor = LineEditor()
    assert editor.feed(b"half" + ESCAPE) == []
    assert editor.holds_escape
    assert editor.settle() == [Keystroke("stop")]
    assert (editor.holds_escape, editor.settle(), editor.text) == (False, [], "half")
    assert editor.feed(ESCAPE + ESCAPE) == [Keystroke("stop")]
    assert editor.settle() == [Keystroke("stop")]


def test_in_a_paste_no_escape_is_a_key() -> None:
    editor = LineEditor()
    assert editor.feed(PASTE + b"a" + ESCAPE) == []
    assert (editor.holds_escape, editor.settle()) == (False, [])
    assert editor.feed(b"[201~\r") == [Keystroke("line", "a")]
