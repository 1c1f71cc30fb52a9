"""Check the content and length of stored texts, escape shown texts, and clean up the output of programs."""

import re
from collections.abc import Iterable
from functools import lru_cache

from pro0.errors import BadInput

LINE_LIMIT = 200
"""The most bytes of a label, a role or a display name."""
LABELS = 50
"""The most labels of one task."""
TITLE_LIMIT = 1024
REASON_LIMIT = 16 * 1024
TEXT_LIMIT = 256 * 1024
SAID_LIMIT = 64 * 1024
"""The most bytes kept of a text written by a program, since nobody is there to shorten it."""
LAST_LINES = 3
LAST_LENGTH = 300
"""The most lines and characters of a program's last words."""
VARIATIONS = "".join(map(chr, range(0xFE00, 0xFE10)))
"""Marks that choose how the letter before them looks."""

_LEFT_OUT = "\n…\n"
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def checked(text: str, noun: str, limit: int = TEXT_LIMIT, hint: str = "put it in a file and name the file") -> str:
    """Return the text, or raise BadInput for invalid Unicode or over `limit` bytes of UTF-8."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise BadInput(f"the {noun} is not valid Unicode text", hint="it holds a lone surrogate; pass UTF-8") from None
    if size > limit:
        raise BadInput(f"the {noun} has {size} bytes, more than {limit}", hint=hint)
    return text


def within(text: str, limit: int = SAID_LIMIT) -> str:
    """Cut a text to at most `limit` bytes of valid UTF-8; a longer text keeps its beginning and its end."""
    data = text.encode(errors="replace")
    if len(data) <= limit:
        return data.decode()
    half = (limit - len(_LEFT_OUT.encode())) // 2
    beginning, end = data[:half].decode(errors="ignore"), data[-half:].decode(errors="ignore")
    return f"{beginning}{_LEFT_OUT}{end}"


def title(text: str) -> str:
    """Return a task's title, one line and not empty, or raise BadInput."""
    if not text.strip():
        raise BadInput("a task needs a title", hint='pro0 task create "what to do"')
    return one_line(text, "title", TITLE_LIMIT, hint="put the rest into --description")


def labels(texts: Iterable[str]) -> tuple[str, ...]:
    """Return a task's labels, each once, or raise BadInput. A label is a short line and not empty."""
    distinct = tuple(dict.fromkeys(one_line(text, "label") for text in texts))
    if "" in distinct:
        raise BadInput("a label is empty", hint="leave it out")
    if len(distinct) > LABELS:
        raise BadInput(f"{len(distinct)} labels are more than {LABELS}", hint="use fewer")
    return distinct


def one_line(text: str, noun: str, limit: int = LINE_LIMIT, hint: str | None = None) -> str:
    """Return a text without its margins. Raise BadInput for several lines or over `limit` bytes."""
    if "\n" in text or "\r" in text:
        raise BadInput(f"the {noun} is more than one line", hint=hint)
    return checked(text.strip(), noun, limit, hint or "make it shorter")


def visible(text: str) -> str:
    r"""Escape control characters, bidi marks and the like (`\x1b`). Newline and tab stay."""
    if text.isprintable():
        return text
    return "".join(_escape(character) if unseen(character) else character for character in text)


def unseen(character: str) -> bool:
    """Return True for control and invisible characters (bidi marks, zero width), except newline and tab."""
    import unicodedata

    return character not in "\n\t" and unicodedata.category(character) in _UNSEEN


@lru_cache(4096)
def width(letter: str) -> int:
    """Return the width of one letter in columns, 0 for a combining or invisible letter."""
    import unicodedata

    category = unicodedata.category(letter)
    if category == "Co":  # a sign of a font, as in the status lines of many shells and agents
        return 1
    if category == "Cn" and letter in _PICTURES:  # an emoji that is newer than Python's tables
        return 2
    if unseen(letter) or letter in "\n\t" or letter in VARIATIONS:
        return 0
    if category in ("Mn", "Me") or letter in _JAMO:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def drawn(text: str) -> str:
    """Remove characters without a mark on a screen. Blanks of every kind stay."""
    if text.isascii():
        return text
    return "".join(
        character for character in text if character.isspace() or not (unseen(character) or character in _FILLERS)
    )


def printed(text: str) -> str:
    """Return output as a terminal shows it: without escape sequences, and each overwritten line in its last state."""
    text = _SEQUENCE.sub("", text).replace("\r\n", "\n")
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _CONTROL.sub("", "\n".join(lines))


def last_lines(output: str) -> str:
    """Return the last lines that a program printed, as one line; empty for none."""
    lines = [line.strip() for line in visible(printed(output)).splitlines() if line.strip()]
    return " / ".join(lines[-LAST_LINES:])[-LAST_LENGTH:]


_FILLERS = frozenset(f"\u034f\u115f\u1160\u2800\u3164\uffa0{VARIATIONS}")
"""Invisible letters and marks. Unicode does not class them as invisible."""
_PICTURES = frozenset(map(chr, range(0x1FA70, 0x1FB00)))
_JAMO = frozenset(map(chr, (*range(0x1160, 0x1200), *range(0xD7B0, 0xD7FC))))
"""The vowels and final consonants of Hangul: they join the letter before, as in file names of macOS."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal digits."""
    import hashlib  # late: it loads a library of its own, and most commands need none

    return hashlib.sha256(data).hexdigest()
