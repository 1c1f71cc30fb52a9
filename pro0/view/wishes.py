"""What a key on the board or in the scrollback asks the view to do."""

from typing import NamedTuple


class Wish(NamedTuple):
    """One act, on whom or what, and with which text: one of acts.ACTS, or what only the view does.

    Those are: back, leave, help, view, read, say, key, interrupt, copy.
    """

    act: str
    target: str = ""
    text: str = ""
