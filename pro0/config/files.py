"""Settings files: YAML without aliases, or JSON with comments; a file is read whole or refused, naming the fault."""

import errno
import re
import stat
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pro0 import looking
from pro0.config.keys import strict
from pro0.config.table import NAMES
from pro0.errors import BadInput, ErrorCode
from pro0.model.home import HookEvent
from pro0.rules.spelling import nearest

if TYPE_CHECKING:
    import yaml

USER_FILE = "config.yaml"
"""The user's settings, in PRO0_HOME."""
HOOKS = "hooks"
PROJECT_FILE = Path(".pro0") / USER_FILE
"""The project's settings, in the project directory."""
SIZE_LIMIT = 1024 * 1024
"""The largest settings file, in bytes."""
DEPTH_LIMIT = 16
EVENT_LIMIT = 10_000

_STRINGS = r"""("(?:\\.|[^"\\])*(?:"|\Z)|'[^']*(?:'|\Z))"""
_OUTSIDE_STRINGS = re.compile(rf"{_STRINGS}|(?<!:)//[^\n]*|/\*.*?(?:\*/|\Z)|\t", re.DOTALL)
_WORDS = {True: "true", False: "false", None: "null"}
_BROKEN = (ValueError, LookupError, AttributeError, ArithmeticError)
"""Errors of PyYAML besides its own, raised for text like `!!int ""`."""


class Written(NamedTuple):
    """The content of one settings file; empty for a missing file."""

    path: Path
    values: Mapping[object, object] = {}
    hooks: dict[str, tuple[str, ...]] = {}


def read(path: Path) -> Written:
    """Read a settings file into values by setting name; raises BadInput for a bad file."""
    return meaning(text_of(path), path)


def meaning(text: str, path: Path) -> Written:
    """Parse the text of a settings file; raises BadInput, naming the file, for bad text."""
    values = _parsed(text, path)
    return Written(path, _flattened(values, path), _commands(values, path))


def text_of(path: Path) -> str:
    """Return the text of a settings file, "" for a missing one; raises BadInput for unreadable or non-text content."""
    try:
        return _data(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"the settings {path} are not UTF-8 text: {error.reason}") from error
    except OSError as error:
        code = errno.errorcode.get(error.errno or 0, "OSError")
        raise BadInput(f"the settings {path} cannot be read: {error.strerror} ({code})") from error


def _data(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadInput(f"the settings {path} are not a regular file")
        with path.open("rb") as stream:
            data = stream.read(SIZE_LIMIT + 1)
    except (FileNotFoundError, NotADirectoryError):
        if link := _dead_link(path):
            hint = f"restore the target of {link}, or remove this link"
            raise BadInput(f"the settings {path} link to a file that does not exist", hint=hint) from None
        return b""
    if len(data) > SIZE_LIMIT:
        raise BadInput(f"the settings {path} are larger than {SIZE_LIMIT} bytes")
    return data


def _dead_link(path: Path) -> Path | None:
    """Return the file or its folder if it is a dangling link: its settings are then missing, not unset."""
    return next((place for place in (path, path.parent) if looking.is_link(place) and not looking.exists(place)), None)


def _parsed(text: str, path: Path) -> dict[object, object]:
    """Return the mapping in a settings file: YAML without aliases, or JSON with comments."""
    if not text.strip():
        return {}
    import yaml  # only when there is something to read: start-up time

    if is_json(text):
        text = _OUTSIDE_STRINGS.sub(lambda match: match[1] or " ", text)
    try:
        _bounded(yaml.parse(text, yaml.SafeLoader), path)
        value = yaml.load(text, strict(yaml.SafeLoader))
    except (yaml.YAMLError, *_BROKEN) as error:
        raise BadInput(f"the settings {path} are not YAML: {_trouble(error)}") from None
    return _mapping(value, f"the settings {path}")


def is_json(text: str) -> bool:
    """Return True when a settings file is JSON with comments."""
    return text.lstrip().startswith(("{", "//", "/*"))


def _bounded(events: Iterable["yaml.Event"], path: Path) -> None:
    """Refuse text that costs more to read than its size: aliases, deep nesting, very many values."""
    import yaml

    depth = 0
    for count, event in enumerate(events):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEPTH_LIMIT or count > EVENT_LIMIT or isinstance(event, yaml.AliasEvent):
            raise BadInput(f"the settings {path} use aliases, or are nested too deep or too long to be settings")


def _trouble(error: Exception) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if problem and problem.startswith("but "):  # it goes on from the sentence before
        problem = f"{getattr(error, 'context', '')}, {problem}"
    return f"{problem or 'a value cannot be read'}{f', line {mark.line + 1}' if mark else ''}"


def _flattened(values: dict[object, object], path: Path) -> dict[object, object]:
    """Merge the flat keys and the `experimental.agentTeams` block into one mapping (behaviour 3.14)."""
    check_names(values, (*NAMES, "experimental", HOOKS), str(path))
    outer = _mapping(values.get("experimental"), f"experimental ({path})")
    check_names(outer, ("agentTeams",), f"experimental, {path}")
    inner = _mapping(outer.get("agentTeams"), f"experimental.agentTeams ({path})")
    check_names(inner, NAMES, f"experimental.agentTeams, {path}")
    flat = {key: value for key, value in values.items() if key not in ("experimental", HOOKS)}
    for key in inner.keys() & flat.keys():
        raise BadInput(f"{key} is set twice, flat and in experimental.agentTeams ({path})", hint="remove one of them")
    return flat | inner


def _commands(values: dict[object, object], path: Path) -> dict[str, tuple[str, ...]]:
    """Return the `hooks:` block: each event with its shell commands, one or a list."""
    block = _mapping(values.get(HOOKS), f"{HOOKS} ({path})")
    check_names(block, tuple(HookEvent), f"{HOOKS}, {path}")
    by_event = {}
    for event, value in block.items():
        commands = value if isinstance(value, list) else [value]
        if not commands or not all(
            isinstance(command, str) and command.strip() and "\0" not in command for command in commands
        ):
            raise BadInput(
                f"{HOOKS}, {event} must be a command or a list of commands ({path})",
                code=ErrorCode.BAD_SETTING,
            )
        by_event[str(event)] = tuple(commands)
    return by_event


def _mapping(value: object, subject: str) -> dict[object, object]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadInput(f"{subject} must be a mapping of names to values, not {quoted(value)}")
    return value


def check_names(names: Iterable[object], allowed: tuple[str, ...], where: str) -> None:
    """Raise BadInput for an unknown name, with the nearest known name as a hint."""
    for key in names:
        if key not in allowed:
            near = nearest(key, allowed) if isinstance(key, str) else ""
            hint = f"did you mean {near}?" if near else f"known: {', '.join(allowed)}"
            raise BadInput(f"there is no setting {quoted(key)} ({where})", code=ErrorCode.UNKNOWN_SETTING, hint=hint)


def quoted(value: object) -> str:
    """Return a value for an error message, cut to 80 characters; true, false and null as they stand in a file."""
    try:
        text = _WORDS[value] if isinstance(value, bool | None) else f"{value!r}"
    except ValueError:  # Python refuses to write a longer number
        return f"a number of more than {sys.get_int_max_str_digits()} digits"
    return text if len(text) <= 80 else f"{text[:77]}..."
