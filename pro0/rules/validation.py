"""Validation errors of msgspec about data from people or agents, in plain words and with the place."""

import re

_KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a mapping of names to values",
    "null": "nothing",
    "date": "a date",
    "datetime": "a date and time",
}
_EXPECTED = re.compile(r"Expected `([a-z |]+)`(.*?)(?:, got `([a-z]+)`)?")
_FIELD = re.compile(r"Object (contains unknown|missing required) field `(.*)`")
_CHOICE = re.compile(r"Invalid enum value (.*)")
_STEP = re.compile(r"[^.\[\]]+")


def validation_message(error: Exception) -> str:
    """Return the fault after its place, if it has one: `members, 1, agent: it must be a text`."""
    complaint, _, path = str(error).partition(" - at `$")
    place = ", ".join(str(int(step) + 1) if step.isdigit() else step for step in _STEP.findall(path.removesuffix("`")))
    return f"{place}: {_plain(complaint)}" if place else _plain(complaint)


def _plain(complaint: str) -> str:
    if field := _FIELD.fullmatch(complaint):
        return f"there is no {field[2]!r}" if field[1] == "contains unknown" else f"it needs {field[2]!r}"
    if choice := _CHOICE.fullmatch(complaint):
        return f"there is no {choice[1]}"
    if expected := _EXPECTED.fullmatch(complaint):
        kinds = [_KINDS.get(kind, kind) for kind in expected[1].split(" | ") if kind != "null"]
        got = f", not {_KINDS.get(expected[3], expected[3])}" if expected[3] else ""
        return f"it must be {' or '.join(kinds)}{expected[2]}{got}"
    return complaint
