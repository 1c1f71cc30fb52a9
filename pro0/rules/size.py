"""The size of a JSON text before parsing: a value of two bytes may take a hundred in memory."""

import re

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{,]', re.DOTALL)
_SIGNS = (b",", b"[", b"{", b'"')


def holds_more_than(limit: int, data: bytes) -> bool:
    """Return True when a JSON text has more than `limit` texts, lists, mappings and commas. Each text counts as one."""
    # A cheap upper bound first: quotes and commas within texts count too.
    if sum(map(data.count, _SIGNS)) <= limit:
        return False
    return any(count > limit for count, _ in enumerate(_TOKEN.finditer(data), 1))
