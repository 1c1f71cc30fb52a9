"""JSON and dates, by the C modules inside json and datetime: json alone would double a guard's start."""

import time

INTERPRETER = (ImportError, AttributeError, TypeError)
"""Errors of another Python's private C module."""


def now() -> str:
    """Return the current time as ISO-8601 UTC with milliseconds."""
    moment = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment % 1 * 1000):03d}Z"


def parse(text: str) -> object:
    """Return the value of a JSON text; raises ValueError for invalid or too deep JSON."""
    try:
        return _parse(text.strip())
    except RecursionError as error:
        raise ValueError("too deep") from error


def dump(value: object) -> str:
    """Return the JSON text of a value made of dict, str, int, float, bool and None."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{_quote(key)}:{dump(item)}" for key, item in value.items()) + "}"
    if isinstance(value, str):
        return _quote(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def is_text(value: object) -> bool:
    """Return True for a str writable as UTF-8: JSON may hold half a surrogate pair."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def _parse(text: str) -> object:
    try:
        import _json

        value, end = _json.make_scanner(_Choices)(text, 0)  # type: ignore[arg-type]
    except INTERPRETER:
        import json

        value = json.loads(text, object_pairs_hook=_once)
    except (StopIteration, SystemError):  # SystemError: until 3.12 json's own error needs an imported json
        raise ValueError("not JSON") from None
    else:
        if end != len(text):
            raise ValueError("more than one value")
    return value


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the pairs of an object as a dict; raises ValueError for a repeated key, a sign of damage."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a key stands twice")
    return values


class _Choices:
    """The options of the scanner, as attributes like those of json.JSONDecoder."""

    strict = True
    object_hook = None
    object_pairs_hook = staticmethod(lambda pairs: _once(pairs))
    array_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}


def _quote(text: str) -> str:
    try:
        from _json import encode_basestring_ascii
    except ImportError:
        from json.encoder import py_encode_basestring_ascii as encode_basestring_ascii
    return encode_basestring_ascii(text)
