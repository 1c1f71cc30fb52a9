"""Rules: the allowed values of a setting, in a file and as text, and their order by permission."""

import re
import shlex
from collections.abc import Callable, Iterable
from typing import NamedTuple, cast

import msgspec

from pro0.config import database as database_url
from pro0.rules.definitions import VARIABLE, definitions

_SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_LONGEST = 4096
"""The most characters of a command line or a URL."""
_WORD = re.compile(r"[a-z0-9-]{0,48}")


def never(_value: object, _personal: object) -> bool:
    """Return False: no value of this setting allows more than another."""
    return False


class SettingRule(NamedTuple):
    """The allowed values of one setting; both functions raise ValueError for any other value."""

    variable: str
    """The setting's environment variable; "" for none."""
    about: str
    allowed: str
    parse: Callable[[str], object]
    check: Callable[[object], object]
    """May also raise BadInput, with a fuller message."""
    joined: bool = False
    """True to merge all sources entry by entry; of two entries with one name the person's own wins."""
    widens: Callable[[object, object], bool] = never
    """Return True when the first value allows more than the second; such a value of a project needs agreement."""
    bounds: tuple[int, int] | None = None
    """The least and the largest whole number."""
    words: tuple[str, ...] = ()
    """The values that shell completion offers."""
    entries: tuple[str, ...] = ()
    """The names that a mapping may have; () for any."""
    pattern: str = ""
    """The pattern of a text, or of each text in a list: a regular expression of Python and of JSON Schema."""
    example: str = ""
    """The text form of a value that needs one in a hint."""


def _adds(value: object, personal: object) -> bool:
    """Return True when the first list or mapping has a name missing in the second."""
    return not set(cast("Iterable[str]", value)) <= set(cast("Iterable[str]", personal))


def switch(variable: str, about: str) -> SettingRule:
    """Make the rule of an on/off setting."""

    def parse(text: str) -> object:
        if text.lower() not in _SWITCH:
            raise ValueError(text)
        return _SWITCH[text.lower()]

    def check(value: object) -> object:
        if not isinstance(value, bool):
            raise ValueError(value)
        return value

    return SettingRule(variable, about, "true or false", parse, check, words=("true", "false"))


def whole(variable: str, about: str, low: int, high: int, *, at_least: int = 0) -> SettingRule:
    """Make the rule of a whole number; values below `at_least` are raised to it."""

    def parse(text: str) -> object:
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
            raise ValueError(text)
        return int(text)

    def check(value: object) -> object:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(value)
        return max(value, at_least)

    return SettingRule(variable, about, f"a whole number from {low} to {high}", parse, check, bounds=(low, high))


def limit(variable: str, about: str, low: int, high: int) -> SettingRule:
    """Make the rule of a limit on time, sessions or money; a larger number allows more."""

    def widens(value: object, personal: object) -> bool:
        return cast(int, value) > cast(int, personal)

    return whole(variable, about, low, high)._replace(widens=widens)


def choice(variable: str, about: str, words: tuple[str, ...], *, rising: tuple[str, ...] = ()) -> SettingRule:
    """Make the rule of a choice among words; `rising` orders them from least to most permissive."""

    def check(value: object) -> object:
        if value not in words:
            raise ValueError(value)
        return value

    def widens(value: object, personal: object) -> bool:
        return rising.index(str(value)) > rising.index(str(personal))

    allowed = f"one of {', '.join(words)}"
    return SettingRule(variable, about, allowed, str, check, widens=widens if rising else never, words=words)


def word(variable: str, about: str) -> SettingRule:
    """Make the rule of one name, or nothing."""

    def check(value: object) -> object:
        if not isinstance(value, str) or not _WORD.fullmatch(value):
            raise ValueError(value)
        return value

    return SettingRule(variable, about, "a name of letters, digits and '-'", str, check, pattern=_WORD.pattern)


def target(variable: str, about: str) -> SettingRule:
    """Make the rule of a command line or a URL; any of a project needs agreement."""

    def check(value: object) -> object:
        if not isinstance(value, str) or not all(letter.isprintable() for letter in value) or len(value) > _LONGEST:
            raise ValueError(value)
        line = value.strip()
        if line.startswith(("http://", "https://")):
            from urllib.parse import urlsplit  # start-up time

            _ = urlsplit(line).port  # raises ValueError for a port or brackets that no URL has
        return line

    def widens(value: object, personal: object) -> bool:
        return bool(value) and value != personal

    return SettingRule(variable, about, "a command line, or a URL", str, check, widens=widens)


def database(variable: str, about: str) -> SettingRule:
    """Make the rule of a database's URL, or nothing for files; another value of a project needs agreement."""

    def check(value: object) -> object:
        if not isinstance(value, str) or len(value) > _LONGEST:
            raise ValueError(value)
        return value and database_url.checked(value)

    def widens(value: object, personal: object) -> bool:
        return value != personal

    return SettingRule(variable, about, "a URL such as postgresql://host/database", str, check, widens=widens)


def program(variable: str, about: str) -> SettingRule:
    """Make the rule of a program with its options; another program of a project needs agreement."""

    def check(value: object) -> object:
        line = target(variable, about).check(value)
        if not isinstance(line, str) or not shlex.split(line):  # which raises ValueError for quotes left open
            raise ValueError(value)
        return line

    def widens(value: object, personal: object) -> bool:
        return value != personal

    return SettingRule(variable, about, "a program with its options", str, check, widens=widens)


def names(variable: str, about: str) -> SettingRule:
    """Make the rule of a list of variable names; `NAME*` matches by prefix; the text form separates by commas."""

    def check(value: object) -> object:
        if not isinstance(value, list | tuple) or not all(isinstance(n, str) and VARIABLE.fullmatch(n) for n in value):
            raise ValueError(value)
        return tuple(value)

    def parse(text: str) -> object:
        return [name.strip() for name in text.split(",") if name.strip()]

    allowed = "a list of variable names (NAME* means all that begin with NAME)"
    return SettingRule(variable, about, allowed, parse, check, widens=_adds, pattern=VARIABLE.pattern)


def mapping(variable: str, about: str) -> SettingRule:
    """Make the rule of the agents by name; the text form is JSON."""

    allowed, example = "a mapping of names to definitions", '{"mine": {"argv": ["mine", "{prompt}"]}}'
    return SettingRule(variable, about, allowed, _json, definitions, joined=True, widens=_adds, example=example)


def commands(variable: str, about: str, names: tuple[str, ...]) -> SettingRule:
    """Make the rule of shell commands by name; the text form is JSON. Any other value of a project needs agreement."""

    def check(value: object) -> object:
        if not isinstance(value, dict) or not set(value) <= set(names) or not all(map(_is_command, value.values())):
            raise ValueError(value)
        return value

    def widens(value: object, personal: object) -> bool:
        return value != personal

    allowed = f"shell commands by name: {', '.join(names)}"
    example = f'{{"{names[0]}": "make ready"}}'
    return SettingRule(variable, about, allowed, _json, check, widens=widens, entries=names, example=example)


def _json(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):  # nested too deep
        raise ValueError(text) from None


def _is_command(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value
