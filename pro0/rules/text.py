"""One gate for every text that is stored: what it may hold, and how long it may be."""

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
    """Return a text as it may be printed: all controls but newline and tab, and direction marks, are made visible."""
    return text.translate(_VISIBLE)


_CONTROLS = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"}
_DIRECTION = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_HIDDEN = (0x7F, *range(0x80, 0xA0), *_DIRECTION, 0x2028, 0x2029, 0xFEFF, *range(0xD800, 0xE000))
_VISIBLE = _CONTROLS | {code: f"<U+{code:04X}>" for code in _HIDDEN}
