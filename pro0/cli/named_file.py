"""Read files named on the command line, with `-` for stdin, as bytes or as YAML or JSON."""

from pathlib import Path
from typing import cast

import msgspec

from pro0.cli.output import stdin_bytes
from pro0.config.keys import strict
from pro0.errors import BadInput, ErrorCode, NotFound
from pro0.rules.size import holds_more_than, nested_deeper_than
from pro0.store.keys import repeated

SIZE_LIMIT = 16 * 1024 * 1024
"""The most bytes of a file of tasks, or of a layout."""
DEPTH_LIMIT = 16
VALUE_LIMIT = 250_000
"""The most values in one file: each takes far more memory than its bytes."""


def data_of(file: str, limit: int = SIZE_LIMIT) -> bytes:
    """Return the bytes of a file, `-` being stdin; raises NotFound, or BadInput over `limit` bytes."""
    try:
        if file == "-":
            data = stdin_bytes(limit + 1)
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(limit + 1)
    except FileNotFoundError:
        raise NotFound(f"there is no file {file}") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BadInput(f"{file} cannot be read: {why}") from None
    if len(data) > limit:
        raise BadInput(f"{file} is larger than {limit} bytes", code=ErrorCode.TOO_LARGE)
    return data


def value_of(data: bytes, name: str) -> object:
    """Return the value of YAML or JSON; raises BadInput for a text that is neither."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not UTF-8 text: {error.reason}") from None
    if text.lstrip().startswith(("[", "{")):
        if holds_more_than(VALUE_LIMIT, data):
            raise BadInput(f"{name} holds more than {VALUE_LIMIT} values", code=ErrorCode.TOO_LARGE)
        try:
            value = cast(object, msgspec.json.decode(text))
            if not nested_deeper_than(DEPTH_LIMIT, data):
                if twice := repeated(data):
                    raise BadInput(f"{name} has the key {twice} twice", hint="keep one of them")
                return value
        except (msgspec.DecodeError, RecursionError, ValueError):
            pass  # YAML may begin like this too, and its reader reports too deep nesting
    return _yaml(text, name)


def _yaml(text: str, name: str) -> object:
    """Return the value of a YAML text. Aliases are refused, since they can expand hugely; so is too deep nesting."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        depth = 0
        for count, event in enumerate(yaml.parse(text, loader)):
            if count > VALUE_LIMIT:
                raise BadInput(f"{name} holds more than {VALUE_LIMIT} values", code=ErrorCode.TOO_LARGE)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > DEPTH_LIMIT:
                raise BadInput(f"{name} uses aliases, or is nested too deep", hint="write the values out")
        return cast(object, yaml.load(text, strict(loader)))
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise BadInput(f"{name} is neither YAML nor JSON: {problem or 'it cannot be read'}{where}") from None
    except (RecursionError, ValueError, LookupError, AttributeError):
        raise BadInput(f"{name} is neither YAML nor JSON") from None
