"""The schema of a call, from the signature of its function; every surface for programs reads it here."""

from collections.abc import Callable
from functools import cache
from inspect import Parameter, cleandoc, signature
from typing import Any, get_type_hints

import msgspec


@cache
def arguments_of(function: Callable[..., object]) -> type[msgspec.Struct]:
    """Return the type of a call's arguments, from the parameters after the first."""
    hints = get_type_hints(function, include_extras=True)
    fields = [_field(parameter, hints[name]) for name, parameter in list(signature(function).parameters.items())[1:]]
    return msgspec.defstruct("Arguments", fields, forbid_unknown_fields=True, kw_only=True, frozen=True)


def result_of(function: Callable[..., object]) -> Any:
    """Return the type of a call's result."""
    return get_type_hints(function, include_extras=True)["return"]


def schema_of(kind: Any, reference: str = "#/$defs/{name}") -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the schema of a type, and the schemas it refers to by name; the same on every version of Python."""
    [schema], components = msgspec.json.schema_components([kind], ref_template=reference)
    for component in components.values():
        if "description" in component:  # a docstring, whose indentation Python has removed since 3.13
            component["description"] = cleandoc(component["description"])
    return schema, components


def flat_schema(kind: type) -> dict[str, object]:
    """Return the schema of a type, with everything it refers to inside."""
    schema, components = schema_of(kind)
    name = getattr(kind, "__name__", "")
    if isinstance(schema, dict) and schema.get("$ref") == f"#/$defs/{name}":
        schema = components.pop(name)
        schema.pop("title", None)
    return schema | ({"$defs": components} if components else {})


def _field(parameter: Parameter, kind: object) -> tuple[str, object] | tuple[str, object, object]:
    if parameter.default is Parameter.empty:
        return parameter.name, kind
    return parameter.name, kind, parameter.default
