"""Links in a program's output (OSC 8), made void before libghostty-vt takes them.

The library ends its whole process when a page of its memory has no room left for cells with links, after some 46,000
of them. Nobody loses a link by this, since rows have only text and colours.
"""

import re
from collections.abc import Callable, Iterator

_VOID = b"-"
"""Replaces the semicolon of a link. The library does not know the new sequence, which ends where the link's does."""
_AFTER_ESC = rb"[\x00-\x17\x19\x1c-\x1f\x7f\xa0-\xff]*"
_IN_OSC = rb"[\x00-\x06\x08-\x17\x19\x1c-\x1f]*"
"""Bytes that the library ignores in these places."""
_C1 = 0x9D
"""OSC as one byte; it counts inside some unfinished sequences. In text it is a part of a character."""
_ESC_OSC = rb"\x1b" + _AFTER_ESC + rb"\]"
_OSC = b"(?:" + _ESC_OSC + rb"|\x9d)" + _IN_OSC
_LINK = re.compile(_OSC + b"8" + _IN_OSC + b";")
_BEGUN = re.compile(rb"\x1b" + _AFTER_ESC + b"|" + _OSC + b"(?:8" + _IN_OSC + b")?")
_BEGINS_OSC = re.compile(_ESC_OSC)


class Links:
    """The links in one program's output."""

    def __init__(self, is_text: Callable[[], bool]) -> None:
        """`is_text` says whether the output taken in so far ends outside of any sequence."""
        self._is_text = is_text
        self._begun = b""
        """A possible beginning of a link at the end of the output so far, without the bytes ignored by the library."""
        self._in_osc = False
        """True when the last ESC so far began an OSC, such as a title."""

    def voided(self, data: bytes) -> Iterator[bytes]:
        """Yield the output in pieces, of the same length and without a link; take in each before the next."""
        output = self._begun + data
        done = len(self._begun)
        for link in _LINK.finditer(output):
            semicolon = link.end() - 1
            yield output[done:semicolon]
            done = semicolon
            if output[link.start()] != _C1 or not (self._is_text() or self._within_osc(output, link.start())):
                yield _VOID
                done += 1
        yield output[done:]
        self._in_osc = self._within_osc(output, len(output))
        start = max(output.rfind(b"\x1b"), output.rfind(_C1), 0)
        begun = _BEGUN.fullmatch(output, start)
        self._begun = bytes(byte for byte in begun[0] if byte in b"\x1b\x9d]8") if begun else b""

    def _within_osc(self, output: bytes, end: int) -> bool:
        """Return True when the last ESC before this place began an OSC."""
        start = output.rfind(b"\x1b", 0, end)
        return bool(_BEGINS_OSC.match(output, start, end)) if start >= 0 else self._in_osc
