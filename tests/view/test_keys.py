"""What is typed is cut into keys, wherever the pieces that arrive were cut."""

import pytest

from pro0.view.keys import Keys, pasted

CASES = {
    "text": (b"ab\xc3\xa9", ["a", "b", "é"]),
    "arrows": (b"\x1b[A\x1bOB\x1b[C", ["up", "down", "right"]),
    "own keys": (
        b"\x1b[1;2A\x1b[1;2B\x1b[1;2C\x1b[1;2D\x1b[5;2~",
        ["shift-up", "shift-down", "shift-right", "shift-left"],
    ),
    "control": (b"\x14\r\t\x7f\x03", ["ctrl-t", "enter", "tab", "backspace", "ctrl-c"]),
    "others": (b"\x1b[15~\x1bx\x1b[200A", ["", "", ""]),
    "mouse": (b"\x1b[<0;10;5M\x1b[M !!x", ["", "", "x"]),
    "a paste": (b"\x1b[200~a\x1b[1;2B\n\x1b[201~b", ["paste", "b"]),
    "broken": (b"\xff\x80a", ["�", "�", "a"]),
    "wide": ("你👍".encode(), ["你", "👍"]),
}


@pytest.mark.parametrize(("data", "names"), CASES.values(), ids=list(CASES))
def test_keys_have_names_and_keep_their_bytes(data: bytes, names: list[str]) -> None:
    keys = Keys().take(data)
    assert [key.name for key in keys][: len(names)] == names
    assert b"".join(key.data for key in keys) == data


@pytest.mark.parametrize("data", [data for data, _ in CASES.values()], ids=list(CASES))
def test_it_does_not_matter_where_the_pieces_are_cut(data: bytes) -> None:
    whole = Keys().take(data)
    for cut in range(1, len(data)):
        keys = Keys()
        assert [*keys.take(data[:cut]), *keys.take(data[cut:]), *keys.late()] == whole


def test_an_escape_alone_comes_late() -> None:
    keys = Keys()
    assert keys.take(b"\x1b") == []
    waited = [keys.waiting]
    assert [key.name for key in keys.late()] == ["escape"]
    assert [*waited, keys.waiting] == [True, False]
    assert keys.late() == []


def test_a_paste_waits_for_its_end() -> None:
    keys = Keys()
    assert keys.take(b"\x1b[200~two\nli") == []
    assert keys.late() == []
    (key,) = keys.take(b"nes\x1b[201~")
    assert pasted(key) == "two\nlines"
