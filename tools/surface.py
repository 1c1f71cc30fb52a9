"""The recorded interface of pro0: what programs may rely on. `make surface` records what was added.

Recorded are commands with their options, settings, tools, methods of JSON-RPC, error codes, exit codes, hooks, and the
keys of JSON output, of stored files and of files that people write. What is recorded does not go without a word in the
changelog; `tests/house/test_surface.py` says what went.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from pro0.cli.call import program
from pro0.config import SETTINGS
from pro0.errors import ErrorCode
from pro0.mcp.listing import KINDS, listing
from pro0.model.home import HookEvent
from pro0.rpc.discovery import document
from pro0.rpc.table import METHODS
from tools import outputs
from tools.exit_codes import exit_codes
from tools.manpages import shown_commands
from tools.schemas import documents

SUFFIX = ".json"
FILE = Path(__file__).parents[1] / "docs" / "surface.json"


def surface() -> dict[str, list[str]]:
    """Return everything that programs may rely on, by its kind."""
    return {
        "commands": sorted(_commands(program, "pro0")),
        "settings": sorted(setting.name for setting in SETTINGS),
        "variables": sorted(setting.rule.variable for setting in SETTINGS if setting.rule.variable),
        "tools": sorted(set(_tools())),
        "methods": sorted(_methods()),
        "error codes": sorted(ErrorCode),
        "exit codes": sorted(code for code, _ in exit_codes()),
        "hooks": sorted(HookEvent),
        "files": sorted(_files()),
        "outputs": sorted(_outputs()),
    }


def _commands(command: click.Command, path: str) -> Iterator[str]:
    """Yield every shown command, and every option and argument of each."""
    yield path
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            yield from (f"{path} {option}" for option in (*parameter.opts, *parameter.secondary_opts))
        elif isinstance(parameter, click.Argument):
            yield f"{path} {parameter.human_readable_name.upper()}"
    if isinstance(command, click.Group):
        for name, below in shown_commands(command, click.Context(command, info_name=path)):
            yield from _commands(below, f"{path} {name}")


def _tools() -> Iterator[str]:
    for kind in KINDS:
        tools: Any = json.loads(listing(kind).tools)
        for tool in tools:
            yield tool["name"]
            yield from (f"{tool['name']} {key}" for key in tool["inputSchema"].get("properties", {}))


def _methods() -> Iterator[str]:
    assert METHODS, "the table, which the document is made of"
    methods: Any = document()["methods"]
    for method in methods:
        yield method["name"]
        yield from (f"{method['name']} {parameter['name']}" for parameter in method.get("params", ()))


def _files() -> Iterator[str]:
    for name, text in documents().items():
        schema = json.loads(text)
        yield from (f"{name.removesuffix(SUFFIX)} {key}" for key in sorted(set(_properties(schema))))


def _outputs() -> Iterator[str]:
    found = outputs.document()
    for command, shape in found["properties"].items():
        yield from (f"{command} {key}" for key in sorted(set(_properties(shape))))
    for name, part in found["$defs"].items():
        yield from (f"{name} {key}" for key in part.get("properties", ()))


def _properties(schema: object) -> Iterator[str]:
    """Yield every key that a schema names, at any depth."""
    if isinstance(schema, Mapping):
        yield from schema.get("properties", {})
        for part in schema.values():
            yield from _properties(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _properties(part)


def recorded() -> dict[str, list[str]]:
    """Return what is recorded."""
    found: dict[str, list[str]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return found


def gone(before: Mapping[str, list[str]], now: Mapping[str, list[str]]) -> list[str]:
    """Return what was recorded and is no longer there."""
    return [f"{kind}: {name}" for kind, names in before.items() for name in names if name not in set(now.get(kind, ()))]


def main() -> None:
    """Record what is new. Whatever is gone stays recorded, so that a test fails."""
    before, now = recorded(), surface()
    both = {kind: sorted({*before.get(kind, ()), *now.get(kind, ())}) for kind in {**before, **now}}
    FILE.write_text(json.dumps(both, indent=1) + "\n", encoding="utf-8")
    print(f"{sum(map(len, both.values()))} names in docs/surface.json; gone: {', '.join(gone(before, now)) or 'none'}")


if __name__ == "__main__":
    main()
