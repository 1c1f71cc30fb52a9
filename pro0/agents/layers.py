"""Settings for agents, as they read them: pro0's on top of a person's in the same place, and values in TOML."""

import msgspec

from pro0.decoding import decode
from pro0.errors import BadInput

Settings = dict[str, object]


def parsed(text: str | bytes, where: str) -> Settings:
    """Parse a person's JSON settings; raises BadInput, since misread settings would be lost."""
    try:
        return decode(text, Settings)
    except msgspec.MsgspecError as error:
        raise BadInput(f"{where} is not a JSON object: {error}", hint=f"fix {where}, or remove it") from error


def merged(below: Settings, above: Settings) -> Settings:
    """Merge two layers: objects key by key, lists joined, any other value from above."""
    result = dict(below)
    for key, value in above.items():
        before = below.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            result[key] = merged(before, value)
        elif isinstance(before, list) and isinstance(value, list):
            result[key] = [*before, *value]
        else:
            result[key] = value
    return result


def toml(value: object) -> str:
    """Return a text, number or list of texts as TOML; these are the same in JSON."""
    return msgspec.json.encode(value).decode()
