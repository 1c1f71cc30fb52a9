"""The protocol's description of itself: an OpenRPC document, made from the table of methods."""

from collections.abc import Callable
from functools import cache
from typing import Any

from pro0 import __version__
from pro0.model.caller import PEOPLE_AND_AGENTS
from pro0.model.stored import SCHEMA_VERSION
from pro0.ops.context import OPERATIONS
from pro0.ops.signature import arguments_of, result_of, schema_of
from pro0.rpc.method import METHODS, Method
from pro0.rpc.progress import PROGRESS, TOKEN, CallProgress
from pro0.rpc.subscriptions import CHANGES, TOPICS
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
    notifications = [*(_notification(topic, schemas) for topic in TOPICS), _progress(schemas)]
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
    return sorted(str(caller) for caller in method.by or OPERATIONS[method.operation].by if caller in PEOPLE_AND_AGENTS)


def _discover() -> dict[str, object]:
    result = {"name": "document", "schema": {"type": "object"}}
    return {"name": DISCOVER, "summary": "Return this document.", "result": result}


def _method(method: Method, schemas: dict[str, Schema]) -> dict[str, object]:
    operation = OPERATIONS[method.operation]
    arguments = _schema(arguments_of(method.function), method, schemas)
    arguments = schemas.pop(arguments["$ref"].removeprefix(_REF)) if "$ref" in arguments else arguments
    required = arguments.get("required", [])
    properties: dict[str, Schema] = arguments.get("properties", {})
    rpc_names = {method.worded(parameter): name for name, parameter in method.parameters.items()}
    params = [_parameter(name, schema, required, rpc_names) for name, schema in properties.items()]
    return {
        "name": method.name,
        "summary": method.about,
        "paramStructure": "either",
        "params": sorted(params, key=lambda param: not param["required"]),
        "result": {"name": "result", "schema": _schema(result_of(method.function), method, schemas)},
        "x-callers": callers(method),
        "x-verdict": operation.verdict,
        "x-changes": operation.changes,
        "x-progress": method.waits,
    }


def _parameter(name: str, schema: Schema, required: list[str], rpc_names: dict[str, str]) -> Schema:
    about = {"description": schema.pop("description")} if "description" in schema else {}
    return {"name": rpc_names[name], **about, "required": name in required, "schema": schema}


def _notification(topic: str, schemas: dict[str, Schema]) -> dict[str, object]:
    method = METHODS[f"{topic}.subscribe"]
    params = _schema(CHANGES[topic][0], method, schemas)
    return {"name": f"{topic}.changed", "summary": "Report one change of the list.", "params": params}


def _progress(schemas: dict[str, Schema]) -> dict[str, object]:
    params, components = schema_of(CallProgress, _TEMPLATE)
    schemas |= components
    return {"name": PROGRESS, "summary": f"Report the progress of a call that has a {TOKEN}.", "params": params}


def _schema(kind: Any, method: Method, schemas: dict[str, Schema]) -> Schema:
    """Return the schema of a type as methods show it; add the schemas it refers to to `schemas`."""
    schema, components = schema_of(kind, _TEMPLATE)
    for stored, (view, _) in SHOWN.items():
        if stored.__name__ in components:
            view_components = schema_of(view, _TEMPLATE)[1]
            components |= view_components | {stored.__name__: view_components[view.__name__]}
    names = {name: _name(name, components, method.worded) for name in components}
    for name in _reached(schema, components):
        schemas[names[name]] = _shown(components[name], method.worded, names)
    converted: Schema = _shown(schema, method.worded, names)
    return converted


def _name(name: str, components: dict[str, Schema], worded: Worded) -> str:
    """Return the name of a component. One whose words differ between the families has a name in each of them."""
    plain, same = name.removesuffix("View"), {key: key for key in components}
    whole = {name, *_reached(components[name], components)}
    if all(_shown(components[key], worded, same) == _shown(components[key], str, same) for key in whole):
        return plain
    return plain.replace("Task", "Ticket") if "Task" in plain else f"Ticket{plain}"


def _reached(schema: object, components: dict[str, Schema]) -> set[str]:
    """Return the components that a schema refers to, directly or not."""
    reached, edge = set[str](), set(_references(schema))
    while edge:
        reached |= edge
        edge = {name for component in edge for name in _references(components[component])} - reached
    return reached


def _references(schema: object) -> list[str]:
    if isinstance(schema, list):
        return [name for part in schema for name in _references(part)]
    if not isinstance(schema, dict):
        return []
    references = [schema["$ref"].removeprefix(_REF)] if isinstance(schema.get("$ref"), str) else []
    return references + [name for part in schema.values() for name in _references(part)]


def _shown(schema: Any, worded: Worded, names: dict[str, str]) -> Any:
    """Return a schema with its keys and words as they are in the results."""
    if isinstance(schema, list):
        return [_shown(part, worded, names) for part in schema]
    if not isinstance(schema, dict):
        return schema
    converted = {key: _shown(value, worded, names) for key, value in schema.items()}
    if isinstance(reference := converted.get("$ref"), str):
        converted["$ref"] = _REF + names[reference.removeprefix(_REF)]
    if isinstance(properties := converted.get("properties"), dict) and converted.get("type") == "object":
        converted["properties"] = {worded(snake(name)): value for name, value in properties.items()}
        converted["required"] = [worded(snake(name)) for name in converted.get("required", [])]
    for key in ("title", "description"):
        if isinstance(converted.get(key), str):
            converted[key] = worded(converted[key].removesuffix("View"))
    return converted


_TEMPLATE = _REF + "{name}"
