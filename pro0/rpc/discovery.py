"""The description of the protocol by itself: an OpenRPC document, made from the table of methods."""

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from pro0 import __version__
from pro0.model.caller import PEOPLE_AND_AGENTS
from pro0.model.stored import SCHEMA_VERSION
from pro0.ops.context import OPERATIONS
from pro0.ops.signature import arguments_of, result_of
from pro0.rpc.method import METHODS, Method
from pro0.rpc.progress import PROGRESS, TOKEN, CallProgress
from pro0.rpc.subscriptions import CHANGES, FAMILIES
from pro0.rpc.views import SHOWN, snake

DISCOVER = "rpc.discover"
_REF = "#/components/schemas/"

Schema = dict[str, Any]
Worded = Callable[[str], str]


@cache
def document() -> dict[str, object]:
    """Return the OpenRPC document of everything that is served."""
    schemas: dict[str, Schema] = {}
    methods = [_method(METHODS[name], schemas) for name in sorted(METHODS)]
    methods.append({**_discover(), "params": []})
    notifications = [*(_notification(family, schemas) for family in FAMILIES), _progress(schemas)]
    about = "The operations of pro0 for other programs, over the socket of a team's lead or over stdio."
    return {
        "openrpc": "1.2.6",
        "info": {"title": "pro0", "version": __version__, "description": about},
        "methods": methods,
        "components": {"schemas": {name: schemas[name] for name in sorted(schemas)}},
        "x-notifications": notifications,
        "x-schema-version": SCHEMA_VERSION,
    }


def callers(method: Method) -> list[str]:
    """Return who may call a method."""
    return sorted(str(who) for who in method.by or OPERATIONS[method.operation].by if who in PEOPLE_AND_AGENTS)


def _discover() -> dict[str, object]:
    result = {"name": "document", "schema": {"type": "object"}}
    return {"name": DISCOVER, "summary": "Return this document.", "result": result}


def _method(method: Method, schemas: dict[str, Schema]) -> dict[str, object]:
    operation = OPERATIONS[method.operation]
    arguments = _schema(arguments_of(method.function), method, schemas)
    arguments = schemas.pop(arguments["$ref"].removeprefix(_REF)) if "$ref" in arguments else arguments
    required = arguments.get("required", [])
    properties: dict[str, Schema] = arguments.get("properties", {})
    named = {method.worded(own): name for name, own in method.parameters.items()}
    params = [_parameter(name, schema, required, named) for name, schema in properties.items()]
    return {
        "name": method.name,
        "summary": method.about,
        "paramStructure": "either",
        "params": sorted(params, key=lambda one: not one["required"]),
        "result": {"name": "result", "schema": _schema(result_of(method.function), method, schemas)},
        "x-callers": callers(method),
        "x-verdict": operation.verdict,
        "x-changes": operation.changes,
        "x-progress": method.waits,
    }


def _parameter(name: str, schema: Schema, required: list[str], named: dict[str, str]) -> Schema:
    about = {"description": schema.pop("description")} if "description" in schema else {}
    return {"name": named[name], **about, "required": name in required, "schema": schema}


def _notification(family: str, schemas: dict[str, Schema]) -> dict[str, object]:
    method = METHODS[f"{family}.list.subscribe"]
    params = _schema(CHANGES[family][0], method, schemas)
    return {"name": f"{family}.list.changed", "summary": "Tell one change of the list.", "params": params}


def _progress(schemas: dict[str, Schema]) -> dict[str, object]:
    [params], known = msgspec.json.schema_components([CallProgress], ref_template=_TEMPLATE)
    schemas |= known
    return {"name": PROGRESS, "summary": f"Tell how far a call is that has a {TOKEN}.", "params": params}


def _schema(kind: Any, method: Method, schemas: dict[str, Schema]) -> Schema:
    """Return the schema of a type as methods show it; what it refers to goes into `schemas`."""
    [schema], known = msgspec.json.schema_components([kind], ref_template=_TEMPLATE)
    for stored, (view, _) in SHOWN.items():
        if stored.__name__ in known:
            more = msgspec.json.schema_components([view], ref_template=_TEMPLATE)[1]
            known |= more | {stored.__name__: more[view.__name__]}
    names = {name: _name(name, known, method.worded) for name in known}
    for name in _reached(schema, known):
        schemas[names[name]] = _shown(known[name], method.worded, names)
    shown: Schema = _shown(schema, method.worded, names)
    return shown


def _name(name: str, known: dict[str, Schema], worded: Worded) -> str:
    """Return the name of a component; one whose words differ between the families has a name in each."""
    plain, same = name.removesuffix("View"), {one: one for one in known}
    whole = {name, *_reached(known[name], known)}
    if all(_shown(known[one], worded, same) == _shown(known[one], str, same) for one in whole):
        return plain
    return plain.replace("Task", "Ticket") if "Task" in plain else f"Ticket{plain}"


def _reached(schema: object, known: dict[str, Schema]) -> set[str]:
    """Return the components that a schema refers to, directly or not."""
    found, edge = set[str](), set(_references(schema))
    while edge:
        found |= edge
        edge = {name for one in edge for name in _references(known[one])} - found
    return found


def _references(schema: object) -> list[str]:
    if isinstance(schema, list):
        return [name for one in schema for name in _references(one)]
    if not isinstance(schema, dict):
        return []
    here = [schema["$ref"].removeprefix(_REF)] if isinstance(schema.get("$ref"), str) else []
    return here + [name for one in schema.values() for name in _references(one)]


def _shown(schema: Any, worded: Worded, names: dict[str, str]) -> Any:
    """Return a schema with keys and words as the results have them."""
    if isinstance(schema, list):
        return [_shown(one, worded, names) for one in schema]
    if not isinstance(schema, dict):
        return schema
    shown = {key: _shown(value, worded, names) for key, value in schema.items()}
    if isinstance(reference := shown.get("$ref"), str):
        shown["$ref"] = _REF + names[reference.removeprefix(_REF)]
    if isinstance(properties := shown.get("properties"), dict) and shown.get("type") == "object":
        shown["properties"] = {worded(snake(name)): value for name, value in properties.items()}
        shown["required"] = [worded(snake(name)) for name in shown.get("required", [])]
    for key in ("title", "description"):
        if isinstance(shown.get(key), str):
            shown[key] = worded(shown[key].removesuffix("View"))
    return shown


_TEMPLATE = _REF + "{name}"
