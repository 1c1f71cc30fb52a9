"""Texts, numbers and lists of texts in TOML."""

import msgspec


def toml(value: object) -> str:
    """Return a value as TOML; these values are the same in JSON."""
    return msgspec.json.encode(value).decode()
