"""Colours on terminals that have 256 of them."""

import pytest

from pro0.terminals.colours import is_deep, shallow
from pro0.view.drawing import Canvas


@pytest.mark.parametrize(
    ("environment", "deep"),
    [
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal", "COLORTERM": "truecolor"}, True),
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "linux"}, False),
        ({"TERM": "screen-256color", "STY": "1.pts"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, True),
        ({"TERM": "xterm-256color", "WT_SESSION": "1"}, True),
        ({"TERM": "tmux-256color", "TMUX": "/s,1,0"}, True),
        ({"TERM": "xterm-256color", "COLORTERM": "24bit"}, True),
    ],
)
def test_a_terminal_with_24_bit_colours_is_known(environment: dict[str, str], deep: bool) -> None:
    assert is_deep(environment) is deep


@pytest.mark.parametrize(
    ("drawn", "shown"),
    [
        ("\x1b[38;2;255;0;0mred\x1b[0m", "\x1b[38;5;196mred\x1b[0m"),
        ("\x1b[1;48;2;18;18;18;4m.", "\x1b[1;48;5;233;4m."),
        ("\x1b[38;5;2;1mgreen", "\x1b[38;5;2;1mgreen"),
        ("\x1b[4:3mwave\x1b[4:0m", "\x1b[4mwave\x1b[24m"),
        ("\x1b[58;2;255;0;5mline\x1b[58:2::1:2:3m\x1b[58;5;7m", "line"),
        ("\x1b[m\x1b[31m", "\x1b[m\x1b[31m"),
        ("\x1b[38;2;1m\x1b[48;2m", "\x1b[38;5;16m\x1b[48;5;16m"),
    ],
)
def test_other_colours_become_the_nearest_of_the_palette(drawn: str, shown: str) -> None:
    assert shallow(drawn) == shown


def test_the_view_draws_what_its_terminal_can_show(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLORTERM", "LC_TERMINAL", "WT_SESSION", "TMUX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("TERM_PROGRAM", "Apple_Terminal")
    row = "\x1b[38;2;255;0;0mred"
    assert "38;5;196" in Canvas().paint([row], 10, None)
    monkeypatch.setenv("COLORTERM", "truecolor")
    assert "38;2;255;0;0" in Canvas().paint([row], 10, None)
