"""Modes repeated on a client's own terminal."""

import re

from hypothesis import given
from hypothesis import strategies as st

from pro0.terminals import protocol

EVENTS, FORMS = {9, 1000, 1002, 1003}, {1005, 1006, 1015, 1016}
MODE_SETS = st.frozensets(st.sampled_from(protocol.MODES))


class Terminal:
    """A terminal that reports one kind of the mouse's events in one form, as xterm, tmux and kitty do."""

    def __init__(self) -> None:
        self.modes: set[int] = set()

    def obey(self, sequences: str) -> None:
        """Set and reset modes."""
        assert re.fullmatch(r"(\x1b\[\?\d+[hl])*", sequences)
        for digits, way in re.findall(r"\?(\d+)([hl])", sequences):
            mode = int(digits)
            self.modes -= next((modes for modes in (EVENTS, FORMS) if mode in modes), {mode})
            if way == "h":
                self.modes.add(mode)


@given(st.lists(MODE_SETS))
def test_a_terminal_follows_programs_of_any_modes(programs: list[frozenset[int]]) -> None:
    """The greatest of the mouse's modes counts: xterm's later ones report more, and programs set them last."""
    terminal = Terminal()
    before = frozenset[int]()
    for modes in programs:
        terminal.obey(protocol.switches(before, modes))
        before = modes
        others = modes - EVENTS - FORMS
        assert terminal.modes == others | {max(modes & few) for few in (EVENTS, FORMS) if modes & few}


def test_nothing_is_sent_where_nothing_changes() -> None:
    assert protocol.switches({1000, 1002, 1006}, {1000, 1002, 1006}) == ""
    assert protocol.switches({1000, 1006}, {1000, 1006, 2004}) == "\x1b[?2004h"
    assert protocol.switches({1000, 1002, 1006}, {1000, 1006}) == "\x1b[?1002l\x1b[?1000h"
