"""Texts, numbers and lists of texts in TOML."""

import msgspec


def toml(value: object) -> str:
    """Return a value as TOML, which writes these as JSON does."""
    return msgspec.json.encode(value).decode()
