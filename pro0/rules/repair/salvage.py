"""Salvage reads a damaged document field by field and object by object.

Our files have one value a line, and no JSON text holds a raw line break. So the next line after any damage is sound.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Generic, TypeVar, cast, get_args, get_origin

import msgspec

from pro0.decoding import convert
from pro0.model.stored import SCHEMA_VERSION, Document, Stored

D = TypeVar("D", bound=Document)
S = TypeVar("S", bound=Stored)

DEEPEST = 4
"""The most levels of brackets within one object of ours. A deeper object is not ours."""
SHOWN = 60
"""Characters shown of a lost value."""
UNREADABLE = (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError)

_TEXT = rb'"(?:[^"\\\n]|\\[^\n])*+(?:"|\\?(?=\n)|\\?\Z)'
_TOKEN = re.compile(_TEXT + rb"|[{}\[\]]")
_KEY = re.compile(_TEXT + rb"(\s*:)?")
_END_OF_VALUE = re.compile(_TEXT + rb"|([,\n}\]])")
_LONG_NUMBER = re.compile(rb"(" + _TEXT + rb")|-?\d{19,}[\d.eE+-]*")
_VERSION = re.compile(rb'(?<!\\)"schemaVersion"\s*:\s*(\d{1,6})(?!\d)')
_PARTNER = {ord("}"): ord("{"), ord("]"): ord("[")}


class Remains(msgspec.Struct, Generic[D]):
    """The readable fields of a document by their Python names, and its losses in words."""

    fields: dict[str, Any]
    lost: list[str]
    damaged: dict[str, set[str]]
    """The lost fields of incomplete objects, by the object's id."""
    missing: dict[str, str] = {}
    """The unreadable fields of the document with their keys; "" as the key of a field already named as lost."""

    def name_missing(self, recorded: Collection[str] = ()) -> None:
        """Name the missing fields as lost, except those recorded in other files."""
        self.lost += [f"its {key}" for field, key in self.missing.items() if key and field not in recorded]


def version(data: bytes) -> int:
    """Return the schemaVersion of a file, even a damaged one; 0 for none."""
    return max(map(int, _VERSION.findall(data)), default=0)


def is_newer(data: bytes) -> bool:
    """Return True when a newer pro0 wrote this file: it must not be touched."""
    return version(data) > SCHEMA_VERSION


def recover(data: bytes, kind: type[D]) -> Remains[D]:
    """Return all readable parts of a document, and a list of the losses."""
    salvaged: Remains[D] = Remains({}, [], {})
    data = data.rstrip(b"\0")  # a crash may leave a file longer than its text
    try:
        data.decode()
    except UnicodeDecodeError:
        salvaged.lost.append("some characters, which are not UTF-8")
    whole = _whole(data)
    lists = {field.name for field in msgspec.structs.fields(kind) if _items_of(field.type)}
    # An unknown key may be the damaged key of a list: then its objects are searched for.
    if whole is not None and not lists & _in_doubt(whole, kind) and not _says_twice(data, whole):
        _from_mapping(whole, kind, salvaged)
    else:
        _from_pieces(data, kind, salvaged)
    for name in ("schema_version", "revision"):
        salvaged.fields.pop(name, None)
        salvaged.missing.pop(name, None)
    return salvaged


def _whole(data: bytes) -> Mapping[str, object] | None:
    """Return the document when its brackets are whole and no text or bracket follows it; else None."""
    stack = 0
    for token in _TOKEN.finditer(data):
        mark = data[token.start()]
        stack += (mark in b"{[") - (mark in b"}]")
        if mark in b"}]" and stack == 0:
            value = _raw(data[: token.end()])
            return value if isinstance(value, dict) and not _TOKEN.search(data, token.end()) else None
    return None


def _says_twice(data: bytes, whole: object) -> bool:
    """Return True when a key occurs twice: the text then holds more keys than the decoded document."""
    return sum(1 for text in _KEY.finditer(data) if text[1]) > _keys(whole)


def _keys(value: object) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_keys, value.values()))
    return sum(map(_keys, value)) if isinstance(value, list) else 0


def _from_mapping(whole: Mapping[str, object], kind: type[D], remains: Remains[D]) -> None:
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    remains.missing |= dict.fromkeys(_in_doubt(whole, kind), "")
    for key, value in whole.items():
        if key not in fields:
            remains.lost.append(f"the unknown key {key[:SHOWN]!r} ({_short(value)})")
        elif item := _items_of(fields[key].type):
            objects = value if isinstance(value, list) else [value]
            fitting = [fit(each, item, remains) for each in objects]
            remains.fields[fields[key].name] = [item_value for item_value in fitting if item_value is not None]
            bad = [each for each, item_value in zip(objects, fitting, strict=True) if item_value is None]
            remains.lost += [f"one of its {key} ({_short(each)})" for each in bad]
        else:
            _field(fields[key], value, remains)


def _field(field: msgspec.structs.FieldInfo, value: object, remains: Remains[D]) -> None:
    try:
        remains.fields[field.name] = convert(value, field.type)
    except UNREADABLE:
        remains.lost.append(f"its {field.encode_name} ({_short(value)})")
        remains.missing[field.name] = ""


def _from_pieces(data: bytes, kind: type[D], remains: Remains[D]) -> None:
    spans = list(_objects(data))
    rest = bytearray(data)
    for field in msgspec.structs.fields(kind):
        if item := _items_of(field.type):
            remains.fields[field.name] = _all(data, spans, item, remains, rest)
            if cut := _cut_off(rest, item, remains):
                remains.fields[field.name].append(cut)
    remainder, optional = bytes(rest), kind.__struct_config__.omit_defaults
    for field in msgspec.structs.fields(kind):
        value = None if _items_of(field.type) else _value(remainder, field.encode_name)
        if value is not None:
            _field(field, value, remains)
        elif not (optional and field.default is not msgspec.NODEFAULT) and not _stands_empty(remainder, field):
            remains.missing[field.name] = field.encode_name


def _stands_empty(data: bytes, field: msgspec.structs.FieldInfo) -> bool:
    """Return True when a field is present as null, or as a list whose objects were found before."""
    empty = rb"\[" if _items_of(field.type) else rb"null\b"
    return bool(re.search(rb'(?<!\\)"' + re.escape(field.encode_name.encode()) + rb'"\s*:\s*' + empty, data))


def _all(data: bytes, spans: list[tuple[int, int]], kind: type[S], remains: Remains[D], rest: bytearray) -> list[S]:
    """Return every object of one kind in order. Objects within such an object belong to it."""
    chosen: list[tuple[int, int, S, Remains[D]]] = []
    for start, end in spans:
        losses: Remains[D] = Remains({}, [], {})
        value = fit(_raw(data[start:end]), kind, losses)
        if value is not None:
            # Inner objects come first: an outer object of the same kind takes their place.
            while chosen and chosen[-1][0] > start:
                chosen.pop()
            chosen.append((start, end, value, losses))
    for start, end, _, losses in chosen:
        rest[start:end] = b" " * (end - start)
        remains.lost += losses.lost
        remains.damaged |= losses.damaged
    return [value for _, _, value, _ in chosen]


def _cut_off(rest: bytearray, kind: type[S], remains: Remains[D]) -> S | None:
    """Return the object cut off at the end of a file, made of its whole values; None for none."""
    whole = _whole_values(bytes(rest))
    opened: list[int] = []
    for token in _TOKEN.finditer(whole):
        if whole[token.start()] in b"{[":
            opened.append(token.start())
        elif whole[token.start()] in b"}]" and opened:
            opened.pop()
    for place, start in enumerate(opened := opened[-DEEPEST:]):
        closing = bytes({ord("{"): ord("}"), ord("["): ord("]")}[rest[at]] for at in reversed(opened[place:]))
        raw = _raw(whole[start:].rstrip().rstrip(b",") + closing)
        if rest[start] == ord("{") and (value := fit(raw, kind, remains)) is not None and isinstance(raw, dict):
            name = str(raw.get("id") or raw.get("agentId") or "")
            remains.damaged.setdefault(name, set()).update(_absent(raw, kind))
            remains.lost.append(f"everything of {name[:SHOWN] or 'an object'} after {', '.join(raw)}")
            del rest[start:]
            return value
    return None


def _whole_values(data: bytes) -> bytes:
    """Cut data after its last whole value: at a comma, a line break or a bracket."""
    return data[: max((end.end() for end in _END_OF_VALUE.finditer(data) if end[1]), default=0)]


def fit(raw: object, kind: type[S], losses: Remains[D]) -> S | None:
    """Build an object from its fitting fields, or return None. Unfit fields go into `losses`."""
    try:
        return convert(raw, kind)
    except UNREADABLE:
        if not isinstance(raw, dict):
            return None
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    fitting = {key: value for key, value in raw.items() if key in fields and _fits(value, fields[key].type)}
    shorter = {key: _fitting_items(raw[key], fields[key].type) for key in raw if key in fields and key not in fitting}
    bad = [key for key in raw if key not in fitting]
    try:
        # With most fields unfit it is probably an object of another kind.
        if len(fitting) < len(raw) - len(fitting):
            return None
        value = convert(fitting | {key: items for key, items in shorter.items() if items}, kind)
    except UNREADABLE:
        return None
    name = str(raw.get("id") or raw.get("agentId") or "")[:SHOWN]
    losses.lost += [f"the {key[:SHOWN]} of {name or 'an object'} ({_short(raw[key])})" for key in bad]
    known = {fields[key].name for key in bad if key in fields}
    losses.damaged.setdefault(name, set()).update(known | _in_doubt(raw, kind))
    return value


def _absent(raw: Mapping[str, object], kind: type[Stored]) -> set[str]:
    return {field.name for field in msgspec.structs.fields(kind) if field.encode_name not in raw}


def _in_doubt(raw: Mapping[str, object], kind: type[Stored]) -> set[str]:
    """Return the absent fields beside an unknown key: it may be the damaged key of any of them."""
    return set() if raw.keys() <= set(kind.__struct_encode_fields__) else _absent(raw, kind)


def _fits(value: object, kind: object) -> bool:
    try:
        convert(value, cast(type, kind))
    except UNREADABLE:
        return False
    return True


def _fitting_items(value: object, kind: object) -> list[object]:
    """Return the fitting items of a list."""
    if get_origin(kind) is not tuple or not isinstance(value, list):
        return []
    return [item for item in value if _fits([item], kind)]


def _items_of(kind: object) -> type[Any] | None:
    """Return the object type of a field for a list of objects, None for any other field."""
    item = get_args(kind)[0] if get_origin(kind) is tuple else None
    return item if isinstance(item, type) and issubclass(item, Stored) else None


def _objects(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each object that could be ours, inner objects before outer ones."""
    stack: list[tuple[int, int]] = []
    heights: list[int] = []
    for token in _TOKEN.finditer(data):
        mark, start = data[token.start()], token.start()
        if mark in b"{[":
            stack.append((mark, start))
            heights.append(0)
        elif mark in b"}]":
            while stack and stack[-1][0] != _PARTNER[mark]:
                stack.pop()
                heights.pop()
            if stack:
                (_, begin), height = stack.pop(), heights.pop()
                if heights:
                    heights[-1] = max(heights[-1], height + 1)
                if mark == ord("}") and height <= DEEPEST:
                    yield begin, token.end()


def _value(data: bytes, key: str) -> object:
    """Return the first readable value behind a key, or None."""
    pattern = rb'(?<!\\)"' + re.escape(key.encode()) + rb'"\s*:\s*(' + _TEXT + rb"|[\w.+-]+|\{[^{}]*\}|\[[^\[\]{}]*\])"
    for match in re.finditer(pattern, data):
        if (value := _raw(match[1])) is not None:
            return value
    return None


def _raw(data: bytes) -> object:
    """Decode a piece of JSON, or return None. Broken letters and endless numbers are replaced."""
    try:
        return msgspec.json.decode(data)
    except UNREADABLE:
        pass
    try:
        return msgspec.json.decode(_mended(data))
    except UNREADABLE:
        return None


def _mended(data: bytes) -> bytes:
    return _LONG_NUMBER.sub(lambda match: match[1] or b"null", data.decode(errors="replace").encode())


def _short(value: object) -> str:
    try:
        text = msgspec.json.encode(value)[: SHOWN * 4].decode(errors="replace")
    except UNREADABLE:
        text = repr(type(value))
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
