"""The keys of JSON that a decoder into types does not tell of: one that stands twice, none but those of every file."""

from typing import Any

import msgspec

from pro0.rules.text import visible

_SHOWN = 60
"""Characters of a key that is told."""
_OF_EVERY_FILE = {"schemaVersion", "revision"}


class _Twice(Exception):
    """A key that stands twice."""


def repeated(data: bytes) -> str:
    """Return, quoted, a key that stands twice in one object of a JSON text, at any depth; "" for none."""
    import json

    try:
        json.loads(data, object_pairs_hook=_once, parse_int=_nothing, parse_float=_nothing)
    except _Twice as found:
        return repr(visible(str(found)[:_SHOWN]))
    return ""


def holds_content(data: bytes) -> bool:
    """Return whether a JSON object has a key besides those that every file of ours has."""
    return bool(msgspec.json.decode(data, type=dict[str, msgspec.Raw]).keys() - _OF_EVERY_FILE)


def _once(pairs: list[tuple[str, Any]]) -> None:
    """Keep nothing of an object, so that a large file takes no more memory than its longest list of keys."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise _doubled(pairs)


def _doubled(pairs: list[tuple[str, Any]]) -> _Twice:
    seen = set[str]()
    return _Twice(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]


def _nothing(_: str) -> None:
    """Read no number: one of thousands of digits takes time."""
