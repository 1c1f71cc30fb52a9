"""JSON Schemas of the files that people write, for editors: settings, layouts, files of tasks; short forms too."""

import sys
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, cast

from pro0.config import SETTINGS
from pro0.config.table import Settings
from pro0.model.agent import Definition
from pro0.model.home import HookEvent
from pro0.model.layout import LayoutMember
from pro0.model.task import Draft
from pro0.ops.signature import schema_of
from pro0.rules.layouts import INHERITED
from tools.meanings import HOOKS, LAYOUT_KEYS, MEMBER_KEYS, ROLE_KEYS, TASK_KEYS, WINDOW_KEYS

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
NAMES: Schema = {
    "anyOf": [{"type": ["string", "integer"]}, {"type": "array", "items": {"type": ["string", "integer"]}}]
}
REFERENCE: Schema = {"type": ["string", "integer", "null"]}
SHELL: Schema = {"anyOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1}]}


def settings() -> Schema:
    """Return the schema of config.yaml."""
    parts = schema_of(Settings)[1] | schema_of(Definition)[1]
    properties = deepcopy(cast(Schema, parts.pop("Settings")["properties"]))
    for setting in SETTINGS:
        place = properties[setting.name]
        place["description"] = setting.rule.about
        if setting.rule.bounds:
            place["minimum"], place["maximum"] = setting.rule.bounds
        if setting.rule.entries:
            place["propertyNames"] = {"enum": list(setting.rule.entries)}
        if setting.rule.pattern:
            place.get("items", place)["pattern"] = f"^(?:{setting.rule.pattern})$"
    hooks = {event.value: {**SHELL, "description": HOOKS[event]} for event in HookEvent}
    properties["hooks"] = {"type": "object", "properties": hooks, "additionalProperties": False}
    return _object(properties) | {"title": "config.yaml", "$defs": _closed(parts)}


def tasks() -> Schema:
    """Return the schema of a file of tasks."""
    task, parts = _task(short=True)
    listed = {"type": "array", "items": {"anyOf": [TEXT, task]}}
    whole = _object({"tasks": listed}) | {"required": ["tasks"]}
    return {"title": "tasks.yaml", "anyOf": [listed, whole], "$defs": parts}


def layout() -> Schema:
    """Return the schema of a layout."""
    task, parts = _task(short=False)
    _, of_member = schema_of(LayoutMember)
    member = _described(_both(of_member.pop("LayoutMember")["properties"]), MEMBER_KEYS)
    inherited = {key: member[key] for name in INHERITED for key in (name, _camel(name))}
    pane = {"anyOf": [TEXT, _object({**member, "shell_command": SHELL})]}
    window = _object(
        _described({"window_name": TEXT, "layout": TEXT, "panes": {"type": "array", "items": pane}}, WINDOW_KEYS)
        | inherited
    )
    role = {"anyOf": [TEXT, _object(_described({"name": TEXT, "prompt": TEXT}, ROLE_KEYS))]}
    top = {
        **dict.fromkeys(("description", "mode", "lead", "prompt"), TEXT),
        "permission_mode": member["permission_mode"],
        "members": _named({"anyOf": [TEXT, {"type": "null"}, _object(member)]}),
        "windows": {"type": "array", "items": window},
        "roles": _named(role),
        "tasks": {"type": "array", "items": {"anyOf": [TEXT, task]}},
    }
    return _object(inherited | _described(top, LAYOUT_KEYS)) | {"title": "layout", "$defs": parts | _closed(of_member)}


def _task(*, short: bool) -> tuple[Schema, Schema]:
    """Return the schema of a task; a file of tasks takes short forms of its lists and references, a layout does not."""
    _, parts = schema_of(Draft)
    properties = _described(_both(parts.pop("Draft")["properties"]), TASK_KEYS)
    for name in ("blocked_by", "blockedBy", "labels") if short else ():
        properties[name] = NAMES | {"description": properties[name]["description"]}
    for name in ("key", "parent") if short else ():
        properties[name] = REFERENCE | {"description": properties[name]["description"]}
    return _object(properties) | {"required": ["title"]}, _closed(parts)


def _both(properties: Schema) -> Schema:
    """Return the properties under both spellings: as on disk, and with underscores."""
    return properties | {_snake(name): value for name, value in properties.items()}


def _described(properties: Schema, texts: dict[str, str]) -> Schema:
    if untold := sorted({_snake(name) for name in properties} - set(texts)):
        sys.exit(f"tools/meanings.py says nothing of {', '.join(untold)}, which an editor is to tell")
    return {name: {**value, "description": texts[_snake(name)]} for name, value in properties.items()}


def _object(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _named(item: Schema) -> Schema:
    """Return the schema of named items: a mapping by name, or a list of names and of mappings with a name."""
    return {"anyOf": [{"type": "object", "additionalProperties": item}, {"type": "array", "items": item}]}


def _closed(parts: Mapping[str, Any]) -> Schema:
    return {name: deepcopy(part) for name, part in parts.items()}


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


WRITTEN = {"config-file": settings, "layout-file": layout, "tasks-file": tasks}
"""Schema name → the schema of a file that people write."""
