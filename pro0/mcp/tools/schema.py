"""The list of tools of one kind of caller, as `tools/list` gives it: made from the table, and kept beside the code."""

import json

from pro0.mcp.listing import KINDS, MEMBER, ONE_TASK
from pro0.mcp.tools.table import TOOLS
from pro0.mcp.tools.tool import MAIL, Tool
from pro0.ops.signature import arguments_of, flat_schema, result_of
from pro0.rules.words.instructions import instructions

POOL = frozenset({"claim_task", "get_claimable_tasks", "release_task"})


def documents() -> dict[str, str]:
    """Return the text of every list by its kind, one tool a line."""
    return {kind: _text(kind) for kind in KINDS}


def offered(kind: str) -> list[Tool]:
    """Return the tools of one kind of caller; a session for one task gets no tools to take others."""
    caller, not_this = (MEMBER, POOL) if kind == ONE_TASK else (kind, frozenset[str]())
    return [tool for tool in TOOLS.values() if caller in tool.callers and tool.name not in not_this]


def described(tool: Tool) -> dict[str, object]:
    """Return a tool as `tools/list` shows it."""
    return {
        "name": tool.name,
        "description": tool.about,
        "inputSchema": _inputs(tool),
        "outputSchema": _outputs(tool),
        "annotations": {**tool.hints(), "openWorldHint": False},
    }


def _text(kind: str) -> str:
    tools = ",\n".join(json.dumps(described(tool)) for tool in offered(kind))
    return f'{{"instructions": {json.dumps(instructions(kind))},\n"tools": [\n{tools}\n]}}\n'


def _inputs(tool: Tool) -> dict[str, object]:
    schema = flat_schema(arguments_of(tool.function))
    properties = schema.get("properties")
    assert isinstance(properties, dict)
    schema["properties"] = {tool.worded(name): _input(tool, value) for name, value in properties.items()}
    if required := schema.get("required"):
        assert isinstance(required, list)
        schema["required"] = [tool.worded(name) for name in required]
    return schema


def _input(tool: Tool, schema: dict[str, object]) -> dict[str, object]:
    """Return the schema of one argument. It does not say that the argument may be null, which is the default."""
    field_schema = {name: value for name, value in schema.items() if name not in ("anyOf", "default")}
    if choices := schema.get("anyOf"):
        assert isinstance(choices, list)
        field_schema |= next(choice for choice in choices if choice != {"type": "null"})
    if "enum" in field_schema:
        field_schema = {"type": "string", **field_schema}  # some clients want it said
    if about := field_schema.get("description"):
        field_schema["description"] = tool.worded(str(about))
    default = schema.get("default")
    return {**field_schema, "default": default} if default else field_schema


def _outputs(tool: Tool) -> dict[str, object]:
    """Return the schema of a result. It requires nothing, since some clients check an error against it too."""
    schema = flat_schema(result_of(tool.function))
    properties = schema["properties"]
    assert isinstance(properties, dict)
    mail = {MAIL: {"description": "Your unread messages, if you have any.", "type": "string"}}
    return {**{name: value for name, value in schema.items() if name != "required"}, "properties": properties | mail}
