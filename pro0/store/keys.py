"""Checks on JSON keys beyond a typed decoder: a repeated key, or only the keys of every file."""

from typing import Any

import msgspec

from pro0.decoding import decode
from pro0.rules.text import visible

_SHOWN = 60
"""Characters of a key shown in an error."""
_OF_EVERY_FILE = {"schemaVersion", "revision"}


class _Twice(Exception):
    """A repeated key."""


def repeated(data: bytes) -> str:
    """Return a repeated key of any object in a JSON text, at any depth, in quotes; "" for none."""
    import json

    try:
        json.loads(data, object_pairs_hook=_once, parse_int=_nothing, parse_float=_nothing)
    except _Twice as found:
        return repr(visible(str(found)[:_SHOWN]))
    return ""


def holds_content(data: bytes) -> bool:
    """Return True when a JSON object has a key besides the keys of all our files."""
    return bool(decode(data, dict[str, msgspec.Raw]).keys() - _OF_EVERY_FILE)


def _once(pairs: list[tuple[str, Any]]) -> None:
    """Check an object's keys and keep none of it: a large file then takes no more memory than its longest key list."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise _doubled(pairs)


def _doubled(pairs: list[tuple[str, Any]]) -> _Twice:
    keys_seen = set[str]()
    return _Twice(next(key for key, _ in pairs if key in keys_seen or keys_seen.add(key)))  # type: ignore[func-returns-value]


def _nothing(_: str) -> None:
    """Skip a number: parsing thousands of digits takes time."""
