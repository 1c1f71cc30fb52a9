"""Files of tasks in YAML or JSON. A file is read completely, or refused with the place of the error."""

import re
from collections.abc import Iterable

import msgspec

from pro0.cli.named_file import data_of, value_of
from pro0.cli.output import words
from pro0.decoding import convert
from pro0.errors import BadInput
from pro0.model.ids import task_id
from pro0.model.task import Draft
from pro0.rules.spelling import nearest
from pro0.rules.validation import validation_message

_REFERENCES = ("key", "parent")
_LISTS = ("blockedBy", "labels")
_UNQUOTED = tuple(
    f"must be a text, not {kind}"
    for kind in ("true or false", "a whole number", "a number", "a date", "a date and time")
)
"""What YAML takes words such as no, 12 and 2024-01-01 for."""
_SHAPE = "a list of tasks, or {tasks: [...]}"


def read(file: str) -> list[Draft]:
    """Return the tasks of a file, `-` being stdin; raises BadInput naming the task that cannot be used."""
    name = "stdin" if file == "-" else file
    value = value_of(data_of(file), name)
    if isinstance(value, dict) and set(value) == {"tasks"}:
        value = value["tasks"]
    if not isinstance(value, list):
        raise BadInput(f"{name} holds no tasks", hint=f"it must be {_SHAPE}")
    drafts = [_draft(item, f"task {number} of {name}") for number, item in enumerate(value, 1)]
    _check_references(drafts, name)
    return drafts


def _check_references(drafts: list[Draft], name: str) -> None:
    """Raise BadInput for a reference to neither a key of the file nor an existing task."""
    keys = {draft.key for draft in drafts}
    for number, draft in enumerate(drafts, 1):
        for reference in (*draft.blocked_by, *([draft.parent] if draft.parent else [])):
            try:
                if reference not in keys:
                    task_id(reference)
            except BadInput:
                text = f"task {number} of {name} names {reference!r}, which is no key in it and no task id"
                raise BadInput(text, hint=f"give the task that you mean the key {reference}") from None


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
    if isinstance(item.get("labels"), str):
        fields["labels"] = words((str(item["labels"]),))
    try:
        return convert({key: value for key, value in fields.items() if value is not None}, Draft)
    except msgspec.ValidationError as error:
        message = validation_message(error)
        raise BadInput(f"{where}: {message}", hint=_hint(fields, message)) from None


def _hint(fields: Iterable[str], message: str) -> str:
    draft_fields = Draft.__struct_encode_fields__
    near = next((nearest(name, draft_fields) for name in fields if name not in draft_fields), "")
    if near:
        return f"did you mean {near}?"
    return 'quote it: "…"' if message.endswith(_UNQUOTED) else "pro0 task create --help lists the fields"


def _camel(key: str) -> str:
    return re.sub("[-_]([a-z])", lambda match: match[1].upper(), key)


def _name(value: object) -> object:
    """Return a reference as text: 7 and "7" are the same task."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _names(value: object) -> object:
    if isinstance(value, list):
        return [_name(item) for item in value]
    return [_name(value)] if isinstance(value, str | int) else value
