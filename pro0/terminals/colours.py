"""The only table of colours: the look of a state, a status or a result on the command line and in the view."""

import os

_RED, _GREEN, _CYAN, _ASKS, _DIM = "31", "32", "36", "1;33", "2"
_TABLE = {
    **dict.fromkeys(("crashed", "failed", "unresponsive", "unreachable", "error", "fail", "gone"), _RED),
    **dict.fromkeys(("working", "running", "in progress", "ok"), _GREEN),
    **dict.fromkeys(("starting", "stopping"), _CYAN),
    **dict.fromkeys(("waiting", "dialog", "draft", "awaiting", "warn"), _ASKS),
    **dict.fromkeys(("completed", "cancelled", "exited", "shutdown", "stopped"), _DIM),
}
_WITHOUT_COLOUR = {_ASKS: "1"}
"""The part of a style kept without colours: bold is no colour."""


def code(word: str) -> str:
    """Return the numbers of the SGR sequence for a word, "" for a word without a style."""
    numbers = _TABLE.get(word, "")
    if numbers != _DIM and os.environ.get("NO_COLOR"):
        return _WITHOUT_COLOUR.get(numbers, "")
    return numbers


def style(word: str) -> str:
    """Return the sequence that begins the style of a word, or an empty string."""
    numbers = code(word)
    return f"\x1b[{numbers}m" if numbers else ""
