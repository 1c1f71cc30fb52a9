"""Requests to the view by keys on the board or in the scrollback."""

from typing import NamedTuple


class ViewRequest(NamedTuple):
    """One act with its target and text: one of acts.ACTS, or an act of the view itself.

    Acts of the view are: back, leave, help, view, read, diff, say, key, interrupt, copy.
    """

    act: str
    target: str = ""
    text: str = ""
