"""Settings in layers: what pro0 needs, on top of what a person has put into the same place."""

import msgspec

from pro0.errors import BadInput

Settings = dict[str, object]


def parsed(text: str | bytes, where: str) -> Settings:
    """Return settings that a person wrote as JSON; raises BadInput, since what is not understood would be lost."""
    try:
        return msgspec.json.decode(text, type=Settings)
    except msgspec.MsgspecError as error:
        raise BadInput(f"{where} is no JSON object: {error}", hint=f"mend {where}, or do without it") from error


def merged(below: Settings, above: Settings) -> Settings:
    """Return both: objects one into the other, lists one after the other, and else what is above."""
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
