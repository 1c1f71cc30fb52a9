"""One gate for every text that is stored: what it may hold, and how long it may be; and one for all that is shown."""

from pro0.errors import BadInput

TITLE_LIMIT = 1024
TEXT_LIMIT = 256 * 1024


def checked(text: str, what: str, limit: int = TEXT_LIMIT) -> str:
    """Return the text, or raise BadInput when it is over `limit` bytes of UTF-8, or is not Unicode text."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise BadInput(f"the {what} is not valid Unicode text", hint="it holds a lone surrogate; pass UTF-8") from None
    if size > limit:
        raise BadInput(f"the {what} has {size} bytes, more than {limit}", hint="put it in a file and name the file")
    return text


def title(text: str) -> str:
    """Return a task's title: one line that is not empty, or raise BadInput."""
    if not text.strip():
        raise BadInput("a task needs a title", hint='pro0 task create "what to do"')
    if "\n" in text or "\r" in text:
        raise BadInput("a title is one line", hint="put the rest into --description")
    return checked(text.strip(), "title", TITLE_LIMIT)


def visible(text: str) -> str:
    r"""Return text with control characters, bidi marks and the like made visible (`\x1b`); newline and tab stay."""
    if text.isprintable():
        return text
    return "".join(_escape(character) if unseen(character) else character for character in text)


def unseen(character: str) -> bool:
    """Say whether a terminal obeys a character, or nobody sees it (bidi marks, zero width); not newline and tab."""
    import unicodedata

    return character not in "\n\t" and unicodedata.category(character) in _UNSEEN


_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
