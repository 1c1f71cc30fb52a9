"""A patch as it is shown: no control character of a file reaches the terminal, and lines have git's usual colours."""

from pro0.rules.text import visible

_COLOURS = (
    ("+++", "1"),
    ("---", "1"),
    ("diff --git ", "1"),
    ("index ", "1"),
    ("new file ", "1"),
    ("deleted file ", "1"),
    ("old mode ", "1"),
    ("new mode ", "1"),
    ("similarity ", "1"),
    ("rename ", "1"),
    ("Binary files ", "1"),
    ("@@", "36"),
    ("+", "32"),
    ("-", "31"),
)
"""The first matching beginning decides. Lines of a file begin with a blank, + or -."""


def as_text(line: bytes) -> str:
    """Return a line of a patch for a terminal, without its end and with every control character as a mark."""
    return visible(line.decode(errors="replace").removesuffix("\n"))


def coloured(text: str, like: str = "") -> str:
    """Return a shown line in its colour; a part of a line has the colour of the whole."""
    code = next((code for start, code in _COLOURS if (like or text).startswith(start)), "")
    return f"\x1b[{code}m{text}\x1b[0m" if code else text


def summary(commits: int, files: int, added: int, removed: int, uncommitted: int) -> str:
    """Return the size of some work in words: `2 commits, 3 files, +10 -4, 1 file not committed`; "" for nothing."""
    parts = [_count(commits, "commit"), _count(files, "file"), f"+{added} -{removed}" if files else ""]
    parts.append(f"{_count(uncommitted, 'file')} not committed" if uncommitted else "")
    return ", ".join(filter(None, parts))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}" if number else ""
