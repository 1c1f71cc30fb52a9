"""Change one value in a settings file; every other line and comment stays as written."""

import re
from pathlib import Path

import msgspec

from pro0.config.files import HOOKS, is_json, meaning, quoted
from pro0.config.table import SETTINGS, Setting
from pro0.errors import BadInput, ErrorCode, NotFound
from pro0.rules.spelling import nearest

_REMARK = re.compile(r"[ \t]+#.*")


def value_of(name: str, text: str) -> object:
    """Parse the text of one setting's value; raises NotFound for an unknown setting, BadInput for a bad value."""
    rule = setting_named(name).rule
    try:
        value = rule.parse(text)
        rule.check(value)
    except ValueError:
        message = f"{name} must be {rule.allowed}, not {quoted(text)}"
        hint = f"as JSON: pro0 config set {name} '{rule.example}'" if rule.example else None
        raise BadInput(message, code=ErrorCode.BAD_SETTING, hint=hint) from None
    return value


def setting_named(name: str) -> Setting:
    """Return the setting of that name; raises NotFound with the nearest name as a hint."""
    row = next((setting for setting in SETTINGS if setting.name == name), None)
    if row is None:
        near = nearest(name, [setting.name for setting in SETTINGS])
        hint = f"did you mean {near}?" if near else "pro0 config shows them all"
        hint = "they stand in config.yaml itself: pro0 man hooks" if name == HOOKS else hint
        raise NotFound(f"there is no setting {quoted(name)}", code=ErrorCode.UNKNOWN_SETTING, hint=hint)
    return row


def with_value(text: str, path: Path, name: str, value: object) -> str:
    """Return the file's text with one setting changed; raises BadInput if only a person can edit it."""
    lines = _lines(text, path, name)
    row = _row(name)
    at = next((index for index, line in enumerate(lines) if row.match(line)), len(lines))
    usual_end = (_split(lines[0])[1] if lines else "") or "\n"
    earlier_lines = [line if _split(line)[1] else line + usual_end for line in lines[:at]]
    later_lines = [line for line in lines[at + 1 :] if not row.match(line)]
    old, end = _split(lines[at]) if at < len(lines) else ("", "")
    new_line = f"{name}: {_yaml(value)}{_remark(old)}{end or usual_end}"
    return _checked(text, "".join([*earlier_lines, new_line, *later_lines]), path, name, value)


def without_value(text: str, path: Path, name: str) -> str:
    """Return the file's text without one setting; raises BadInput if only a person can edit it."""
    remaining = [line for line in _lines(text, path, name) if not _row(name).match(line)]
    return _checked(text, "".join(remaining), path, name, None)


def _lines(text: str, path: Path, name: str) -> list[str]:
    """Return the lines with their ends; raises BadInput for JSON."""
    if is_json(text):
        raise _refusal(path, name)
    return text.splitlines(keepends=True)


def _split(line: str) -> tuple[str, str]:
    """Return a line's text and its end."""
    body = "".join(line.splitlines())
    return body, line.removeprefix(body)


def _remark(line: str) -> str:
    """Return the comment behind a line's value, with the spaces before it; "" for none."""
    import yaml

    end = 0
    try:
        for token in yaml.scan(line, yaml.SafeLoader):
            if not isinstance(token, yaml.BlockEndToken | yaml.StreamEndToken):
                end = token.end_mark.index
    except yaml.YAMLError:
        return ""  # its value ends on a later line
    remark = _REMARK.fullmatch(line[end:])
    return remark[0] if remark else ""


def _row(name: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(name)}[ \t]*:")


def _checked(before: str, after: str, path: Path, name: str, value: object) -> str:
    """Return the changed text if only this one value differs; else raise BadInput."""
    expected = {**meaning(before, path).values}
    expected.pop(name, None)
    if value is not None:
        expected[name] = value
    try:
        if meaning(after, path).values == expected and meaning(after, path).hooks == meaning(before, path).hooks:
            return after
    except BadInput:
        pass
    raise _refusal(path, name)


def _refusal(path: Path, name: str) -> BadInput:
    return BadInput(f"{name} cannot be changed without touching more of {path}", hint=f"edit the file by hand: {path}")


def _yaml(value: object) -> str:
    """Return a value as one line of YAML: a plain word, or JSON."""
    word = isinstance(value, str) and re.fullmatch(r"[a-z][a-z-]+", value) and value not in ("yes", "no", "on", "off")
    return str(value) if word and value not in ("true", "false", "null") else msgspec.json.encode(value).decode()
