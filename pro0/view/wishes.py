"""What a key on the board or in the scrollback asks the view to do."""

from typing import NamedTuple


class Wish(NamedTuple):
    """One act: back, leave, view, key, interrupt, copy, or one of acts.ACTS; on whom or what, and with which text."""

    act: str
    target: str = ""
    text: str = ""
