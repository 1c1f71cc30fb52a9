"""Layout files: people write short forms, and three passes over plain data make a layout of them.

`expand` writes short forms out. `inherit` gives each member the values of its window and of the file. `checked` makes a
Layout, or raises an error with the fault and its place. The words for windows and panes are tmuxp's.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias, cast

import msgspec

from pro0.decoding import convert
from pro0.errors import BadInput, ErrorCode
from pro0.model.layout import Layout, LayoutMember, LayoutRole
from pro0.rules.spelling import nearest
from pro0.rules.validation import validation_message

Data: TypeAlias = dict[str, object]

INHERITED = ("agent", "role", "model", "effort", "permission_mode", "nudge")
"""The keys of a member with a default in its window or in the file."""
_TOP = frozenset({*Layout.__struct_fields__, *INHERITED})
_WINDOW = frozenset({"window_name", "layout", "panes", *INHERITED})
_MEMBER = frozenset({*LayoutMember.__struct_fields__, *LayoutMember.__struct_encode_fields__})
_PANE = _MEMBER | {"shell_command"}
_ROLE = frozenset(LayoutRole.__struct_fields__)
_REFUSED = {
    "session_name": "`pro0 team start` names the team",
    "start_directory": "members work in the project, or in worktrees of their own",
    "focus": "the person's own window keeps the focus",
}
"""Refused words of tmuxp, each with the reason: pro0 could not do what they say."""


def layout_of(written: object) -> Layout:
    """Return the layout in a file, or raise BadInput with the place of the fault."""
    return checked(inherit(expand(written)))


def expand(written: object) -> Data:
    """Write every short form out: members and roles by name, panes as member names, tasks as titles."""
    top = _mapping(written, "the layout", _TOP)
    members = [_with_name(name, value, "members", _MEMBER) for name, value in _items(top.get("members"), "members")]
    windows = [_window(value, number) for number, value in enumerate(_list(top.get("windows"), "windows"), 1)]
    roles = [
        _with_name(name, value, "roles", _ROLE, short="prompt") for name, value in _items(top.get("roles"), "roles")
    ]
    tasks = [{"title": task} if isinstance(task, str) else task for task in _list(top.get("tasks"), "tasks")]
    return {**top, "members": members, "windows": windows, "roles": roles, "tasks": tasks}


def inherit(data: Data) -> Data:
    """Give each member the defaults of its window and of the file. Each pane makes a member of its window."""
    windows = cast("list[Data]", data["windows"])
    members = {str(member["name"]): member for member in cast("list[Data]", data["members"])}
    for window in windows:
        for pane in cast("list[Data]", window["panes"]):
            name = str(pane["name"])
            described = members.get(name)
            if described is None and pane.keys() == {"name"}:
                raise _wrong(f"{window['window_name']}: there is no member {name!r}", hint="add it to members")
            if described is not None and "window" in described:
                raise _wrong(f"{window['window_name']}: {name!r} has a pane already", hint="one pane per member")
            members[name] = {**_handed_down(window), **(described or {}), **pane, "window": window["window_name"]}
    top = _handed_down(data)
    return {
        **{key: value for key, value in data.items() if key not in INHERITED or key == "permission_mode"},
        "members": [{**top, **member} for member in members.values()],
        "windows": [{key: window[key] for key in ("window_name", "layout") if key in window} for window in windows],
    }


def checked(data: Data) -> Layout:
    """Return the layout, or raise BadInput for an unknown word, a wrong type, or a repeated name."""
    try:
        layout = convert(_camel(data), Layout)
    except msgspec.ValidationError as error:
        raise _wrong(validation_message(error)) from None
    _unique("member", (member.name.strip().casefold() for member in layout.members))
    _unique("window", (window.window_name for window in layout.windows))
    return layout


def _window(value: object, number: int) -> Data:
    where = f"windows, {number}"
    window = _mapping(value, where, _WINDOW)
    name = str(window.get("window_name") or f"window-{number}")
    panes = _list(window.get("panes"), f"{where}, panes")
    return {**window, "window_name": name, "panes": [_pane(pane, name, at) for at, pane in enumerate(panes, 1)]}


def _pane(value: object, window: str, number: int) -> Data:
    """Return a pane as a member. A name alone is a member's name; `shell_command` makes a member for that command."""
    if isinstance(value, str):
        return {"name": value}
    pane = dict(_mapping(value, f"{window}, pane {number}", _PANE))
    command = pane.pop("shell_command", None)
    if command is None:
        if "name" not in pane:
            raise _wrong(f"{window}, pane {number}: it needs a name or a shell_command")
        return pane
    lines = [line for line in (command if isinstance(command, list) else [command]) if isinstance(line, str)]
    if not lines or (isinstance(command, list) and len(lines) < len(command)):
        raise _wrong(f"{window}, pane {number}: shell_command must be a text, or a list of texts")
    name = pane.get("name") or (window if number == 1 else f"{window}-{number}")
    return {**pane, "name": name, "agent": "command", "argv": ["/bin/sh", "-c", " && ".join(lines)]}


def _with_name(name: str, value: object, where: str, keys: frozenset[str], short: str = "agent") -> Data:
    if isinstance(value, str):
        value = {short: value}
    return {"name": name, **_mapping(value if value is not None else {}, f"{where}, {name}", keys)}


def _handed_down(above: Mapping[str, object]) -> Data:
    return {key: above[key] for key in INHERITED if key in above}


def _items(value: object, where: str) -> Iterator[tuple[str, object]]:
    """Yield named items from a mapping, from a list of names, or from a list of mappings with a name."""
    if isinstance(value, list):
        for number, item in enumerate(value, 1):
            if isinstance(item, str):
                yield item, None
            else:
                entry = _mapping(item, f"{where}, {number}", None)
                if not isinstance(entry.get("name"), str):
                    raise _wrong(f"{where}, {number}: it needs a name")
                yield str(entry["name"]), entry
    else:
        yield from _mapping(value if value is not None else {}, where, None).items()


def _list(value: object, where: str) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise _wrong(f"{where}: it must be a list")
    return value


def _mapping(value: object, where: str, allowed_keys: frozenset[str] | None) -> Data:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise _wrong(f"{where}: it must be a mapping of names to values")
    for key in value:
        if key in _REFUSED:
            raise _wrong(f"{where}: {key!r} has no effect here: {_REFUSED[key]}", hint="leave it out")
        if allowed_keys is not None and key not in allowed_keys:
            lower_case = sorted(filter(str.islower, allowed_keys))
            near = nearest(key, lower_case)
            hint = f"did you mean {near}?" if near else f"known: {', '.join(lower_case)}"
            raise _wrong(f"{where}: there is no {key!r}", hint=hint)
    return value


def _unique(noun: str, names: Iterable[str]) -> None:
    taken: set[str] = set()
    for name in names:
        if name in taken:
            raise _wrong(f"two {noun}s are called {name!r}", hint="names must differ by more than case")
        taken.add(name)


def _wrong(text: str, hint: str | None = None) -> BadInput:
    return BadInput(text, code=ErrorCode.BAD_LAYOUT, hint=hint)


def _camel(value: object) -> object:
    """Respell the keys of files, `window_name`, as the keys of values, `windowName`."""
    if isinstance(value, dict):
        return {_word(str(key)): _camel(item) for key, item in value.items()}
    return [_camel(item) for item in value] if isinstance(value, list) else value


def _word(key: str) -> str:
    head, *rest = key.split("_")
    return head + "".join(part.capitalize() for part in rest)
