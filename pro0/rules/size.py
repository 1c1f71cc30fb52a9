"""The size and depth of a JSON text before parsing: a value of two bytes may take a hundred in memory."""

import re

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{,]', re.DOTALL)
_SIGNS = (b",", b"[", b"{", b'"')
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))

DEEPEST = 64
"""The most levels of brackets in a text of any shape: nobody writes more, and recursive code may fail on them."""


def holds_more_than(limit: int, data: bytes) -> bool:
    """Return True when a JSON text has more than `limit` texts, lists, mappings and commas. Each text counts as one."""
    # A cheap upper bound first: quotes and commas within texts count too.
    if sum(map(data.count, _SIGNS)) <= limit:
        return False
    return any(count > limit for count, _ in enumerate(_TOKEN.finditer(data), 1))


def nested_deeper_than(limit: int, data: bytes) -> bool:
    """Return True when a JSON text has more than `limit` levels of brackets, closed or not."""
    # Not by RecursionError: how deep json and msgspec go depends on the version of Python, and since 3.14 on the stack.
    if data.count(b"[") + data.count(b"{") <= limit:
        return False
    depth = 0
    for bracket in _TEXT.sub(b"", data).translate(None, _OTHERS):
        depth += 1 if bracket in b"[{" else -1
        if depth > limit:
            return True
    return False
