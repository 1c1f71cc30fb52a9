"""Files of tasks: YAML or JSON, read whole or refused with the place of the fault."""

import re
import sys
from pathlib import Path
from typing import cast

import msgspec

from pro0.errors import BadInput, NotFound
from pro0.model.task import Draft
from pro0.rules.size import holds_more_than

SIZE_LIMIT = 16 * 1024 * 1024
"""Bytes of a file of tasks."""
DEPTH_LIMIT = 16
VALUE_LIMIT = 250_000
"""Values in one file: each takes far more memory than its bytes."""
_REFERENCES = ("key", "parent")
_LISTS = ("blockedBy", "labels")
_SHAPE = "a list of tasks, or {tasks: [...]}"


def read(file: str) -> list[Draft]:
    """Return the tasks of a file, `-` being stdin; raises BadInput naming the task that cannot be used."""
    name = "stdin" if file == "-" else file
    value = value_of(read_data(file), name)
    if isinstance(value, dict) and set(value) == {"tasks"}:
        value = value["tasks"]
    if not isinstance(value, list):
        raise BadInput(f"{name} holds no tasks", hint=f"it must be {_SHAPE}")
    return [_draft(item, f"task {number} of {name}") for number, item in enumerate(value, 1)]


def read_data(file: str) -> bytes:
    """Return the bytes of a file, `-` being stdin; raises NotFound, or BadInput for one that is too large."""
    try:
        if file == "-":
            data = sys.stdin.buffer.read(SIZE_LIMIT + 1)
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(SIZE_LIMIT + 1)
    except FileNotFoundError:
        raise NotFound(f"there is no file {file}") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BadInput(f"{file} cannot be read: {why}") from None
    if len(data) > SIZE_LIMIT:
        raise BadInput(f"{file} is larger than {SIZE_LIMIT} bytes")
    return data


def value_of(data: bytes, name: str) -> object:
    """Return what YAML or JSON says; raises BadInput for what is neither."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not UTF-8 text: {error.reason}") from None
    if text.lstrip().startswith(("[", "{")):
        if holds_more_than(VALUE_LIMIT, data):
            raise BadInput(f"{name} holds more than {VALUE_LIMIT} values", code="too_large")
        try:
            return cast(object, msgspec.json.decode(text))
        except (msgspec.DecodeError, RecursionError, ValueError):
            pass  # YAML's own short forms begin so too
    return _yaml(text, name)


def _yaml(text: str, name: str) -> object:
    """Return the value of a YAML text; aliases could make it far larger than it looks, depth ends the loader."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        depth = 0
        for count, event in enumerate(yaml.parse(text, loader)):
            if count > VALUE_LIMIT:
                raise BadInput(f"{name} holds more than {VALUE_LIMIT} values", code="too_large")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > DEPTH_LIMIT:
                raise BadInput(f"{name} uses aliases, or is nested too deep", hint="write the values out")
        return cast(object, yaml.load(text, loader))
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise BadInput(f"{name} is neither YAML nor JSON: {problem or 'it cannot be read'}{where}") from None
    except (RecursionError, ValueError, LookupError, AttributeError):
        raise BadInput(f"{name} is neither YAML nor JSON") from None


def _draft(item: object, where: str) -> Draft:
    if isinstance(item, str):
        item = {"title": item}
    if not isinstance(item, dict):
        raise BadInput(f"{where} is no mapping of names to values", hint="- title: what to do")
    fields = {_camel(str(key)): value for key, value in item.items()}
    if len(fields) < len(item):
        raise BadInput(f"{where} names a field twice")
    for name in _REFERENCES:
        fields[name] = _name(fields.get(name))
    for name in _LISTS:
        fields[name] = _names(fields.get(name))
    try:
        return msgspec.convert({key: value for key, value in fields.items() if value is not None}, Draft)
    except msgspec.ValidationError as error:
        said = str(error).replace("Object", "it")
        raise BadInput(f"{where} cannot be used: {said}", hint="pro0 task create --help lists the fields") from None


def _camel(key: str) -> str:
    return re.sub("[-_]([a-z])", lambda match: match[1].upper(), key)


def _name(value: object) -> object:
    """Return a reference as text: 7 and "7" are the same task."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _names(value: object) -> object:
    if isinstance(value, list):
        return [_name(item) for item in value]
    return [_name(value)] if isinstance(value, str | int) else value
